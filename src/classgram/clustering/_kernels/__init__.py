"""Kernels of the exchange algorithm."""
