"""The settings of external instances, searched with on the study's own: results/<study>/anytime/<model>/.

A search has so many seconds, so the results depend on the machine, as those of external instances do.
"""

from functools import partial

from costtogo.params.searches import AnytimeParams
from costtogo.search import anytime
from costtogo.search.replayed import warm_up
from costtogo.stages.search.cells import Given, Searches, stage_of
from costtogo.stages.search.external import options_of


def searches(given: Given, asked: AnytimeParams) -> Searches:
    """One for each budget, from the first instances of the set, as many as the budget says."""
    instances, starts = given.sets[asked.set]
    solve = partial(anytime.solve, given.puzzle, given.heuristic, max_nodes=given.max_nodes, nearby=given.nearby)
    for budget in asked.budgets:
        search = partial(solve, **options_of(budget, given.threads))
        warm_up(given.puzzle, partial(search, seconds=0.1))
        first = instances.iloc[: budget.states], starts[: budget.states]
        yield first, {"seconds_allowed": budget.seconds}, partial(search, seconds=budget.seconds)


run = stage_of(AnytimeParams, searches)
