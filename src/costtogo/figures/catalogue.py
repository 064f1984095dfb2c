"""The one catalogue of figures: what each kind shows, of which puzzles and models, and which files it reads.

A kind is a function marked with costtogo.figures.style.kind_of_figure, which bears its name and is given what the
files hold, and a caption in workflow/captions.yaml. Importing this module and asking it loads no matplotlib and no
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
from costtogo.puzzles import family, noun
from costtogo.tables.kept import cards_kept, file_of, kept_of, mean_distance_at_looks, outdated, tables_kept
from costtogo.tables.places import CAPTIONS, MEASURED, REPORTED

if TYPE_CHECKING:
    from costtogo.params.study import PuzzleStudy, Study
    from costtogo.params.training import ModelParams

OVER_STATES = ("variant_errors", "variant_costs")  # kinds that show the mean over all states
KINDS = ("png", "svg")  # each figure is drawn as both
Paths = dict[str, str | list[list[str]]]  # by argument a path, or several with their names


@dataclass(frozen=True, eq=False)
class FigureEntry:
    """One figure of a study, which can be written as JSON.

    name: the stem of its files.  label: what it shows, in a few words.  kind: its function and its caption.
    part: what it is drawn together with: figures of the same model, else of the same puzzle, else of another study.
    reads: files below the study's results by the argument of the function that gets what they hold.
    files: likewise, files that no stage of the study makes; kept:  "data/measured/a/models.csv#models/b/curve".
    options: further arguments.
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

    def paths(self, results: Path) -> list[Path]:
        """All files that it reads; results: the study's folder."""
        return [*(results / path for path in paths_of(self.reads)), *map(Path, paths_of(self.files))]

    @property
    def needs(self) -> list[str]:
        """The stages that it reads from: tables/cube2, audits/DNN_0."""
        return list(dict.fromkeys(map(_stage_of, paths_of(self.reads))))

    @property
    def timed(self) -> bool:
        """Whether it shows wall-clock time."""
        return any(path.startswith("timings/") for path in paths_of(self.reads))

    @property
    def stem(self) -> str:
        """The path of its files below the study's reports, without suffix: what shows wall-clock time lies apart."""
        return f"{'timings' if self.timed else 'figures'}/{self.name}"

    def file(self, kind: str) -> str:
        """The path of its file of a kind below the study's reports: PNGs are in git, SVGs lie apart in svg/."""
        return f"{'svg/' if kind == 'svg' else ''}{self.stem}.{kind}"


def captions(path: Path = CAPTIONS) -> dict[str, str]:
    """The caption of each kind."""
    return yaml.safe_load(read_text(path))


def write_captions(folder: Path) -> None:
    """Write each caption into a file of its own, as Snakemake's own report reads it."""
    for kind, caption in captions().items():
        write_text(folder / f"{kind}.rst", caption)


def paths_of(reads: Paths) -> list[str]:
    """All paths of reads, of kept tables their files.  {"table": "a", "curves": [["one", "b#c"]]} -> ["a", "b"]."""
    found = [path for each in reads.values() for path in ([each] if isinstance(each, str) else dict(each).values())]
    return [path.partition("#")[0] for path in found]


def _stage_of(path: str) -> str:
    """The stage that writes a file.  "timings/searches/net.parquet", "searches/net/grid.parquet" -> "searches/net"."""
    group, name, *below = path.removeprefix("timings/").split("/")
    return f"{group}/{name if below else name.rpartition('.')[0]}"


