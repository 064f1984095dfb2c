"""The stage that searches from instances, whatever is asked: results/<study>/<group>/<name>.

Each question is a module, so that a stage runs through the solvers that it needs and no others (costtogo.sources).
Those that search from the study's own instance sets say which searches there are and share the rest of the stage
(cells): grids, beams, policy_beams, trees, anytime, two_phase. The others write tables of their own: exhaustive,
optima, external, compared.
All share how files are read (loading) and how searches are run, checked, timed and described (running).
"""
