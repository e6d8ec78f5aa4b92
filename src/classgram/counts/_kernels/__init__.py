"""Kernels over n-gram levels."""
