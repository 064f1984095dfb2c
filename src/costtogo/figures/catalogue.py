"""The one catalogue of figures: what each kind shows, of which puzzles and models, and which files it reads.

A kind is a function marked with costtogo.figures.style.figure, which bears its name and is given what the files hold,
and a caption, workflow/captions/<kind>.rst. Importing this module and asking it loads no matplotlib and no pandas, so
that a workflow can ask while it is being parsed; costtogo.figures.drawing reads and draws.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from costtogo.analysis.documents import REPORTED, documents
from costtogo.puzzles import family, noun

MEASURED = Path("data/measured")  # what other studies kept
KINDS = ("png", "svg")  # each figure is drawn as both
Paths = dict[str, str | dict[str, str]]  # by argument a path, or several by name


@dataclass(frozen=True)
class FigureEntry:
    """One figure of a study, which can be written as JSON.

    name: the stem of its files.  label: what it shows, in a few words.  kind: its function and its caption.
    part: what it is drawn together with: figures of the same model, else of the same puzzle, else of another study.
    reads: files below the study's results by the argument of the function that gets what they hold.
    files: likewise, files that no stage of the study makes.  options: further arguments.
    optional: whether it is drawn only once there are results for it, for which nothing waits.
    """

    name: str
    label: str
    kind: str
    part: str
    puzzle: str
    model: str | None = None
    reads: Paths = field(default_factory=dict)
    files: Paths = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    optional: bool = False

    @property
    def inputs(self) -> list[str]:
        """The paths that it reads below the study's results."""
        return paths_of(self.reads)

    @property
    def needs(self) -> list[str]:
        """The stages that it reads from: tables/cube2, audits/DNN_0."""
        return list(dict.fromkeys(map(_stage_of, self.inputs)))

    @property
    def timed(self) -> bool:
        """Whether it shows wall-clock time."""
        return any(path.startswith("timings/") for path in self.inputs)

    @property
    def stem(self) -> str:
        """The path of its files below the study's reports, without suffix: what shows wall-clock time lies apart."""
        return f"{'timings' if self.timed else 'figures'}/{self.name}"

    def file(self, kind: str) -> str:
        """The path of its file of a kind below the study's reports: PNGs are in git, SVGs lie apart in svg/."""
        return f"{'svg/' if kind == 'svg' else ''}{self.stem}.{kind}"


def paths_of(reads: Paths) -> list[str]:
    """All paths of reads.  {"table": "a", "curves": {"one": "b", "other": "c"}} -> ["a", "b", "c"]."""
    return [path for paths in reads.values() for path in ([paths] if isinstance(paths, str) else paths.values())]


def _stage_of(path: str) -> str:
    """The stage that writes a file.  "timings/searches/net.parquet", "searches/net/grid.parquet" -> "searches/net"."""
    group, name, *below = path.removeprefix("timings/").split("/")
    return f"{group}/{name if below else name.rpartition('.')[0]}"


