"""Models that predict a class, and then the word in it (section 2)."""
