"""The graph that Snakemake runs: the stages of all studies, the files each reads, and the targets that people name."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costtogo import sources
from costtogo.external_files import find, folder
from costtogo.files import recall, write_json
from costtogo.params.base import hint
from costtogo.params.loading import DEFAULT, load, load_own, refuse_other_name
from costtogo.params.reading import read_yaml, shown
from costtogo.params.study import Study
from costtogo.puzzles import names_of_files
from costtogo.recipes import RECIPES, Mark
from costtogo.types import UserError
from costtogo.workflow.stages import APART, Stage, stages_of
from costtogo.workflow.state import State

RUN = Path(".snakemake/costtogo/run.json")  # study and marks of this folder's run, for its jobs elsewhere
GROUPS = Path("groups.yaml")  # next to the studies of config/: targets of several studies
PARTS = {  # targets of the running study, and their messages when they are reached
    "tables": "The exact tables are complete.",
    "instances": "The instance sets are complete.",
    "models": "The trainings are complete.",
    "audits": "The audits are complete.",
    "searches": "The searches are complete.",
    "figures": "The figures are complete.",
}
RESERVED = (*PARTS, "report", "all", DEFAULT)  # targets whose names no study may have
WRITTEN = ("results", "reports", "logs")  # folders with one folder per study


@dataclass(frozen=True)
class Target:
    """A target that a user may ask for: its name, the marks of its stages, and a sentence for its end."""

    name: str
    marks: list[str]
    message: str


class Graph:
    """The stages of the running study and of the studies in a folder, in an order in which they can be made.

    The graph is made from files, without looking at results.  Which stages are finished is read on demand.
    files: the files of the running study; later ones override earlier ones, but a file of the folder is a whole study.
    changes: values that override them, or override the one study that the targets name if there is no second file.
    folder: config/.  words: of the command line, which name groups, or studies of the folder or their files; None for
    all.
    targets: the targets that Snakemake reads from the command line.
    job: True for a process on another machine that makes one stage of a run: its study, marks and recipes are then
    those that the run wrote down, whatever has changed since.
    Raises UserError if parameters are wrong, if changes or files belong to no requested study, or if a target is
    unknown.
    """

    def __init__(
        self,
        files: Iterable[Path],
        folder: Path,
        changes: dict[str, Any] | None = None,
        words: Iterable[str] | None = None,
        job: bool = False,
        targets: Iterable[str] = (),
    ):
        files, run, said = list(map(Path, files)), recall(RUN) if job else {}, None if words is None else list(words)
        self.names = [*names_of(folder), *without_study(folder)]
        self._groups = groups(folder, [*self.names, DEFAULT])
        self._refuse_reserved(folder, [*(said or []), *targets])
        named = {name for target in targets for name in self._of(target) or [DEFAULT]}
        named = {"" if name == DEFAULT else name for name in named}  # "": the running study
        self._changed = next(iter(named)) if changes and len(files) == 1 == len(named) and not job else ""
        if self._changed or run.get("study"):
            self.study = read(folder, self._changed or run["study"], changes)
        else:
            self.study = load(_laid_over(files, folder), changes)
        own = self.study.study
        if not job:
            refuse_unasked({name or own for name in named} or {own}, own, bool(changes), len(files) > 1)
        self.names = [name for name in self.names if name != own]
        self._studies = {own: self.study}
        asked = self.names if said is None else {name for word in said for name in self._of(word)} - {own, DEFAULT}
        self._studies |= {name: read(folder, name) for name in sorted(asked)}
        for name in {other for study in self._studies.values() for other in read_by(study)} - set(self._studies):
            self._studies[name] = read(folder, name)
        self.stages: list[Stage] = []
        for study in sorted(self._studies.values(), key=lambda study: len(read_by(study))):
            self.stages += stages_of(study, self.stages)
        self._written: set[str] = set()  # studies whose recipes are written
        self._last = {stage.study: stage for stage in self.stages if stage.group == "report"}
        self._state = State(self.stages)
        marks = run.get("marks", {})
        self._marks = {stage.id: marks.get(stage.id) or str(self._state.mark(stage)) for stage in self.stages}
        self._refuse_unknown(folder, targets)
        self._state.remember()
        sources.remember()

    def begin(self) -> None:
        """Write down the study of this run and the marks that it will make, for its jobs on other machines."""
        write_json(RUN, {"study": self._changed, "marks": self._marks})

    def mark(self, stage: Stage) -> str:
        """The mark of a stage when it is finished."""
        return self._marks[stage.id]

    def reads(self, stage: Stage) -> list[str]:
        """The recipe of a stage, the marks of the stages it needs, and further files.

        All recipes of its study are written here, unless they exist: Snakemake looks into their folders once.

        A finished stage does not wait for a stage that lost a file: the same key gives the same result. If it does not,
        as on another processor, the next start finds that the stage was made from another input (State).
        Raises UserError if external instances are missing.
        """
        if stage.group == "external":
            for path in stage.files:
                find(str(Path(path).relative_to(folder())))
        if stage.study not in self._written:
            self._written.add(stage.study)
            for made in (each for each in self.stages if each.study == stage.study):
                made.recipe.write(made.folder, made.name, Mark.of(Path(self.mark(made))).time)
        finished = not self._state.reason(stage)
        marks = [self.mark(need) for need in stage.needs if not (finished and self._state.reason(need))]
        files = [path for path in stage.files if Path(path).exists() and not Path(path).is_relative_to("results")]
        return [self._recipe(stage), *marks, *files]

    def refuse_absent_devices(self, rules: Iterable[str]) -> None:
        """UserError if a stage asks for cuda and this machine has none; rules: names of the rules of stages to run."""
        asked = set(rules)
        for parameters in (stage.parameters for stage in self.stages if stage.rule in asked):
            if parameters.get("device") == "cuda":
                from costtogo.heuristics.network import present  # loads torch, which few starts need

                present("cuda", parameters.get("training", {}).get("processes", 1))

    def command(self, stage: Stage) -> str:
        """The command that makes a stage; it also works by hand."""
        return f"costtogo stage {stage.module} --params {self._recipe(stage)} {stage.options}"

    def plan(self, stage: Stage) -> str:
        """The recipe that needs all other stages of the study; a stage uses it to count the finished ones."""
        return self._recipe(self._last[stage.study])

    def message(self, stage: Stage) -> str:
        """The task of a stage and, if it has a result already, the reason to make it again; as Snakemake formats it."""
        told = stage.message if stage.study == self.study.study else f"{stage.study}: {stage.message}"
        if (reason := self._state.reason(stage)) not in ("", "new"):
            told += f"\n    because: {reason}"
        return told.replace("{", "{{").replace("}", "}}")

    def _of(self, word: str) -> list[str]:
        """The studies that a word names: a study or a group of the folder, by name, path, file or rule."""
        if word in self._groups:
            return self._groups[word]
        parts = _parts(word)
        found = [name for name in self.names if name in parts]
        rules = [name for name in self.names if any(part.startswith(f"{name}_") for part in parts)]
        return found or sorted(rules, key=len)[-1:]

    def _refuse_reserved(self, folder: Path, words: list[str]) -> None:
        """Leave out studies with the name of another target; UserError if words name one of them."""
        for name in [name for name in self.names if name in RESERVED or name in self._groups]:
            self.names.remove(name)
            if any(name in _parts(word) for word in words):
                raise _taken(folder, name)

    def _refuse_unknown(self, folder: Path, targets: Iterable[str]) -> None:
        """UserError if a requested name is no target, or names two."""
        names, rules = [target.name for target in self.targets], {stage.rule for stage in self.stages}
        if twice := next((name for name in names if name in rules or names.count(name) > 1), None):
            raise _taken(folder, twice)
        for name in targets:
            if "/" not in name and name not in {"all", *names} | rules:
                raise UserError(f"There is no target {shown(name)}{hint(name, ['all', *names])}")

    @property
    def targets(self) -> list[Target]:
        """All targets that a user may ask for by name; `all` is in the Snakefile."""
        own = self.study.study
        parts = [Target(name, self.marks_of(own, name), message) for name, message in PARTS.items()]
        parts.append(Target("report", self.marks_of(own), f"The report is complete: reports/{own}/report.md."))
        told = "Study {0} is complete: read reports/{0}/report.md."
        studies = [Target(name, self.marks_of(name), told.format(name)) for name in [own, *self.names]]
        for group, members in self._groups.items():
            reports = f"Target {group} is complete: read the reports of {', '.join(members)}."
            studies.append(Target(group, [path for name in members for path in self.marks_of(name)], reports))
        for name, group in dict.fromkeys((stage.study, stage.group) for stage in self.stages if stage.apart):
            studies.append(Target(f"{name}-{group}", self.marks_of(name, group), APART[group].format(name)))
        return parts + studies

    def marks_of(self, study: str, group: str | None = None) -> list[str]:
        """The marks of a study's stages, or of one group; stages apart have their own target."""
        chosen = [stage for stage in self.stages if stage.study == study]
        chosen = [stage for stage in chosen if (stage.group == group if group else not stage.apart)]
        return [self.mark(stage) for stage in chosen]

    def _recipe(self, stage: Stage) -> str:
        """The recipe of a stage, which has the name of its mark."""
        return str(RECIPES / stage.study / stage.group / f"{Path(self.mark(stage)).stem}.json")


