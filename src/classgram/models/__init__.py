"""Language models: over words, over classes, and mixtures of them."""
