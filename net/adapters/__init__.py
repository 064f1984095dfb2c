"""Everything that the net knows of the project's code, in one place.

slices, reports and smoke are scripts. Each runs in the root of a checkout, with that checkout's src and tests on
PYTHONPATH, and only writes files. Each checkout runs its own scripts, so a commit that changes the code's API changes
its script too. kinds describes the files.
"""
