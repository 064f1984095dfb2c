"""costtogo: learned cost-to-go heuristics for combinatorial puzzles, reproduced and audited."""

import os

# Threads of torch spin for some microseconds while they wait for each other, then sleep, unless the user says
# otherwise: where they spin for long, a training that shares its cores with another program crawls, and where they
# sleep at once, waking up takes twice the time of the work on some machines.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
