"""Deliberate faults, counted: python -m torture, or make torture."""
