"""The commands that people run, one a module. What the workflow runs is in costtogo.stages."""