def _laid_over(files: list[Path], folder: Path) -> list[Path]:
    """The files of a study without those before the last file of a folder, which is a whole study."""
    whole = [number for number, path in enumerate(files) if path.resolve().parent == folder.resolve()]
    return files[whole[-1] :] if whole else files


def refuse_unasked(asked: set[str], own: str, changed: bool, laid_over: bool) -> None:
    """UserError if --config would change one of several requested studies, or --configfile belongs to none of them."""
    named = ", ".join(sorted(asked))
    if changed and len(asked) > 1:
        raise UserError(f"--config changes one study at a time, and the targets are of {named}: name those of one.")
    if (changed or laid_over) and own not in asked:
        raise UserError(f"--configfile is for the study {own}, and the targets are of {named}: leave one of them out.")


def _taken(folder: Path, name: str) -> UserError:
    path = folder / f"{name}.yaml"
    place = f"{folder.name}/{path.name}" if path.is_file() else f"The study {name}"
    return UserError(f"{place}: no study can be called {name}, which is another target; rename it.")


def _parts(word: str) -> set[str]:
    """The parts of a word that may name a study.  "config/cube3.yaml" -> {"config", "cube3"}."""
    first, *others = word.split("/")
    return {_study_of(part) for part in (others[:1] if first in WRITTEN and others else [first, *others])}


