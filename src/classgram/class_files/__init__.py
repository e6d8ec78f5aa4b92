"""Class files of every format, and what is done with them."""
