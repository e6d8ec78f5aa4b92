"""What a model says of a text: perplexity, comparison, surprisal, filtering, generation."""
