"""Builds the library of kernels: Numba translates them once, LLVM optimises them for levels of processors.

Part of the source distribution, not of the wheel. It uses only what Numba and llvmlite offer to everybody.
"""
