"""Benchmarks beside peers: python -m benchmarks, or make bench."""