@dataclass(frozen=True)
class Subject:
    """What a figure is about: asked, what a study does with a puzzle, and one of its models or all of them."""

    asked: "PuzzleStudy"
    model: str | None = None

    @property
    def training(self) -> "ModelParams":
        """The parameters of the model."""
        return self.asked.models[self.model]

    def beams(self, prefixes: bool) -> list[str]:
        """The sets that beams start from: those of the states along a shortest path, or the others."""
        sets = {beams.set: self.asked.instances[beams.set] for beams in self.asked.beams}
        return [name for name, kind in sets.items() if (kind.kind == "prefixes" and kind.shortest) == prefixes]

    def paths(self, template: str) -> str | list[list[str]]:
        """The path that a template of Kind.reads stands for, or names and paths, in an order that a recipe keeps."""
        (place, *_) = re.findall(r"{(\w+)}", template)
        if place in ("puzzle", "model"):
            return template.format(puzzle=self.asked.puzzle, model=self.model)
        found = self.asked.lineage(self.model) if place == "lineage" else sorted(self.asked.models)
        names = {name: name for name in found}
        if place == "heuristics":
            names = {name: f"searches/{name}" for name in names}
            names |= {name: f"baselines/{name}" for name in self.asked.baselines}
        return [[name, template.format(**{place: value})] for name, value in names.items()]


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
    optional: as of an entry.  file: the stem of its files; a figure whose stem has no {subject} is labelled without it.
    """

    name: str
    label: str
    reads: dict[str, str]
    where: Callable[[Subject], Any] = lambda subject: True
    options: Callable[[Subject], dict[str, Any]] = lambda subject: {}
    files: Callable[[Subject], Paths] = lambda subject: {}
    sets: Callable[[Subject], Iterable[str]] | None = None
    optional: bool = False
    file: str = "{kind}_{subject}"

    def entries(self, subject: Subject) -> Iterator[FigureEntry]:
        """Its figures on a subject that has it."""
        puzzle = subject.asked.puzzle
        name = subject.model or puzzle
        stem, reads = self.file.format(kind=self.name, subject=name), self.reads.items()
        for place, chosen in enumerate(dict.fromkeys(self.sets(subject)) if self.sets else [None]):
            yield FigureEntry(
                name=f"{stem}_{chosen}" if place else stem,
                label=f"{name}: " * ("{subject}" in self.file) + self.label.format(set=chosen, noun=noun(puzzle)),
                kind=self.name,
                part=name,
                puzzle=puzzle,
                model=subject.model,
                reads={argument: subject.paths(template) for argument, template in reads},
                files=self.files(subject),
                options=self.options(subject) | ({"chosen": chosen} if self.sets else {}),
                optional=self.optional,
            )


class Group(NamedTuple):
    """Kinds of figures that go together: of a puzzle, of each of its models, and of the puzzle after its models.

    where: whether what a study does with a puzzle calls for them.
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
    """Checkpoints are kept every so many iterations, in place of convergence points."""
    return subject.training.checkpoint_iterations is not None


def _loss(training: "ModelParams") -> tuple[float | None, str]:
    """The loss that calls for a convergence point, None of a trainer that has none, and what the loss is."""
    return getattr(training, "epsilon", None), training.loss


def _of_losses(losses: dict[str, tuple[float | None, str]]) -> dict[str, dict[str, Any]]:
    """The options of a figure of losses, from the result of trainers.loss_of for each model."""
    return {
        "epsilons": {model: epsilon for model, (epsilon, _) in losses.items()},
        "losses": {model: loss for model, (_, loss) in losses.items()},
    }


def _grid_sets(subject: Subject) -> list[str]:
    return [grid.set for grid in subject.asked.grids]


def _example_sets(subject: Subject) -> dict[str, Any]:
    drawn = [name for name, kind in subject.asked.instances.items() if kind.kind != "mirrored"]
    return {"puzzle": subject.asked.puzzle, "sets": drawn[:2]}


def _document(subject: Subject) -> Paths:
    return {"reported": str(REPORTED / LOCAL_VI)}


