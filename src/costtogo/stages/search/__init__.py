"""The stage that searches from instances, whatever is asked: results/<study>/<group>/<name>.

Each question is a module, so that a stage runs through the solvers that it needs and no others (costtogo.sources):
exhaustive, grids, beams, optima, external, compared. All share how files are read (loading), and how searches are run,
checked and timed and their rows are told and written (running).
"""
