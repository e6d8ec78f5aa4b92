"""The exchange algorithm (sections 2, 3, 4 and appendix A of the paper)."""
