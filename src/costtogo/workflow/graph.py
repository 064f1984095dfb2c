"""The graph that Snakemake runs: all studies' stages, what each reads, and the targets that people name."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costtogo import sources
from costtogo.external_files import find, folder
from costtogo.files import recall, write_json
from costtogo.params.loading import DEFAULT, load, load_own, refuse_other_name
from costtogo.params.reading import read_yaml
from costtogo.params.study import Study
from costtogo.puzzles import names_of_files
from costtogo.recipes import RECIPES, Mark
from costtogo.types import UserError
from costtogo.workflow.stages import APART, Stage, stages_of
from costtogo.workflow.state import State

MARKS = Path(".snakemake/costtogo/marks.json")  # of the run that goes on in this folder, for its jobs elsewhere
GROUPS = Path("groups.yaml")  # beside the studies of config/: targets of several studies
PARTS = {  # targets of the study that is run, and what they say when they are reached
    "tables": "The exact tables are complete.",
    "instances": "The instance sets are complete.",
    "models": "The trainings are complete.",
    "audits": "The audits are complete.",
    "searches": "The searches are complete.",
    "figures": "The figures are complete.",
}


@dataclass(frozen=True)
class Target:
    """What a user may ask for: a name, the marks of the stages it stands for, and a sentence for its end."""

    name: str
    marks: list[str]
    message: str


class Graph:
    """The stages of the study that is run and of studies of a folder, in an order in which they can be made.

    Made from what files say, without a look at results.  What is finished is read when it is asked for.
    files: those of the study that is run, later ones over earlier ones, but one of the folder stands for itself;
    changes: values laid over them; folder: config/; words: of the command line, which name studies of the folder or
    their files, or groups; all if left out.  job: whether this is a process on another machine that makes one stage of
    a run: then its marks and recipes are those that the run has named, whatever has changed since.
    Raises UserError where parameters are wrong.
    """

    def __init__(
        self,
        files: Iterable[Path],
        folder: Path,
        changes: dict[str, Any] | None = None,
        words: Iterable[str] | None = None,
        job: bool = False,
    ):
        self.study = load(_laid_over(list(map(Path, files)), folder), changes)
        self.names = [name for name in [*names_of(folder), *without_study(folder)] if name != self.study.study]
        self._groups = groups(folder, [*self.names, self.study.study])
        self._studies = {self.study.study: self.study}
        self._studies |= {name: read(folder, name) for name in self._asked(words)}
        for name in {other for study in self._studies.values() for other in read_by(study)} - set(self._studies):
            self._studies[name] = read(folder, name)
        self.stages: list[Stage] = []
        for study in sorted(self._studies.values(), key=lambda study: len(read_by(study))):
            self.stages += stages_of(study, self.stages)
        self._written: set[str] = set()  # studies whose recipes are there
        self._last = {stage.study: stage for stage in self.stages if stage.group == "report"}
        self._state = State(self.stages)
        told = recall(MARKS) if job else {}
        self._marks = {stage.id: told.get(stage.id) or str(self._state.mark(stage)) for stage in self.stages}
        self._state.remember()
        sources.remember()

    def begin(self) -> None:
        """Write down the marks that this run is about to make, for its jobs on other machines."""
        write_json(MARKS, self._marks)

    def mark(self, stage: Stage) -> str:
        """The mark that says that a stage is finished."""
        return self._marks[stage.id]

    def reads(self, stage: Stage) -> list[str]:
        """The recipe of a stage, the marks of those it needs, further files.

        All recipes of its study are written here, if they are not there: Snakemake looks into their folders once.

        A finished stage does not wait for one that lost a file: under the same key the same comes out. If it does not,
        as on another processor, the next start finds that the stage was made from something else (State).
        Raises UserError where external instances are missing.
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
        """UserError where a stage asks for cuda that is not on this machine; rules: names of those of stages to run."""
        asked = set(rules)
        for parameters in (stage.parameters for stage in self.stages if stage.rule in asked):
            if parameters.get("device") == "cuda":
                from costtogo.heuristics.network import present  # loads torch, which few starts need

                present("cuda", parameters.get("training", {}).get("processes", 1))

    def command(self, stage: Stage) -> str:
        """The command that makes a stage; it runs by hand too."""
        return f"costtogo stage {stage.module} --params {self._recipe(stage)} {stage.options}"

    def plan(self, stage: Stage) -> str:
        """The recipe that needs all other stages of a stage's study, from which a stage tells how many are finished."""
        return self._recipe(self._last[stage.study])

    def message(self, stage: Stage) -> str:
        """What a stage does and, where a result lies there already, why it is made again; as Snakemake formats it."""
        told = stage.message if stage.study == self.study.study else f"{stage.study}: {stage.message}"
        if (reason := self._state.reason(stage)) not in ("", "new"):
            told += f"\n    because: {reason}"
        return told.replace("{", "{{").replace("}", "}}")

    def _asked(self, words: Iterable[str] | None) -> list[str]:
        """The studies of the folder that words name, themselves or as part of a file's path or of a group."""
        if words is None:
            return self.names
        said = list(words)
        said += [name for group, members in self._groups.items() if group in said for name in members]
        parts = {_study_of(part) for word in said for part in word.split("/")}
        return [n for n in self.names if n in parts or any(part.startswith(f"{n}_") for part in parts)]

    @property
    def targets(self) -> list[Target]:
        """What a user may ask for by name; `all` is in the Snakefile."""
        own = self.study.study
        parts = [Target(name, self.marks_of(own, name), message) for name, message in PARTS.items()]
        parts.append(Target("report", self.marks_of(own), f"The report is complete: reports/{own}/report.md."))
        told = "Study {0} is complete: read reports/{0}/report.md."
        names = [name for name in [own, *self.names] if name != DEFAULT]
        studies = [Target(name, self.marks_of(name), told.format(name)) for name in names]
        for group, members in self._groups.items():
            reports = f"Target {group} is complete: read the reports of {', '.join(members)}."
            studies.append(Target(group, [path for name in members for path in self.marks_of(name)], reports))
        for name, group in dict.fromkeys((stage.study, stage.group) for stage in self.stages if stage.apart):
            studies.append(Target(f"{name}-{group}", self.marks_of(name, group), APART[group].format(name)))
        return parts + studies

    def marks_of(self, study: str, group: str | None = None) -> list[str]:
        """The marks of a study's stages, or of those of a group; stages apart are a target of their own."""
        chosen = [stage for stage in self.stages if stage.study == study]
        chosen = [stage for stage in chosen if (stage.group == group if group else not stage.apart)]
        return [self.mark(stage) for stage in chosen]

    def _recipe(self, stage: Stage) -> str:
        """The recipe of a stage, which is named as its mark is."""
        return str(RECIPES / stage.study / stage.group / f"{Path(self.mark(stage)).stem}.json")


