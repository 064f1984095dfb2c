"""Puzzles and their exact distances for all tests, which run in isolation; MLflow gets nothing unless a test asks."""

import os
from functools import cache

import pytest
import torch
from hypothesis import settings
from isolation import Guard, clear_environment, enter_view
from known_puzzles import LISTED

from costtogo.exact.bfs import distances
from costtogo.exact.graph import graph_of
from costtogo.puzzles import make

clear_environment()
GUARD = pytest.StashKey[Guard]()
LONG = ("test_default_study", "test_large_studies", "test_solving", "test_report_sampled", "test_docs")
LONG += ("test_publish", "test_figures", "test_resume", "test_one_study", "test_report", "test_asked", "test_torture")
torch.set_num_threads(1)  # small networks: more threads would only wait for each other
settings.register_profile("costtogo", max_examples=25, deadline=None, derandomize=True, database=None)
settings.load_profile("costtogo")


def pytest_collection_modifyitems(items):
    """Run file by file, since each process takes whole files: the slowest first, so that short ones fill the rest."""
    first = {name: place for place, name in enumerate(LONG)}
    files = {path: place for place, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (first.get(item.path.stem, len(LONG)), files[item.path]))


def pytest_sessionstart(session):
    """Collect and run tests in a guarded view of the clone; with pytest-xdist the worker processes do this."""
    options = session.config.option
    if hasattr(session.config, "workerinput") or not getattr(options, "numprocesses", None):
        for name in ("ignore", "ignore_glob"):  # which pytest takes from the current folder
            setattr(options, name, [os.path.abspath(path) for path in getattr(options, name) or []])
        session.config.stash[GUARD] = Guard(enter_view())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    result = yield
    item.config.stash[GUARD].check()
    return result


def pytest_sessionfinish(session):
    if GUARD in session.config.stash:
        session.config.stash[GUARD].watching = False


@pytest.fixture
def guard(request) -> Guard:
    """The guard of the clone."""
    return request.config.stash[GUARD]


@pytest.fixture(scope="session", params=LISTED)
def puzzle(request):
    """Each puzzle of the contracts."""
    return make(request.param)


@pytest.fixture(scope="session")
def distances_of():
    """The exact distances [S] of a puzzle by name, computed once per session."""

    @cache
    def computed(name: str):
        made = make(name)
        return distances(graph_of(made), int(made.rank(made.goal[None])[0]))

    return computed


@pytest.fixture(scope="session")
def distance(puzzle, distances_of):
    """The exact distances [S] of the puzzle."""
    return distances_of(puzzle.name)