TABLE, SPREAD = {"table": "tables/{puzzle}.npz"}, {"spread": "instances/{puzzle}/distributions.parquet"}
OF_STATES = TABLE | {"values": "audits/{model}/values.npz", "selection": "searches/{model}/selection.parquet"}
GUIDED = ("trees", "policy_beams", "beams")  # groups of searches that a policy or the values guide
SELECTIONS = {"selections": "searches/{models}/selection.parquet"}
GRID, BASELINE = "searches/{model}/grid.parquet", "searches/baseline_{puzzle}/grid.parquet"
CLOCK = {"clock": "timings/searches/{model}.parquet"}
CURVE, CARD = {"curve": "models/{model}/curve.parquet"}, {"card": "models/{model}.json"}
LENGTHS = {"classes": "local_vi/{puzzle}/classes.parquet", "boards": "local_vi/{puzzle}/boards.parquet"}
GRIDS, CLOCKS = {"grids": "{heuristics}/grid.parquet"}, {"clocks": "timings/{heuristics}.parquet"}
EXHAUSTIVE = Group(  # networks on a puzzle whose states are all listed
    lambda asked: asked.models and asked.is_exhaustive,
    (
        Kind("states", "the goal and a state farthest from it", TABLE, options=_puzzle),
        Kind("distances", "states per distance", TABLE | {"instances": "instances/{puzzle}.parquet"}),
        Kind("training", "loss", {"curves": "models/{models}/curve.parquet"},
             options=lambda of: _of_losses({name: _loss(model) for name, model in of.asked.models.items()})),
        Kind("learning_curve", "error as training goes on", {"errors": "models/{models}/errors.parquet"}),
        Kind("error_by_distance", "error by distance",
             {"errors": "audits/{models}/by_distance.parquet"} | SELECTIONS),
        Kind("audit", "admissible and consistent states",
             {"measures": "audits/{models}/measures.parquet"} | SELECTIONS),
        Kind("optimal_by_distance", "optimal solutions by distance",
             {"shares": "searches/{models}/by_distance.parquet", "cards": "searches/{models}.json"}),
        Kind("grid", "optimal solutions and nodes by λ and N",
             {"networks": "searches/{models}/grid.parquet", "baseline": BASELINE}),
        Kind("seconds", "seconds by λ and N", {"clocks": "timings/searches/{models}.parquet"}),
        Kind("way", "the ways found from start to goal",
             TABLE | {"values": "audits/{models}/values.npz", "searches": "searches/{models}/searches.parquet"}
             | SELECTIONS, _is_tower, _puzzle),
        Kind("from_start", "nodes expanded from the start",
             TABLE | {"grids": "searches/{models}/grid.parquet", "baseline": BASELINE}, _is_tower),
        Kind("sampler_distances", "distances of the states drawn, by K", SPREAD, _walk_lengths),
        Kind("sampler_difference", "deepcubea and deepcube compared", SPREAD, _walk_lengths),
        Kind("effective_k", "distances of the states drawn, by effective K", SPREAD,
             lambda of: of.asked.distributions.effective_k),
    ),
    (
        Kind("mean_costs", "loss and mean cost-to-go as training goes on",
             {"looks": "models/{model}/checkpoints.parquet", "measures": "audits/{model}/measures.parquet",
              **TABLE}, _is_looked_at),
        Kind("optimal_by_iteration", "optimal solutions as training goes on",
             {"shares": "searches/{model}/checkpoints_by_distance.parquet"}, _is_looked_at),
        Kind("walk_costs", "cost-to-go by the length of walks", OF_STATES,
             lambda of: _is_looked_at(of) and hasattr(of.training.sampler, "walk_max"),
             lambda of: _puzzle(of) | {"walk_max": of.training.sampler.walk_max}),
    ),
)  # fmt: skip
SAMPLED = Group(  # networks on a puzzle that has too many states to list
    lambda asked: asked.models and not asked.is_exhaustive,
    (
        Kind("large_states", "example {noun}s", {"instances": "instances/{puzzle}.parquet"}, options=_example_sets),
    ),
    (
        Kind("loss_curve", "loss", CURVE | CARD),
        Kind("training_costs", "what the training cost",
             {"cards": "models/{lineage}.json", "clocks": "timings/models/{lineage}.json"},
             files=lambda of: {"literature": [[str(path)] * 2 for path in documents(of.asked.puzzle)]},
             options=lambda of: _puzzle(of) | {"name": f"{of.asked.study}, {of.model}"}),
        Kind("nearby_audit", "cost-to-go near the goal", {"nearby": "audits/{model}/nearby.parquet"}),
        Kind("known_audit", "cost-to-go where optima are known", {"known": "audits/{model}/known.parquet"},
             lambda of: of.asked.optima),
        Kind("level_solution", "a level, its solution and the cost-to-go along it",
             {"along": "audits/{model}/along.parquet"}, lambda of: not of.asked.one_goal, _puzzle),
        Kind("scrambled_costs", "cost-to-go by scramble", {"costs": "audits/{model}/scrambled.parquet"}),
        Kind("greedy_shares", "greedy search as training goes on", {"greedy": "audits/{model}/greedy.parquet"}),
        Kind("large_mean_costs", "cost-to-go as training goes on", {"greedy": "audits/{model}/greedy.parquet"}),
        Kind("progress", "solutions as training goes on",
             {"searches": "audits/{model}/progress.parquet"} | CARD, lambda of: of.asked.audit.progress),
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
        Kind("beam_lengths", "length by beam width", {"grid": "beams/{model}/grid.parquet"},
             lambda of: of.asked.beams, lambda of: {"sets": of.beams(prefixes=False)}),
        Kind("beam_seconds", "seconds and length by beam width",
             {"searches": "beams/{model}/searches.parquet", "clock": "timings/beams/{model}.parquet"},
             lambda of: of.asked.beams, lambda of: {"sets": of.beams(prefixes=False)}),
        Kind("solver_work", "what each solver makes of it",
             {group: f"{group}/{{model}}/grid.parquet" for group in GUIDED} | {"grid": GRID},
             lambda of: {*GUIDED} <= {*of.asked.searches_over(of.model)} and of.asked.grids
             and not of.asked.is_exhaustive,
             lambda of: {"sets": of.beams(prefixes=False)}),
        Kind("prefix_lengths", "lengths found on {set}", {"searches": "beams/{model}/searches.parquet"},
             sets=lambda of: of.beams(prefixes=True)),
        Kind("external_excess", "external {noun}s beside their optima",
             {"searches": "external/{model}/searches.parquet"}, lambda of: of.asked.external, _puzzle, optional=True),
    ),
)  # fmt: skip
SOLVED_LOCALLY = Group(  # a puzzle solved by local value iteration
    lambda asked: asked.local_vi,
    (
        Kind("local_vi_policy", "what the policy does with each tile", {"policy": "local_vi/{puzzle}/policy.parquet"},
             options=_puzzle, file="policy"),
        Kind("local_vi_lengths_by_size", "lengths by initial size", LENGTHS, files=_document, file="lengths_by_size"),
        Kind("local_vi_lengths_by_class", "random boards by class", LENGTHS, files=_document, file="lengths_by_class"),
        Kind("local_vi_compared", "every board by every solver",
             {"searches": "compared/{puzzle}.parquet", "clock": "timings/compared/{puzzle}.parquet"},
             lambda of: of.asked.local_vi.compared, file="compared"),
    ),
)  # fmt: skip
GROUPS = (EXHAUSTIVE, SAMPLED, SOLVED, SOLVED_LOCALLY)


