"""Measurements: ``python -m benchmarks`` prints one table and writes JSON."""
