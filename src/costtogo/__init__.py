"""costtogo: learned cost-to-go heuristics for combinatorial puzzles, reproduced and audited."""

__version__ = "0.1.0"
