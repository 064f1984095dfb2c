"""Names of runs: those of one stage that differ say in what, and a former result says that it is one."""

from costtogo.tracking.place import EXPERIMENT
from costtogo.tracking.record import Card

MOST = 3  # parameters that a name tells
LONGEST = 24  # letters of a parameter's value in a name


def stage_name(card: Card) -> str:
    """What the run of a stage is called where there is no other of it."""
    return f"{card['stage']} {card['name']}" + (f" ({card[EXPERIMENT]})" if EXPERIMENT in card else "")


def run_names(card: Card, runs: list, former: set[str]) -> dict[str, str]:
    """The names by id of all runs of a stage: train net · epsilon=0.2 · former."""
    parameters = [run.data.params for run in runs]
    keys = sorted({key for given in parameters for key in given})
    differing = [key for key in keys if len({given.get(key) for given in parameters}) > 1]
    shown = [key for key in differing if all(len(given.get(key, "")) <= LONGEST for given in parameters)][:MOST]
    names = {}
    for run in runs:
        told = ", ".join(f"{key}={run.data.params.get(key, 'none')}" for key in shown)
        is_former = "former" if run.info.run_id in former else ""
        names[run.info.run_id] = " · ".join(filter(None, [stage_name(card), told, is_former]))
    return names
