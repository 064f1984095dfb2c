"""Comparisons with other libraries: python -m benchmarks, or make bench."""
