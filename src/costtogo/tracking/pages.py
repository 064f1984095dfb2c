"""What MLflow's pages show of a study besides its runs, where they show it, and the page of a run."""

import re
from collections.abc import Iterator
from pathlib import Path

from costtogo.cards import KEYED, SHOWN, key_of
from costtogo.files import read_json
from costtogo.params.loading import DEFAULT
from costtogo.tables.kept import cards_kept
from costtogo.tables.places import MEASURED
from costtogo.tracking import addresses, notes, views
from costtogo.tracking.cells import CELL, CELL_OF, SET, fullest_sets
from costtogo.tracking.faults import one_sentence
from costtogo.tracking.place import enabled
from costtogo.tracking.runs import CURRENT, RESULT, log_card
from costtogo.tracking.store import session
from costtogo.types import UserError, excerpt

PREFIX = "costtogo/"  # of the names of experiments
REGISTRY = "All registered networks (close the notice that MLflow shows once)"
KEY = re.compile(rf"[0-9a-f]{{{SHOWN},64}}")


def track(study_results: list[Path], root: Path) -> int:
    """Record every finished stage below the given results folders, and describe the studies; returns how many stages.

    Raises UserError where a folder holds no finished stage or one cannot be recorded.
    """
    from tqdm import tqdm

    if not enabled():
        raise UserError("Tracking is turned off; unset COSTTOGO_TRACKING to record finished stages.")
    cards = [card for folder in study_results for card in _finished(Path(folder))]
    with tqdm(cards, unit="stage") as progress:
        for card_path in progress:
            progress.set_description(f"{card_path.parent.name} {card_path.stem}")
            log_card(card_path, root)
    describe_all(root)
    return len(cards)


def _finished(folder: Path) -> list[Path]:
    """The cards of a study; figures have no run of their own, for they are in the report's."""
    cards = [path for path in sorted(folder.glob("*/*.json")) if path.parent.name != "figures"]
    if not cards:
        raise UserError(f"{folder} holds no finished stage; run the workflow first.")
    return cards


def describe(client, experiment) -> list[views.View]:
    """Give an experiment its saved views and its description; returns the views.  What is there already stays."""
    number, study = experiment.experiment_id, experiment.name.removeprefix(PREFIX)
    found = _views(client, number)
    tags = {notes.NOTE: notes.study_note(study, number, found)}
    for view in found:
        shown = client.search_runs([number], view.runs, max_results=1_000)
        tags |= dict([view.tag({name for run in shown for name in run.data.metrics})])
    for name, value in tags.items():
        if experiment.tags.get(name) != value:
            client.set_experiment_tag(number, name, value)
    return found


def _views(client, number: str) -> list[views.View]:
    """The views of an experiment; of each search by a network the set with most cells, as the others are no grids."""
    cells = client.search_runs([number], f"tags.stage = '{CELL}' and {views.CURRENT}", max_results=5_000)
    pairs = [(search, cell.data.tags.get(SET, "")) for cell in cells if " " not in (search := cell.data.tags[CELL_OF])]
    settings = {cell.data.tags[CELL_OF]: sorted(cell.data.params) for cell in cells}
    of_cells = [views.cells(search, chosen, settings[search]) for search, chosen in sorted(fullest_sets(pairs).items())]
    return [views.losses(), views.networks(), *of_cells]


def describe_all(root: Path) -> None:
    """The same for every study that has a run."""
    with one_sentence("the saved views", root), session(root) as client:
        for experiment in _experiments(client):
            describe(client, experiment)


def _experiments(client) -> list:
    """The experiments of studies, by name."""
    return client.search_experiments(filter_string=f"name LIKE '{PREFIX}%'", order_by=["name ASC"])


