"""Kernels of estimation and of scoring."""
