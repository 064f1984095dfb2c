"""Where the numbers come from: versions, digests, and what longer studies kept."""

from collections.abc import Iterator

from costtogo.analysis import numbers
from costtogo.cards import made_by
from costtogo.files import flatten
from costtogo.report.markdown import code, key
from costtogo.report.pages import ROOT
from costtogo.report.render import render
from costtogo.tables.kept import MEASURED, file_of, tables_kept, whose
from costtogo.tables.provenance import adoptions
from costtogo.tables.results import TIMES, StudyResults

DIGEST_LENGTH = 16  # characters of a digest that the report shows; tables/provenance.csv has all of them
COMMIT_LENGTH = 12
DATA = ("tables", "pattern_databases", "instances", "optima")
SHOWN = ("searches", "audits")  # of what was kept


def provenance_text(results: StudyResults, short: bool) -> str:
    """Versions, seeds, digests of the data and of the networks that are searched with; what made each stage.

    short: the rows of the stages are published.  Empty where no stage has run.
    """
    cards = list(results.cards.values())
    names = {name for card in cards for name in card["versions"]}
    versions = {name: {card["versions"][name] for card in cards if name in card["versions"]} for name in names}
    seeds = [
        [f"{card['stage']} `{card['name']}`", name, numbers.short(value)]
        for card in cards
        for name, value in flatten(card["parameters"]).items()
        if name.split(".")[-1] == "seed"
    ]
    data = [
        [code(path), code(digest[:DIGEST_LENGTH])]
        for card in cards
        if card["group"] in DATA
        for path, digest in sorted(card["outputs"].items())
    ]
    values = {"versions": versions, "stages": len(cards), "adopted": sum(bool(adoptions(card)) for card in cards)}
    checkpoints = [_checkpoint(results, model) for model in results.trained]
    values |= {"seeds": seeds, "data": data, "checkpoints": checkpoints, "study": results.study}
    made = list(_stages(results, short))
    return render("provenance", **values, made=made, short=short) if made else ""


def _stages(results: StudyResults, short: bool) -> Iterator[list[str]]:
    """Each stage, the published file of its rows or of its card, its run in MLflow and its command."""
    study, named = results.study, results.references.measured / f"{results.study}.json"
    tables = [address for address in tables_kept(named) if not address.startswith(TIMES)] if short else []
    with_rows = {whose(address)[0] for address in tables}
    for place in results.stages:
        file = MEASURED / study / file_of(f"{place}/") if place in with_rows else MEASURED / f"{study}.json"
        link = [f"[{file.name}]({ROOT}/{file.as_posix()})"] if short else []
        yield [code(place), *link, key(results.run(place)), code(made_by(study, place))]


def _checkpoint(results: StudyResults, model: str) -> list[str]:
    """A model, and the file and the digest of the network that its searches use."""
    checkpoints = results.frame(f"models/{model}/checkpoints").set_index("iteration")
    chosen = checkpoints.loc[results.searched_iteration(model)]
    return [code(model), code(chosen["file"]), code(chosen["sha256"][:DIGEST_LENGTH])]


def kept_text(kept: list[StudyResults]) -> str:
    """A table for each study kept by `costtogo publish`; empty where none was."""
    return render("kept", kept={each.study: _measured(each) for each in kept}) if kept else ""


def _measured(kept: StudyResults) -> list[list[str]]:
    """The measures of the audits and searches that were kept, without those of trainings with several seeds."""
    repeated = {model for model, name in kept.trainings.items() if name.seed}
    return [
        [code(place), name, numbers.short(value), _commit(stage["timing"].get("commit", ""))]
        for place, stage in sorted(kept.cards.items())
        if place.split("/")[0] in SHOWN and place.split("/")[1] not in repeated
        for name, value in sorted(stage["metrics"].items())
    ]


def _commit(found: str) -> str:
    """The first characters of a commit, with + where there were uncommitted changes; a dash where none was noted."""
    return found[:COMMIT_LENGTH] + "+" * found.endswith("+") if found else "–"
