"""The one catalogue of figures: what each kind shows, which puzzles and models have it, and which results it reads.

A kind has a function, marked with costtogo.figures.style.kind_of_figure or kinds_of_figure, which gets these results,
and a caption in workflow/captions.yaml. Importing this module and asking it loads no matplotlib and no
pandas, so that a workflow can ask while it is being parsed; costtogo.figures.drawing reads and draws.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from costtogo.files import read_text, write_text
from costtogo.literature.documents import LOCAL_VI, documents
from costtogo.params.base import TrainingName
from costtogo.puzzles import family, noun
from costtogo.tables.kept import (
    CAPTIONS,
    MEASURED,
    REPORTED,
    cards_kept,
    file_of,
    kept_of,
    mean_distance_at_looks,
    name_of,
    outdated,
    tables_kept,
    whose,
)

if TYPE_CHECKING:
    from costtogo.params.study import PuzzleStudy, Study
    from costtogo.params.training import ModelParams

KINDS = ("png", "svg")  # each figure is drawn as both
Addresses = dict[str, str | list[str]]  # by argument one (costtogo.tables.results), or several


@dataclass(frozen=True, eq=False)
class FigureEntry:
    """One figure of a study, which can be written as JSON.

    name: the stem of its files.  label: what it shows, in a few words.  kind: its function and its caption.
    study: another study, if the figure shows what that study kept.
    tables, cards: addresses of results, by the argument of the function that gets what they hold.
    documents: files of data/reported, whose rows the argument `reported` gets.
    options: further arguments.
    optional: whether it is drawn only if its results exist; no stage waits for them.
    """

    name: str
    label: str
    kind: str
    puzzle: str
    model: str | None = None
    study: str | None = None
    tables: Addresses = field(default_factory=dict)
    cards: Addresses = field(default_factory=dict)
    documents: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    optional: bool = False

    @property
    def part(self) -> str:
        """The figures that it is drawn together with: those of the other study, the same model or the same puzzle."""
        return self.study or self.model or self.puzzle

    @property
    def own_tables(self) -> list[str]:
        """The addresses of the study's own tables that it shows."""
        return [] if self.study else listed(self.tables)

    @property
    def files(self) -> list[str]:
        """The files that it reads but no stage of the study writes."""
        kept = [str(MEASURED / self.study / file_of(address)) for address in listed(self.tables)] if self.study else []
        return [*kept, *self.documents]

    @property
    def needs(self) -> list[str]:
        """The stages that it reads from: tables/cube2, audits/DNN_0."""
        return list(dict.fromkeys(whose(address)[0] for address in [*self.own_tables, *listed(self.cards)]))

    @property
    def timed(self) -> bool:
        """Whether it shows wall-clock time."""
        return any(address.startswith("timings/") for address in listed(self.tables | self.cards))

    @property
    def stem(self) -> str:
        """The path of its files below the study's reports, without suffix; figures of wall-clock times lie apart."""
        return f"{'timings' if self.timed else 'figures'}/{self.name}"

    def file(self, kind: str) -> str:
        """The path of its PNG or SVG below the study's reports: PNGs are in git, SVGs are below svg/."""
        return f"{'svg/' if kind == 'svg' else ''}{self.stem}.{kind}"


def captions(path: Path = CAPTIONS) -> dict[str, str]:
    """The caption of each kind."""
    return yaml.safe_load(read_text(path))


def write_captions(folder: Path) -> None:
    """Write each caption into a file of its own, where Snakemake's report reads it."""
    for kind, caption in captions().items():
        write_text(folder / f"{kind}.rst", caption)


def listed(addresses: Addresses) -> list[str]:
    """All addresses in one list.  {"table": "a", "curves": ["b", "c"]} -> ["a", "b", "c"]."""
    return [address for each in addresses.values() for address in ([each] if isinstance(each, str) else each)]


