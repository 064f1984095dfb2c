"""Puzzles and their exact distances, shared by all tests; nothing reaches MLflow unless a test asks for it."""

import os
import tempfile
from functools import cache

import pytest
import torch
from hypothesis import settings
from known_puzzles import LISTED

from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of
from costtogo.puzzles import make

os.environ.setdefault("COSTTOGO_TRACKING", "off")
CACHE = tempfile.TemporaryDirectory(prefix="costtogo-cache-")  # no test reads what another run has left
os.environ["COSTTOGO_CACHE"] = CACHE.name
torch.set_num_threads(1)  # small networks: more threads would only wait for each other
settings.register_profile("costtogo", max_examples=25, deadline=None, derandomize=True)
settings.load_profile("costtogo")


def pytest_collection_modifyitems(items):
    """Begin with the workflow: its two files of minutes run side by side, and the many short ones fill the rest."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)


@pytest.fixture(scope="session", params=LISTED)
def puzzle(request):
    """Each puzzle that the contracts run for."""
    return make(request.param)


@pytest.fixture(scope="session")
def distances_of():
    """The exact distances [S] of a puzzle by its name, computed once a session."""

    @cache
    def computed(name: str):
        made = make(name)
        return distances(graph_of(made), int(made.rank(made.goal[None])[0]))

    return computed


@pytest.fixture(scope="session")
def distance(puzzle, distances_of):
    """The exact distances [S] of the puzzle."""
    return distances_of(puzzle.name)
