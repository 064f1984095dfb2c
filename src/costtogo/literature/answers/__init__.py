"""Our numbers for those of the literature, by subject: functions of the results and a row, each for some quantities.

A number of a checkpoint is compared with our checkpoint of the same convergence point; where our training has not
reached it, with the nearest; where the literature names an iteration alone, with the one at the same share of the
training. On a puzzle whose states are sampled, searches of scrambled states represent the study: those of external
instances where they have been run, else the widest beams. The literature's optimal solvers are compared with the exact
solutions of the study's own scrambled states. What differs from a row's own terms is noted.

Importing this package registers all of them; costtogo.literature.finding asks them.
"""

from costtogo.collecting import collect

collect("costtogo.literature.answers")