@dataclass(frozen=True)
class Subject:
    """The subject of a figure: what a study asks of a puzzle, with one of its models or, if None, with all of them."""

    asked: "PuzzleStudy"
    model: str | None = None

    @property
    def training(self) -> "ModelParams":
        """The parameters of the model."""
        return self.asked.models[self.model]

    def beams(self, prefixes: bool) -> list[str]:
        """The sets that beams start from: if prefixes, those of states along a shortest path, otherwise the others."""
        sets = {beams.set: self.asked.instances[beams.set] for beams in self.asked.beams}
        return [name for name, kind in sets.items() if (kind.kind == "prefixes" and kind.shortest) == prefixes]

    def addresses(self, template: str) -> str | list[str]:
        """The address that a template of a Kind gives, or several, in an order that a recipe keeps."""
        (place,) = re.findall(r"{(\w+)}", template)
        if place in ("puzzle", "model"):
            return template.format(puzzle=self.asked.puzzle, model=self.model)
        names = self.asked.lineage(self.model) if place == "lineage" else sorted(self.asked.models)
        if place == "heuristics":
            names = [*(f"searches/{name}" for name in names), *(f"baselines/{name}" for name in self.asked.baselines)]
        return [template.format(**{place: name}) for name in names]


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    name: the name of its function and its caption.
    label: what it shows, in a few words; {set} is one of `sets`, {noun} is the puzzle's word for an instance.
    tables, cards: as in FigureEntry.  {puzzle} and {model} in an address are those of the subject; {models} gives an
    address for each model of the puzzle, {lineage} for each training that led to the model, {heuristics} for the
    searches over each network and over each baseline.
    where: whether a subject has the figure.  options, documents: as in FigureEntry, by subject.
    sets: the sets of instances with a figure each, given as the option `chosen`; None: one figure for all sets.
    optional: as in FigureEntry.  file: the stem of its files; the label names the subject only if the stem does.
    """

    name: str
    label: str
    tables: dict[str, str]
    where: Callable[[Subject], Any] = lambda subject: True
    options: Callable[[Subject], dict[str, Any]] = lambda subject: {}
    cards: dict[str, str] = field(default_factory=dict)
    documents: Callable[[Subject], Iterable[Path]] = lambda subject: ()
    sets: Callable[[Subject], Iterable[str]] | None = None
    optional: bool = False
    file: str = "{kind}_{subject}"

    def entries(self, subject: Subject) -> Iterator[FigureEntry]:
        """The figures of this kind on a subject."""
        puzzle = subject.asked.puzzle
        name = subject.model or puzzle
        stem = self.file.format(kind=self.name, subject=name)
        for place, chosen in enumerate(dict.fromkeys(self.sets(subject)) if self.sets else [None]):
            yield FigureEntry(
                name=f"{stem}_{chosen}" if place else stem,
                label=f"{name}: " * ("{subject}" in self.file) + self.label.format(set=chosen, noun=noun(puzzle)),
                kind=self.name,
                puzzle=puzzle,
                model=subject.model,
                tables={argument: subject.addresses(template) for argument, template in self.tables.items()},
                cards={argument: subject.addresses(template) for argument, template in self.cards.items()},
                documents=[*map(str, self.documents(subject))],
                options=self.options(subject) | ({"chosen": chosen} if self.sets else {}),
                optional=self.optional,
            )


class Group(NamedTuple):
    """Kinds of figures that go together: of a puzzle, of each of its models, and of the puzzle after its models.

    where: whether a study's work on a puzzle needs them.
    """

    where: Callable[["PuzzleStudy"], Any]
    of_puzzle: tuple[Kind, ...] = ()
    of_model: tuple[Kind, ...] = ()
    of_all_models: tuple[Kind, ...] = ()


def _puzzle(subject: Subject) -> dict[str, Any]:
    return {"puzzle": subject.asked.puzzle}


def _is_tower(subject: Subject) -> bool:
    return family(subject.asked.puzzle) == "hanoi"


def _walk_lengths(subject: Subject) -> list[int]:
    return subject.asked.distributions.walk_max


def _is_looked_at(subject: Subject) -> bool:
    """Whether checkpoints are kept at regular iterations instead of at convergence points."""
    return subject.training.checkpoint_iterations is not None


def _loss(epsilon: float | None, name: str) -> dict[str, Any]:
    """Of a training the loss at which a convergence point is reached, None if its trainer has none, and its name."""
    return {"epsilon": epsilon, "name": name}


def _grid_sets(subject: Subject) -> list[str]:
    return [grid.set for grid in subject.asked.grids]


def _example_sets(subject: Subject) -> dict[str, Any]:
    drawn = [name for name, kind in subject.asked.instances.items() if kind.kind != "mirrored"]
    return {"puzzle": subject.asked.puzzle, "sets": drawn[:2]}


def _document(subject: Subject) -> list[Path]:
    return [REPORTED / LOCAL_VI]


PROGRAMS = REPORTED / "other_programs.csv"  # what other programs reach
TABLE, SPREAD = {"table": "tables/{puzzle}"}, {"spread": "instances/{puzzle}/distributions"}
OF_STATES = TABLE | {"values": "audits/{model}/values", "selection": "searches/{model}/selection"}
GUIDED = ("trees", "policy_beams", "beams")  # groups of searches that a policy or the values guide
SELECTIONS = {"selections": "searches/{models}/selection"}
GRID, BASELINE = "searches/{model}/grid", "searches/baseline_{puzzle}/grid"
CLOCK = {"clock": "timings/searches/{model}"}
CURVE, CARD = {"curve": "models/{model}/curve"}, {"card": "models/{model}"}
LENGTHS = {"classes": "local_vi/{puzzle}/classes", "boards": "local_vi/{puzzle}/boards"}
GRIDS, CLOCKS = {"grids": "{heuristics}/grid"}, {"clocks": "timings/{heuristics}"}
EXHAUSTIVE = Group(  # networks on a puzzle whose states are all listed
    lambda asked: asked.models and asked.is_exhaustive,
    (
        Kind("states", "the goal and a state farthest from it", TABLE, options=_puzzle),
        Kind("distances", "states per distance", TABLE | {"instances": "instances/{puzzle}"}),
        Kind("training", "loss", {"curves": "models/{models}/curve"},
             options=lambda of: {"losses": {name: _loss(getattr(model, "epsilon", None), model.loss)
                                            for name, model in of.asked.models.items()}}),
        Kind("learning_curve", "error as training goes on", {"errors": "models/{models}/errors"}),
        Kind("error_by_distance", "error by distance",
             {"errors": "audits/{models}/by_distance"} | SELECTIONS),
        Kind("audit", "admissible and consistent states",
             {"measures": "audits/{models}/measures"} | SELECTIONS),
        Kind("optimal_by_distance", "optimal solutions by distance",
             {"shares": "searches/{models}/by_distance"}, cards={"cards": "searches/{models}"}),
        Kind("grid", "optimal solutions and nodes by λ and N",
             {"networks": "searches/{models}/grid", "baseline": BASELINE}),
        Kind("seconds", "seconds by λ and N", {"clocks": "timings/searches/{models}"}),
        Kind("way", "the ways found from start to goal",
             TABLE | {"values": "audits/{models}/values", "searches": "searches/{models}/searches"}
             | SELECTIONS, _is_tower, _puzzle),
        Kind("from_start", "nodes expanded from the start",
             TABLE | {"grids": "searches/{models}/grid", "baseline": BASELINE}, _is_tower),
        Kind("sampler_distances", "distances of the states drawn, by K", SPREAD, _walk_lengths),
        Kind("sampler_difference", "deepcubea and deepcube compared", SPREAD, _walk_lengths),
        Kind("effective_k", "distances of the states drawn, by effective K", SPREAD,
             lambda of: of.asked.distributions.effective_k),
    ),
    (
        Kind("mean_costs", "loss and mean cost-to-go as training goes on",
             {"looks": "models/{model}/checkpoints", "measures": "audits/{model}/measures",
              **TABLE}, _is_looked_at),
        Kind("optimal_by_iteration", "optimal solutions as training goes on",
             {"shares": "searches/{model}/checkpoints_by_distance"}, _is_looked_at),
        Kind("walk_costs", "cost-to-go by the length of walks", OF_STATES,
             lambda of: _is_looked_at(of) and hasattr(of.training.sampler, "walk_max"),
             lambda of: _puzzle(of) | {"walk_max": of.training.sampler.walk_max}),
    ),
)  # fmt: skip
SAMPLED = Group(  # networks on a puzzle that has too many states to list
    lambda asked: asked.models and not asked.is_exhaustive,
    (
        Kind("large_states", "example {noun}s", {"instances": "instances/{puzzle}"}, options=_example_sets),
    ),
    (
        Kind("loss_curve", "loss", CURVE, cards=CARD),
        Kind("training_costs", "what the training cost", {},
             cards={"cards": "models/{lineage}", "clocks": "timings/models/{lineage}"},
             documents=lambda of: documents(of.asked.puzzle),
             options=lambda of: _puzzle(of) | {"name": f"{of.asked.study}, {of.model}"}),
        Kind("nearby_audit", "cost-to-go near the goal", {"audited": "audits/{model}/nearby"}),
        Kind("known_audit", "cost-to-go where optima are known", {"audited": "audits/{model}/known"},
             lambda of: of.asked.optima),
        Kind("level_solution", "a level, its solution and the cost-to-go along it",
             {"along": "audits/{model}/along"}, lambda of: not of.asked.one_goal, _puzzle),
        Kind("scrambled_costs", "cost-to-go by scramble", {"costs": "audits/{model}/scrambled"}),
        Kind("greedy_shares", "greedy search as training goes on", {"greedy": "audits/{model}/greedy"}),
        Kind("large_mean_costs", "cost-to-go as training goes on", {"greedy": "audits/{model}/greedy"}),
        Kind("progress", "solutions as training goes on",
             {"searches": "audits/{model}/progress"}, lambda of: of.asked.audit.progress, cards=CARD),
        Kind("grid_heat_maps", "BWAS on {set} by λ and N", {"grid": GRID}, sets=_grid_sets),
        Kind("grid_seconds", "seconds of BWAS on {set} by λ and N", {"grid": GRID} | CLOCK, sets=_grid_sets),
    ),
    (
        Kind("heuristics_compared", "networks beside pattern databases", GRIDS, lambda of: of.asked.baselines,
             lambda of: {"chosen": _grid_sets(of)[0]}),
        Kind("heuristics_seconds", "seconds of networks beside pattern databases", GRIDS | CLOCKS,
             lambda of: of.asked.baselines, lambda of: {"chosen": _grid_sets(of)[0]}),
    ),
)  # fmt: skip
SOLVED = Group(  # networks that beams and searches of external instances go by
    lambda asked: asked.models,
    of_model=(
        Kind("beam_lengths", "length by beam width", {"grid": "beams/{model}/grid"},
             lambda of: of.asked.beams, lambda of: {"sets": of.beams(prefixes=False)}),
        Kind("beam_seconds", "seconds and length by beam width",
             {"searches": "beams/{model}/searches", "clock": "timings/beams/{model}"},
             lambda of: of.asked.beams, lambda of: {"sets": of.beams(prefixes=False)}),
        Kind("solver_work", "what each solver makes of it",
             {group: f"{group}/{{model}}/grid" for group in GUIDED} | {"grid": GRID},
             lambda of: {*GUIDED} <= {*of.asked.searches_over(of.model)} and of.asked.grids
             and not of.asked.is_exhaustive,
             lambda of: {"sets": of.beams(prefixes=False)}),
        Kind("prefix_lengths", "lengths found on {set}", {"searches": "beams/{model}/searches"},
             sets=lambda of: of.beams(prefixes=True)),
        Kind("external_excess", "external {noun}s beside their optima",
             {"searches": "external/{model}/searches"}, lambda of: of.asked.external, _puzzle, optional=True),
    ),
    of_all_models=(
        Kind("budget_lengths", "length by states of training and nodes of search",
             {"beams": "beams/{models}/grid", "anytime": "anytime/{models}/grid"},
             lambda of: {"beams", "anytime"} <= {*of.asked.by_group} and of.asked.alike_but_for_iterations,
             lambda of: _puzzle(of) | {"chosen": of.asked.by_group["beams"][0].set},
             cards={"cards": "models/{models}"}, documents=lambda of: [PROGRAMS]),
    ),
)  # fmt: skip
SOLVED_LOCALLY = Group(  # a puzzle solved by local value iteration
    lambda asked: asked.local_vi,
    (
        Kind("local_vi_policy", "what the policy does with each tile", {"policy": "local_vi/{puzzle}/policy"},
             options=_puzzle, file="policy"),
        Kind("local_vi_lengths_by_size", "lengths by initial size", LENGTHS, documents=_document,
             file="lengths_by_size"),
        Kind("local_vi_lengths_by_class", "random boards by class", LENGTHS, documents=_document,
             file="lengths_by_class"),
        Kind("local_vi_compared", "every board by every solver",
             {"searches": "compared/{puzzle}", "clock": "timings/compared/{puzzle}"},
             lambda of: of.asked.local_vi.compared, file="compared"),
    ),
)  # fmt: skip
GROUPS = (EXHAUSTIVE, SAMPLED, SOLVED, SOLVED_LOCALLY)


def catalogue(study: "Study", measured: Path = MEASURED) -> list[FigureEntry]:
    """All figures of a study, by puzzle and then by model, in the order of its parameters.

    measured: the folder of kept studies; figures of those that the study names under `beside` come last.
    """
    asked = [study.about(puzzle) for puzzle in study.puzzles]
    own = [entry for each in asked for entry in of_puzzle(each)]
    listed = [each.puzzle for each in asked if EXHAUSTIVE.where(each)]
    return [*own, *_kept_figures(study, listed, measured)]


def of_puzzle(asked: "PuzzleStudy") -> list[FigureEntry]:
    """The figures of a study's work on a puzzle."""
    whole, models = [Subject(asked)], [Subject(asked, model) for model in asked.models]
    groups = [group for group in GROUPS if group.where(asked)]
    return [
        entry
        for subjects, place in ((whole, "of_puzzle"), (models, "of_model"), (whole, "of_all_models"))
        for subject in subjects
        for group in groups
        for kind in getattr(group, place)
        if kind.where(subject)
        for entry in kind.entries(subject)
    ]


