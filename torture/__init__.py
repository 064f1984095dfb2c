"""Faults made on purpose, counted: python -m torture, or make torture."""
