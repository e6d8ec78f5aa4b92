"""ARPA files: written, read, checked and repaired."""