def drawn(entries: Iterable[FigureEntry], card: Callable[[str], dict[str, Any]]) -> list[FigureEntry]:
    """The figures whose stages have all run; card: gives the card of a stage, "audits/DNN_0", or {} before it has run.

    External instances are shown only if they were solved with the model's present network.
    """
    there = [entry for entry in entries if all(map(card, entry.needs))]
    return [entry for entry in there if not (entry.optional and outdated(entry.model, card))]


def parts(entries: Iterable[FigureEntry]) -> dict[str, list[FigureEntry]]:
    """The figures by the part that they are drawn with."""
    entries = [*entries]
    return {part: [entry for entry in entries if entry.part == part] for part in dict.fromkeys(e.part for e in entries)}


SEEDS = {"variants": "seeds of each variant"}  # what figures of repeated trainings show, by kind
AS_TRAINED = {  # of trainings with checkpoints at regular iterations
    "variant_errors": "error as training goes on",
    "variant_losses": "loss as training goes on",
    "variant_costs": "mean cost-to-go as training goes on",
}
OVER_STATES = ("variant_errors", "variant_costs")  # those that show the mean distance over all states
BY_POINT = {"measures_by_point": "measures by convergence point", "predictors": "what predicts searches"}


def _kept_figures(study: "Study", puzzles: list[str], measured: Path) -> Iterator[FigureEntry]:
    """The figures of the results on some puzzles that the studies named under `beside` have kept."""
    from costtogo.params.trainers import loss_of

    for path in kept_of(study, puzzles, measured):
        cards, tables = cards_kept(path), tables_kept(path)
        kept = [place for place in sorted(cards) if f"{place}/curve" in tables and path.stem != study.study]
        trainings = {place: cards[place]["parameters"]["training"] for place in kept}
        for puzzle in dict.fromkeys(each["puzzle"] for each in trainings.values() if each["puzzle"] in puzzles):
            own = {place: training for place, training in trainings.items() if training["puzzle"] == puzzle}
            losses = {name_of(place): _loss(*loss_of(training)) for place, training in own.items()}
            label, curves = f"losses of the study {path.stem}'s trainings", [f"{place}/curve" for place in own]
            yield _kept_figure(path, "kept_training", label, puzzle, {"curves": curves}, {"losses": losses})
        if (path.with_suffix("") / file_of("variants")).exists():
            yield from _variant_figures(path, cards, puzzles)


