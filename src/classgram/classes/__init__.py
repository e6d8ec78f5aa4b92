"""The classes G1 and G2 as data."""