def _laid_over(files: list[Path], folder: Path) -> list[Path]:
    """The files of a study without those before the last one of a folder, which is a study by itself."""
    whole = [number for number, path in enumerate(files) if path.resolve().parent == folder.resolve()]
    return files[whole[-1] :] if whole else files


def _study_of(word: str) -> str:
    """The study that a target or the name of a file is about.  "cube3-external" -> "cube3"."""
    word = word.removesuffix(".yaml")
    return next((word.removesuffix(f"-{group}") for group in APART if word.endswith(f"-{group}")), word)


def names_of(folder: Path) -> list[str]:
    """The studies of a folder, each a file."""
    return sorted(path.stem for path in folder.glob("*.yaml") if path.name != GROUPS.name)


def without_study(folder: Path) -> list[str]:
    """The puzzles that files describe and that have no study of their own in a folder."""
    return [name for name in names_of_files() if not (folder / f"{name}.yaml").is_file()]


def read(folder: Path, name: str) -> Study:
    """A study of a folder, which goes by the name of its file; or the one that a puzzle's file has at once."""
    path = folder / f"{name}.yaml"
    if not path.is_file():
        return load_own(name, folder)
    study = load([path])
    refuse_other_name(study.study, path)
    return study


def groups(folder: Path, names: list[str]) -> dict[str, list[str]]:
    """The targets of several studies, by name; UserError where a study that one names is not there."""
    path = folder / GROUPS
    found = read_yaml(path) if path.is_file() else {}
    for group, members in found.items():
        if not isinstance(members, list) or not set(members) <= set(names):
            raise UserError(f"{path}: the group {group} must be a list of studies of {folder}, not {members}.")
    return found


def read_by(study: Study) -> list[str]:
    """The other studies whose results a study reads, which come first."""
    compared = [puzzle.local_vi.compared for puzzle in study.puzzles.values() if puzzle.local_vi]
    return [each.study for each in compared if each is not None and each.study != study.study]
