"""The commands as library calls: from a text, or its counts, to saved counts, classes and models."""
