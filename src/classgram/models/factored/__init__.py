"""A class factor times a word factor, each a log-linear mixture of Kneser-Ney chains."""
