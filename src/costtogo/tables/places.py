"""The folders of a project, seen from its root."""

from pathlib import Path

REPORTED = Path("data/reported")  # in its folders a file for each document
MEASURED = Path("data/measured")  # a JSON file and a folder of tables for each study that git keeps
CAPTIONS = Path("workflow/captions.yaml")  # of each kind of figure
RESULTS = Path("results")  # of what a user runs
