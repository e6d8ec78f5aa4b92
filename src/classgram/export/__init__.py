"""Models in the forms that decoders load."""
