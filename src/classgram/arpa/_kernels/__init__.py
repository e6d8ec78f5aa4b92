"""Kernels over lines of ARPA files."""