def _variant_figures(path: Path, cards: dict[str, Any], puzzles: list[str]) -> Iterator[FigureEntry]:
    """The figures of the trainings on some puzzles that a study repeated with several seeds.

    Figures over checkpoints need trainings with more than one audited checkpoint.
    """
    repeated = [place for place in cards if place.startswith(("audits/", "searches/")) and TrainingName.of(place).seed]
    own = {place: cards[place]["parameters"] for place in repeated}
    searched = {part["puzzle"] for place, part in own.items() if place.startswith("searches/")}
    audits = [part for place, part in own.items() if place.startswith("audits/")]
    ends_alone = {part["puzzle"] for part in audits if part["audit"].get("checkpoints") == 1}
    for puzzle in sorted(searched & {*puzzles}):
        mean, kinds = mean_distance_at_looks(cards, puzzle), SEEDS
        if mean is not None:
            kinds = SEEDS | AS_TRAINED
        elif family(puzzle) != "hanoi" and puzzle not in ends_alone:
            kinds = SEEDS | BY_POINT
        for kind, label in kinds.items():
            options = {"puzzle": puzzle} | ({"mean_distance": mean} if kind in OVER_STATES else {})
            yield _kept_figure(path, kind, label, puzzle, {"frame": "variants"}, options)


def _kept_figure(path: Path, kind: str, label: str, puzzle: str, tables: Addresses, options: dict) -> FigureEntry:
    """A figure of the results on a puzzle that a study has kept; path: its file in data/measured."""
    name = f"{path.stem}_{puzzle}"
    return FigureEntry(f"{kind}_{name}", f"{name}: {label}", kind, puzzle, None, path.stem, tables, options=options)
