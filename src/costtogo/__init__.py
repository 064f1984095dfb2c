"""costtogo: learned cost-to-go heuristics for combinatorial puzzles, reproduced and audited."""

import os

# Waiting threads of torch spin for some microseconds, then sleep, unless the user sets another policy. With long
# spinning, a training that shares its cores with another program becomes very slow; with no spinning, waking up takes
# twice as long as the work on some machines.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