def catalogue(study: "Study", measured: Path = MEASURED) -> list[FigureEntry]:
    """All figures of a study, by puzzle and then by model, in the order of its parameters.

    measured: the folder of what other studies kept; shown is what those beside this one kept of its puzzles.
    """
    asked = [study.about(puzzle) for puzzle in study.puzzles]
    own = [entry for each in asked for entry in of_puzzle(each)]
    listed = [each.puzzle for each in asked if EXHAUSTIVE.where(each)]
    return [*own, *_kept_figures(study, listed, measured)]


def of_puzzle(asked: "PuzzleStudy") -> list[FigureEntry]:
    """The figures of what a study does with a puzzle."""
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
    """The figures whose stages have all run; card: what a stage noted of itself, "audits/DNN_0", empty where not.

    Of external instances only what was solved with the network that the model has now.
    """
    there = [entry for entry in entries if all(map(card, entry.needs))]
    return [entry for entry in there if not (entry.optional and outdated(entry.model, card))]


def parts(entries: Iterable[FigureEntry]) -> dict[str, list[FigureEntry]]:
    """The figures by the part that they are drawn with."""
    found: dict[str, list[FigureEntry]] = {}
    for entry in entries:
        found.setdefault(entry.part, []).append(entry)
    return found


def _kept_figures(study: "Study", puzzles: list[str], measured: Path) -> Iterator[FigureEntry]:
    """The figures of what the studies beside a study have kept of some puzzles."""
    from costtogo.params.trainers import loss_of

    for path in kept_of(study, puzzles, measured):
        cards, folder, tables = cards_kept(path), path.with_suffix(""), tables_kept(path)
        kept: dict[str, dict[str, tuple[str, tuple[float | None, str]]]] = {}
        for place, card in sorted(cards.items()) if path.stem != study.study else ():
            curve = f"{place}/curve"
            if curve in tables and (training := card["parameters"]["training"])["puzzle"] in puzzles:
                found = (f"{folder / file_of(curve)}#{curve}", loss_of(training))
                kept.setdefault(training["puzzle"], {})[place.removeprefix("models/")] = found
        for puzzle, models in kept.items():
            files = {"curves": [[model, curve] for model, (curve, _) in models.items()]}
            options = _of_losses({model: losses for model, (_, losses) in models.items()})
            label = f"losses of the study {path.stem}'s trainings"
            yield _kept_figure(path, "kept_training", label, puzzle, puzzle, files, options)
        if (folder / "variants.csv").exists():
            yield from _variant_figures(path, cards, puzzles, {"frame": str(folder / "variants.csv")})


