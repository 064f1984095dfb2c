"""Figures: one function each, data frame in, matplotlib Figure out; `catalogue` lists what a study draws."""
