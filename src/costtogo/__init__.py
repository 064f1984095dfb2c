"""costtogo: learned cost-to-go heuristics for combinatorial puzzles, reproduced and audited."""

import os

__version__ = "0.1.0"

# Threads of torch sleep while they wait for each other, unless the user says otherwise: where they spin, a training
# that shares its cores with another program crawls, and alone it gains nothing.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
