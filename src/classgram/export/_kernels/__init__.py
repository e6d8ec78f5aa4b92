"""Kernels that step models in many contexts at once."""