def _variant_figures(path: Path, cards: dict[str, Any], puzzles: list[str], files: Paths) -> Iterator[FigureEntry]:
    """The figures of the trainings on some puzzles that a study repeated with several seeds.

    Those that follow the checkpoints are for trainings of which more than the last was audited.
    """
    own = {
        place: card["parameters"] for place, card in cards.items() if re.match(r"(audits|searches)/.*_seed\d+$", place)
    }
    told = {part["puzzle"] for place, part in own.items() if place.startswith("searches/")}
    audits = [part for place, part in own.items() if place.startswith("audits/")]
    ends_alone = {part["puzzle"] for part in audits if part["audit"].get("checkpoints") == 1}
    for puzzle in sorted(told & {*puzzles}):
        kinds = {"variants": "seeds of each variant"}
        if (mean := mean_distance_at_looks(cards, puzzle)) is not None:
            measures = {"errors": "error", "losses": "loss", "costs": "mean cost-to-go"}
            kinds |= {f"variant_{name}": f"{measure} as training goes on" for name, measure in measures.items()}
        elif family(puzzle) != "hanoi" and puzzle not in ends_alone:
            kinds |= {"measures_by_point": "measures by convergence point", "predictors": "what predicts searches"}
        for kind, label in kinds.items():
            options = {"puzzle": puzzle} | ({"mean_distance": mean} if kind in OVER_STATES else {})
            yield _kept_figure(path, kind, label, puzzle, puzzle, files, options)


def _kept_figure(
    path: Path, kind: str, label: str, puzzle: str, about: str, files: Paths, options: dict
) -> FigureEntry:
    """A figure of what the study of a file of data/measured kept."""
    name, study = f"{path.stem}_{about}", path.stem
    return FigureEntry(f"{kind}_{name}", f"{name}: {label}", kind, study, puzzle, files=files, options=options)