def _study_of(word: str) -> str:
    """The study in the name of a target or a file.  "cube3-external" -> "cube3"."""
    word = word.removesuffix(".yaml")
    return next((word.removesuffix(f"-{group}") for group in APART if word.endswith(f"-{group}")), word)


def names_of(folder: Path) -> list[str]:
    """The studies of a folder, one per file."""
    return sorted(path.stem for path in folder.glob("*.yaml") if path.name != GROUPS.name)


def without_study(folder: Path) -> list[str]:
    """The puzzles from files that have no study in a folder."""
    return [name for name in names_of_files() if not (folder / f"{name}.yaml").is_file()]


def read(folder: Path, name: str, changes: dict[str, Any] | None = None) -> Study:
    """A study of a folder, by the name of its file; or the default study that every puzzle from a file has."""
    path = folder / f"{name}.yaml"
    if not path.is_file():
        return load_own(name, folder, changes)
    study = load([path], changes)
    refuse_other_name(study.study, path)
    return study


def groups(folder: Path, names: list[str]) -> dict[str, list[str]]:
    """The targets of several studies, by name; UserError if a named study does not exist."""
    path = folder / GROUPS
    found = read_yaml(path) if path.is_file() else {}
    for group, members in found.items():
        if not isinstance(members, list) or not set(members) <= set(names):
            raise UserError(f"{path}: the group {group} must be a list of studies of {folder}, not {members}.")
    return found


def read_by(study: Study) -> list[str]:
    """The other studies whose results a study reads; they are made first."""
    compared = [puzzle.local_vi.compared for puzzle in study.puzzles.values() if puzzle.local_vi]
    return [each.study for each in compared if each is not None and each.study != study.study]
