"""Which stages are finished, and why the others must run: read from marks and cards, without changing anything.

A stage is finished if a mark has today's key, its card and files are unchanged, and the stages before it still have the
outputs that it read. A file that is not younger than its card is assumed to be whole, and so is a file whose digest was
right at the last check: .snakemake/costtogo/compared.json remembers these checks.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from costtogo.files import FileError, digest, json_text, read_json, recall, write_json
from costtogo.recipes import Mark, mark_path, marks, shortened
from costtogo.workflow.stages import Stage

COMPARED = Path(".snakemake/costtogo/compared.json")
ABSENT = object()  # a parameter that only one of two slices has
SHOWN = 3  # changed parameters or files that a reason names


class State:
    """Which of some stages are finished."""

    def __init__(self, stages: Iterable[Stage]):
        self.stages = {stage.id: stage for stage in stages}
        self._known = recall(COMPARED)
        self._reasons: dict[str, str] = {}
        self._outputs: dict[str, dict[str, str]] = {}

    def reason(self, stage: Stage) -> str:
        """The reason to run a stage; empty if it is finished, "new" if it never was."""
        if stage.id not in self._reasons:
            self._reasons[stage.id] = self._find(stage)
        return self._reasons[stage.id]

    def mark(self, stage: Stage) -> Path:
        """The mark of a finished stage, or the mark that an unfinished stage will get."""
        own = [mark for mark in marks(stage.folder, stage.name) if mark.key == stage.recipe.key]
        if own and not self.reason(stage):
            return own[-1].path
        return mark_path(stage.folder, stage.name, stage.recipe.key, own[-1].time + 1 if own else 1)

    def remember(self) -> None:
        """Save which files have been compared, if there are new ones."""
        if self._known != recall(COMPARED):
            write_json(COMPARED, self._known)

    def _find(self, stage: Stage) -> str:
        found = marks(stage.folder, stage.name)
        own = [mark for mark in found if mark.key == stage.recipe.key]
        try:
            if not own:
                return self._changed(stage, found)
            return next(self._damaged(stage, own[-1]), "") or next(self._read_others(stage), "")
        except FileError as error:
            return str(error)

    def _damaged(self, stage: Stage, mark: Mark) -> Iterator[str]:
        """Files that are missing or no longer as the stage wrote them."""
        content = mark.content
        for path, written in {stage.card: content["card"], **content["timings"]}.items():
            yield from self._compare(Path(path), written, mark.path)
        for path, written in self._outputs_of(stage).items():
            yield from self._compare(Path(path), written, Path(stage.card))

    def _compare(self, path: Path, written: str, witness: Path) -> Iterator[str]:
        """A sentence if a file is not as it was written; witness: the file with its digest, written after it."""
        try:
            status = path.stat()
        except OSError:
            yield f"{path} is gone"
            return
        seen = [status.st_mtime_ns, status.st_size, written]
        if self._known.get(str(path)) == seen or status.st_mtime_ns <= witness.stat().st_mtime_ns:
            return
        if digest(path) != written:
            yield f"{path} is not what its stage wrote (cut off or changed since)"
        else:
            self._known[str(path)] = seen

    def _read_others(self, stage: Stage) -> Iterator[str]:
        """Inputs that earlier stages have written again since the stage read them, with another result."""
        read = _table(read_json(stage.card).get("inputs"))
        for need in stage.needs:
            written = self._outputs_of(need) if Path(need.card).exists() else {}
            for path in sorted(read.keys() & written.keys()):
                if read[path] != written[path]:
                    yield f"{path} is another than the one it was made from"
            if need.card in read and Path(need.card).exists() and read[need.card] != digest(need.card):
                yield f"{need.card} is another than the one it was made from"

    def _wrote_anew(self, need: Stage, read: dict[str, str]) -> bool:
        """True if a stage has written other files since they were read."""
        written = self._outputs_of(need) if Path(need.card).exists() else {}
        return any(read.get(path, now) != now for path, now in written.items())

    def _outputs_of(self, stage: Stage) -> dict[str, str]:
        if stage.id not in self._outputs:
            self._outputs[stage.id] = _table(_table(read_json(stage.card)).get("outputs"))
        return self._outputs[stage.id]

    def _changed(self, stage: Stage, found: list[Mark]) -> str:
        """The differences between the recipe and that of the existing result."""
        card = Path(stage.card)
        if not found or not card.exists():
            return "new"
        before = _table(read_json(card))
        names = list(_differences(_table(before.get("parameters")), json.loads(json_text(stage.parameters))))
        if names:
            return shortened(names, SHOWN)
        code = {name for name, _ in _table(found[-1].content["code"]).items() ^ stage.recipe.code.items()}
        if code:
            return f"code: {shortened(sorted(code), SHOWN)}"
        read = _table(before.get("inputs"))
        files = [path for path in stage.files if read.get(path, "") != stage.recipe.files[path]]
        upstream = [need.id for need in stage.needs if self.reason(need) or self._wrote_anew(need, read)]
        return f"after {shortened(upstream, SHOWN)}" if upstream else f"files: {shortened(files, SHOWN)}"


def _table(value: Any) -> dict:
    """The value if it is a table; FileError otherwise, since then nothing is known."""
    if not isinstance(value, dict):
        raise FileError("its card is damaged")
    return value


def _differences(before: dict[str, Any], now: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Each parameter that differs, with both values.  -> "training.epsilon 0.05 → 0.2"."""
    for name in sorted({*before, *now}):
        old, new = before.get(name, ABSENT), now.get(name, ABSENT)
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            old, new = dict(enumerate(old)), dict(enumerate(new))
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{prefix}{name}.")
        elif old != new:
            yield f"{prefix}{name} {_shown(old)} → {_shown(new)}"


def _shown(value: Any) -> str:
    """A value in a few characters."""
    text = "none" if value is ABSENT else str(value)
    return text if len(text) <= 30 else f"{text[:27]}…"