def links(root: Path, study: str = DEFAULT) -> Iterator[str]:
    """What to open, line by line: the pictures of one study, and of each other its description.

    study: the one whose pictures are named one by one; where the default one has no run, the first there is.
    Raises UserError where another study has none.
    """
    base = addresses.base(root)
    with one_sentence("the saved views", root), session(root) as client:
        experiments = _experiments(client)
        if not experiments:
            address = base + addresses.page("experiments")
            yield f"There is no run yet: run a study, or `costtogo track`; then open {address}"
            return
        named = [each for each in experiments if each.name == PREFIX + study]
        if not named and study != DEFAULT:
            known = ", ".join(each.name.removeprefix(PREFIX) for each in experiments)
            raise UserError(f"MLflow has no run of the study {excerpt(study)}; it has runs of: {known}")
        named = named or experiments[:1]
        for experiment in experiments:
            own = describe(client, experiment)
            if experiment in named:
                yield from _of_study(client, base, experiment, own)
        others = [each for each in experiments if each not in named]
        if others:
            yield "Loss curves of other studies; make ui STUDY=<name> names the other pictures of one:"
        for each in others:
            address = addresses.view(each.experiment_id, views.LOSSES)
            yield from (f"  {each.name.removeprefix(PREFIX)}", f"    {base}{address}")


def _of_study(client, base: str, experiment, own: list[views.View]) -> Iterator[str]:
    """The lines of one study: two pictures of all its networks, the cells and the page of the best, the registry."""
    number, study = experiment.experiment_id, experiment.name.removeprefix(PREFIX)
    order = ["metrics.optimal_percent DESC", "metrics.nodes_expanded ASC"]
    best = client.search_runs([number], views.HEADLINES, max_results=1, order_by=order)
    name = best[0].data.tags["name"] if best else ""
    of_best = [view for view in own[2:] if f"/{name}'" in view.runs]
    shown = [(view.name, addresses.view(number, view.key)) for view in [*own[:2], *(of_best or own[2:])[:1]]]
    if best and client.search_registered_models(f"name = '{study}.{name}'"):
        shown.append((f"{name}, and how to load it", addresses.page(f"models/{study}.{name}")))
    yield f"Study {study}; other searches are under the button at the top right of its pages:"
    for text, address in [*shown, (REGISTRY, addresses.page("models", searchInput=f"{study}."))]:
        yield from (f"  {text}", f"    {base}{address}")
    yield from ("  The run of a row of its report", "    costtogo track --open KEY")


def open_run(key: str, results: Path, root: Path) -> str:
    """The address of the run that a report names by its key; what is not in MLflow yet is brought there from its files.

    UserError where no finished stage below results has it.
    """
    if not enabled():
        raise UserError("Tracking is turned off; unset COSTTOGO_TRACKING to open the page of a run.")
    if not KEY.fullmatch(key):
        raise UserError(f"'{excerpt(key)}' is no key of a run: it has {SHOWN} of 0-9 and a-f, as a report prints it.")
    if (run := _find(key, root)) is None:
        log_card(_card_of(key, results), root)
        describe_all(root)
        run = _find(key, root)
    return addresses.base(root) + addresses.page(f"experiments/{run.info.experiment_id}/runs/{run.info.run_id}")


def _find(key: str, root: Path):
    """The run with a key, of several the current one; None where there is none."""
    with one_sentence(f"the run {key}", root), session(root) as client:
        numbers = [each.experiment_id for each in _experiments(client)]
        found = client.search_runs(numbers, f"tags.key LIKE '{key}%' and tags.logged LIKE '%'") if numbers else []
        return min(found, key=lambda run: run.data.tags.get(RESULT) != CURRENT, default=None)


def _card_of(key: str, results: Path) -> Path:
    """The card of the finished stage that has a key; UserError, which tells what it was if that is kept in git."""
    for path in sorted(results.glob("*/*/*.json")):
        card = read_json(path) if path.parent.name not in ("timings", "done") else {}
        if KEYED <= card.keys() and key_of(card).startswith(key):
            return path
    for kept in sorted(MEASURED.glob("*.json")):
        for place, card in cards_kept(kept).items():
            if KEYED <= card.keys() and key_of(card).startswith(key):
                commit = card.get("timing", {}).get("commit", "")
                raise UserError(
                    f"{key} is {place} of the study {kept.stem}, kept from commit {commit[:SHOWN] or 'unknown'}, and "
                    f"{results} does not have it: check that commit out and run `snakemake --cores all {kept.stem}`."
                )
    raise UserError(f"No finished stage in {results} or {MEASURED} has the key {key}: is the report of this project?")
