"""Text to word ids (section 5 of the paper: the data)."""