@dataclass(frozen=True)
class Subject:
    """What a figure is about: a puzzle of a study and, where it is about one model, that model."""

    study: Any
    puzzle: str
    model: str | None = None

    @property
    def asked(self) -> Any:
        """The parameters of the puzzle."""
        return self.study.puzzles[self.puzzle] if hasattr(self.study, "puzzles") else self.study

    @property
    def models(self) -> dict[str, Any]:
        """The models of the puzzle."""
        found = getattr(self.study, "models", {})
        return {name: model for name, model in found.items() if model.puzzle == self.puzzle}

    @property
    def training(self) -> Any:
        """The parameters of the model."""
        return self.models[self.model]

    def beams(self, prefixes: bool) -> list[str]:
        """The sets that beams start from: those of the states along a shortest path, or the others."""
        sets = {beams.set: self.asked.instances[beams.set] for beams in self.asked.beams}
        return [name for name, kind in sets.items() if (kind.kind == "prefixes" and kind.shortest) == prefixes]

    def paths(self, template: str) -> str | dict[str, str]:
        """The path that a template of Kind.reads stands for, or the paths by name."""
        (place, *_) = re.findall(r"{(\w+)}", template)
        if place in ("puzzle", "model"):
            return template.format(puzzle=self.puzzle, model=self.model)
        names = {name: name for name in (self.study.lineage(self.model) if place == "lineage" else self.models)}
        if place == "heuristics":
            names = {name: f"searches/{name}" for name in names}
            names |= {name: f"baselines/{name}" for name in self.asked.baselines}
        return {name: template.format(**{place: value}) for name, value in names.items()}


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    name: of its function and its caption.  label: what it shows, in a few words; {set} is one of `sets`, {noun} what is
    solved.
    reads: as of an entry.  {puzzle} and {model} in a path stand for the subject's; {models} for each model of the
    puzzle, {lineage} for each training that led to the model, {heuristics} for the searches over each network and over
    each baseline, which makes paths by name.
    where: whether a subject has it.  options, files: of a subject, as of an entry.
    sets: sets of instances that have a figure each, whose option is `chosen`; None: one figure of all.
    optional: as of an entry.  file: the stem of its files.
    """

    name: str
    label: str
    reads: dict[str, str]
    where: Callable[[Subject], Any]
    options: Callable[[Subject], dict[str, Any]] = lambda subject: {}
    files: Callable[[Subject], Paths] = lambda subject: {}
    sets: Callable[[Subject], Iterable[str]] | None = None
    optional: bool = False
    file: str = "{kind}_{subject}"

    def entries(self, subject: Subject) -> Iterator[FigureEntry]:
        """Its figures on a subject."""
        if not self.where(subject):
            return
        name = subject.model or subject.puzzle
        stem, reads = self.file.format(kind=self.name, subject=name), self.reads.items()
        for place, chosen in enumerate(dict.fromkeys(self.sets(subject)) if self.sets else [None]):
            yield FigureEntry(
                name=f"{stem}_{chosen}" if place else stem,
                label=f"{name}: {self.label.format(set=chosen, noun=noun(subject.puzzle))}",
                kind=self.name,
                part=name,
                puzzle=subject.puzzle,
                model=subject.model,
                reads={argument: subject.paths(template) for argument, template in reads},
                files=self.files(subject),
                options=self.options(subject) | ({"chosen": chosen} if self.sets else {}),
                optional=self.optional,
            )


def listed(subject: Subject) -> bool:
    """Whether there are networks on a puzzle of which all states are listed."""
    return bool(subject.models) and hasattr(subject.asked, "distributions")


def sampled(subject: Subject) -> bool:
    """Whether there are networks on a puzzle that has too many states to list."""
    return bool(subject.models) and not hasattr(subject.asked, "distributions")


def tower(subject: Subject) -> bool:
    """Whether there are networks on one of the Towers of Hanoi."""
    return listed(subject) and family(subject.puzzle) == "hanoi"


def looked_at(subject: Subject) -> bool:
    """Whether checkpoints are kept every so many iterations, in place of convergence points."""
    return listed(subject) and subject.training.checkpoint_iterations is not None


def compared(subject: Subject) -> bool:
    """Whether networks search beside baselines."""
    return sampled(subject) and bool(subject.asked.baselines)


def solved_locally(subject: Subject) -> bool:
    """Whether the puzzle is solved by local value iteration."""
    return hasattr(subject.study, "sizes")


def _puzzle(subject: Subject) -> dict[str, Any]:
    return {"puzzle": subject.puzzle}


def _grid_sets(subject: Subject) -> list[str]:
    return [search.set for search in subject.asked.searches]


def _drawn_states(subject: Subject) -> dict[str, Any]:
    shown = [name for name, kind in subject.asked.instances.items() if kind.kind != "mirrored"]
    return {"puzzle": subject.puzzle, "sets": shown[:2]}


def _literature(subject: Subject) -> Paths:
    return {"literature": {str(path): str(path) for path in documents(subject.puzzle)}}


TABLE, SPREAD = "tables/{puzzle}.npz", "instances/{puzzle}/distributions.parquet"
SELECTION, BY_DISTANCE = "searches/{model}/selection.parquet", "audits/{model}/by_distance.parquet"
GRID, CLOCK = "searches/{model}/grid.parquet", "timings/searches/{model}.parquet"
ALL_SELECTIONS, ALL_GRIDS = "searches/{models}/selection.parquet", "searches/{models}/grid.parquet"
BASELINE, VALUES = "searches/baseline_{puzzle}/grid.parquet", "audits/{model}/values.npz"
CURVE, GREEDY = "models/{model}/curve.parquet", "audits/{model}/greedy.parquet"
COMPARED, BOARDS = {"grids": "{heuristics}/grid.parquet"}, "local_vi/{puzzle}/boards.parquet"
CLASSES, LOCAL_DOCUMENT = "local_vi/{puzzle}/classes.parquet", str(REPORTED / "local_value_iteration.csv")

OF_PUZZLES = (
    Kind("states", "the goal and a state farthest from it", {"table": TABLE}, listed, _puzzle),
    Kind("distances", "states per distance", {"table": TABLE, "instances": "instances/{puzzle}.parquet"}, listed),
    Kind("last_points", "the last convergence points", {"curves": "models/{models}/curve.parquet"}, listed,
         lambda of: {"epsilons": {name: model.epsilon for name, model in of.models.items()}}),
    Kind("error_at_point", "error by distance at the same convergence point",
         {"errors": "models/{models}/errors.parquet"}, listed),
    Kind("error_by_distance", "error by distance",
         {"errors": "audits/{models}/by_distance.parquet", "selections": ALL_SELECTIONS}, listed),
    Kind("audit", "admissible and consistent states",
         {"measures": "audits/{models}/measures.parquet", "selections": ALL_SELECTIONS}, listed),
    Kind("optimal_by_distance", "optimal solutions by distance",
         {"shares": "searches/{models}/by_distance.parquet", "cards": "searches/{models}.json"}, listed),
    Kind("from_start", "nodes expanded from the start", {"table": TABLE, "grids": ALL_GRIDS, "baseline": BASELINE},
         tower),
    Kind("sampler_distances", "distances of the states drawn, by K", {"spread": SPREAD},
         lambda of: listed(of) and of.asked.distributions.walk_max),
    Kind("sampler_difference", "deepcubea and deepcube compared", {"spread": SPREAD},
         lambda of: listed(of) and of.asked.distributions.walk_max),
    Kind("effective_k", "distances of the states drawn, by effective K", {"spread": SPREAD},
         lambda of: listed(of) and of.asked.distributions.effective_k),
    Kind("large_states", "example {noun}s", {"instances": "instances/{puzzle}.parquet"}, sampled, _drawn_states),
    Kind("local_vi_policy", "what the policy does with each tile", {"policy": "local_vi/{puzzle}/policy.parquet"},
         solved_locally, _puzzle, file="policy"),
    Kind("local_vi_lengths_by_size", "lengths by initial size", {"classes": CLASSES, "boards": BOARDS}, solved_locally,
         files=lambda of: {"reported": LOCAL_DOCUMENT}, file="lengths_by_size"),
    Kind("local_vi_lengths_by_class", "random boards by class", {"classes": CLASSES, "boards": BOARDS}, solved_locally,
         files=lambda of: {"reported": LOCAL_DOCUMENT}, file="lengths_by_class"),
    Kind("local_vi_compared", "every board by every solver",
         {"searches": "compared/{puzzle}.parquet", "clock": "timings/compared/{puzzle}.parquet"},
         lambda of: solved_locally(of) and of.study.compared, file="compared"),
)  # fmt: skip

OF_MODELS = (
    Kind("training", "loss", {"curve": CURVE}, listed,
         lambda of: {"epsilon": of.training.epsilon, "sampler": of.training.sampler.kind}),
    Kind("error_by_checkpoint", "error by distance of each audited checkpoint", {"errors": BY_DISTANCE}, listed),
    Kind("learning_curve", "error as training goes on", {"errors": "models/{model}/errors.parquet"}, listed),
    Kind("mean_costs", "loss and mean cost-to-go as training goes on",
         {"looks": "models/{model}/checkpoints.parquet", "measures": "audits/{model}/measures.parquet", "table": TABLE},
         looked_at),
    Kind("optimal_by_iteration", "optimal solutions as training goes on",
         {"shares": "searches/{model}/checkpoints_by_distance.parquet"}, looked_at),
    Kind("walk_costs", "cost-to-go by the length of walks", {"table": TABLE, "values": VALUES, "selection": SELECTION},
         looked_at, lambda of: {"puzzle": of.puzzle, "walk_max": of.training.sampler.walk_max}),
    Kind("grid", "optimal solutions and nodes by λ and N", {"network": GRID, "baseline": BASELINE}, listed),
    Kind("seconds", "seconds by λ and N", {"clock": CLOCK}, listed),
    Kind("way", "the way found from start to goal",
         {"table": TABLE, "values": VALUES, "selection": SELECTION, "searches": "searches/{model}/searches.parquet"},
         tower, lambda of: {"model": of.model}),
    Kind("loss_curve", "loss", {"curve": CURVE, "card": "models/{model}.json"}, sampled),
    Kind("training_costs", "what the training cost",
         {"cards": "models/{lineage}.json", "clocks": "timings/models/{lineage}.json"}, sampled,
         lambda of: {"puzzle": of.puzzle, "name": f"{of.study.study}, {of.model}"}, _literature),
    Kind("nearby_audit", "cost-to-go near the goal", {"nearby": "audits/{model}/nearby.parquet"}, sampled),
    Kind("known_audit", "cost-to-go where optima are known", {"known": "audits/{model}/known.parquet"},
         lambda of: sampled(of) and of.asked.optima),
    Kind("scrambled_costs", "cost-to-go by scramble", {"costs": "audits/{model}/scrambled.parquet"}, sampled),
    Kind("greedy_shares", "greedy search as training goes on", {"greedy": GREEDY}, sampled),
    Kind("large_mean_costs", "cost-to-go as training goes on", {"greedy": GREEDY}, sampled),
    Kind("progress", "solutions as training goes on",
         {"searches": "audits/{model}/progress.parquet", "card": "models/{model}.json"},
         lambda of: sampled(of) and of.asked.audit.progress),
    Kind("grid_heat_maps", "BWAS on {set} by λ and N", {"grid": GRID}, sampled, sets=_grid_sets),
    Kind("grid_seconds", "seconds of BWAS on {set} by λ and N", {"grid": GRID, "clock": CLOCK}, sampled,
         sets=_grid_sets),
    Kind("beam_lengths", "length by beam width", {"grid": "beams/{model}/grid.parquet"},
         lambda of: sampled(of) and of.asked.beams, lambda of: {"sets": of.beams(prefixes=False)}),
    Kind("beam_seconds", "seconds and length by beam width",
         {"searches": "beams/{model}/searches.parquet", "clock": "timings/beams/{model}.parquet"},
         lambda of: sampled(of) and of.asked.beams, lambda of: {"sets": of.beams(prefixes=False)}),
    Kind("prefix_lengths", "lengths found on {set}", {"searches": "beams/{model}/searches.parquet"}, sampled,
         sets=lambda of: of.beams(prefixes=True)),
    Kind("external_excess", "external {noun}s beside their optima", {"searches": "external/{model}/searches.parquet"},
         lambda of: sampled(of) and of.asked.external, _puzzle, optional=True),
)  # fmt: skip

OF_HEURISTICS = (
    Kind("heuristics_compared", "networks beside pattern databases", COMPARED, compared,
         lambda of: {"chosen": _grid_sets(of)[0]}),
    Kind("heuristics_seconds", "seconds of networks beside pattern databases",
         COMPARED | {"clocks": "timings/{heuristics}.parquet"}, compared, lambda of: {"chosen": _grid_sets(of)[0]}),
)  # fmt: skip


OVER_STATES = ("variant_errors", "variant_costs")  # kinds that show the mean over all states


def catalogue(study: Any, measured: Path = MEASURED) -> list[FigureEntry]:
    """All figures of a study, by puzzle and then by model, in the order of its parameters.

    measured: the folder of what other studies kept; shown is what they kept of trainings on a puzzle of this study.
    """
    entries: list[FigureEntry] = []
    for puzzle in getattr(study, "puzzles", None) or [study.puzzle]:
        whole = Subject(study, puzzle)
        models = [Subject(study, puzzle, model) for model in whole.models]
        for kinds, subjects in ((OF_PUZZLES, [whole]), (OF_MODELS, models), (OF_HEURISTICS, [whole])):
            entries += [entry for subject in subjects for kind in kinds for entry in kind.entries(subject)]
        if listed(whole):
            entries += _kept_figures(puzzle, study.study, measured)
    return entries + list(_variant_figures(getattr(study, "puzzles", ()), measured))


def drawn(entries: Iterable[FigureEntry], card: Callable[[str, str], dict[str, Any]]) -> list[FigureEntry]:
    """The figures whose stages have all run; card: what a stage noted of itself, by group and name, empty where not.

    Of external instances only what was solved with the network that the model has now.
    """

    def there(entry: FigureEntry) -> bool:
        needs = [need.split("/", 1) for need in entry.needs]
        return all(card(*need) for need in needs) and not (entry.optional and outdated(entry.model, card))

    return [entry for entry in entries if there(entry)]


def outdated(model: str, card: Callable[[str, str], dict[str, Any]]) -> bool:
    """Whether external instances were solved with another network than the model has now; card: as in drawn."""
    name = f"{model}/checkpoints.parquet"
    solved_with, now = (
        {digest for path, digest in files.items() if path.endswith(f"models/{name}")}
        for files in (card("external", model)["inputs"], card("models", model)["outputs"])
    )
    return not solved_with <= now


def parts(entries: Iterable[FigureEntry]) -> dict[str, list[FigureEntry]]:
    """The figures by the part that they are drawn with."""
    found: dict[str, list[FigureEntry]] = {}
    for entry in entries:
        found.setdefault(entry.part, []).append(entry)
    return found


def kept_of(puzzles: Iterable[str], measured: Path = MEASURED) -> list[Path]:
    """The files of the studies that have kept results of any of these puzzles: data/measured/<study>.json."""
    return [card for card in sorted(measured.glob("*.json")) if kept_puzzles(_cards(card)) & {*puzzles}]


def kept_puzzles(cards: dict[str, Any]) -> set[str]:
    """The puzzles that the cards of a kept study tell of."""
    parameters = [card.get("parameters", {}) for card in cards.values()]
    return {puzzle for part in parameters if (puzzle := part.get("puzzle", part.get("training", {}).get("puzzle")))}


def mean_distance_at_looks(cards: dict[str, Any], puzzle: str) -> float | None:
    """The mean distance of a puzzle where its trainings were looked at every so many iterations, None where not."""
    trainings = [card["parameters"]["training"] for place, card in cards.items() if place.startswith("models/")]
    looked = any(each["puzzle"] == puzzle and each.get("checkpoint_iterations") for each in trainings)
    return cards[f"tables/{puzzle}"]["metrics"]["mean_distance"] if looked else None


def _cards(kept: Path) -> dict[str, Any]:
    """The cards of a study that has kept its results."""
    return json.loads(kept.read_text(encoding="utf-8"))


def _kept_figures(puzzle: str, own: str, measured: Path) -> Iterator[FigureEntry]:
    """The losses of the trainings on a puzzle that studies other than the own one have kept."""
    for card in sorted(path for path in measured.glob("*.json") if path.stem != own):
        for place, stage in sorted(_cards(card).items()):
            curve = card.with_suffix("") / f"{place.replace('/', '_')}_curve.csv"
            if curve.exists() and stage["parameters"]["training"]["puzzle"] == puzzle:
                model = place.removeprefix("models/")
                label = f"loss of the study {card.stem}'s {model}"
                options = {"epsilon": stage["parameters"]["training"]["epsilon"]}
                yield _of_other(card, "kept_training", label, puzzle, model, {"curve": str(curve)}, options)


def _variant_figures(puzzles: Iterable[str], measured: Path) -> Iterator[FigureEntry]:
    """The figures of the trainings that a study repeated with several seeds, once it has kept them."""
    for card in [path for path in kept_of(puzzles, measured) if (path.with_suffix("") / "variants.csv").exists()]:
        cards, files = _cards(card), {"frame": str(card.with_suffix("") / "variants.csv")}
        stages = [stage for place, stage in cards.items() if re.match(r"searches/.*_seed\d+$", place)]
        for puzzle in sorted({stage["parameters"]["puzzle"] for stage in stages}):
            kinds = {"variants": "seeds of each variant"}
            if (mean := mean_distance_at_looks(cards, puzzle)) is not None:
                kinds |= {"variant_errors": "error as training goes on", "variant_losses": "loss as training goes on"}
                kinds |= {"variant_costs": "mean cost-to-go as training goes on"}
            elif family(puzzle) != "hanoi":
                kinds |= {"measures_by_point": "measures by convergence point", "predictors": "what predicts searches"}
            for kind, label in kinds.items():
                options = {"puzzle": puzzle} | ({"mean_distance": mean} if kind in OVER_STATES else {})
                yield _of_other(card, kind, label, puzzle, puzzle, files, options)


def _of_other(
    card: Path, kind: str, label: str, puzzle: str, about: str, files: Paths, options: dict[str, Any]
) -> FigureEntry:
    """A figure of what another study kept."""
    name = f"{card.stem}_{about}"
    return FigureEntry(f"{kind}_{name}", f"{name}: {label}", kind, card.stem, puzzle, files=files, options=options)
