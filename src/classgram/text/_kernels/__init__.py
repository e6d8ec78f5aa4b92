"""Kernels over bytes of text."""
