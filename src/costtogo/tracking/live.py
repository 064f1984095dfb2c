"""The live run of a training; the run of the finished stage replaces it."""

from pathlib import Path
from typing import Any, Self

from costtogo.tracking import record, runs
from costtogo.tracking.faults import best_effort
from costtogo.tracking.location import clone, enabled
from costtogo.tracking.record import Card
from costtogo.tracking.store import session


class LiveRun:
    """The live record of one training; a failure is one warning on stderr, then silence.

    card: the fields of the card known before training: stage, study, group, name, parameters, inputs,
    code and, if known, versions. A result that is already recorded stays as it is.
    """

    def __init__(self, root: Path, card: Card) -> None:
        self.run_id: str | None = None
        self._root = Path(root)
        self._card = record.placed(card, self._root)
        self._subject = f"the training of {card['name']}"
        if enabled():
            with best_effort(self._subject, self._root), session(self._root) as client:
                self._client, self.run_id = client, self._begin(client)

    def log(self, rows: list[dict[str, Any]]) -> None:
        """Log rows of the curve (iteration, loss, …), thinned like those of the finished stage."""
        import pandas

        if self.run_id and rows and enabled():
            with best_effort(self._subject, self._root):
                runs.log(self._client, self.run_id, record.SERIES["curve"].points(pandas.DataFrame(rows)))

    def close(self, status: str = "FINISHED") -> None:
        """End the run: FINISHED, FAILED or KILLED."""
        run_id, self.run_id = self.run_id, None
        if run_id and enabled():
            with best_effort(self._subject, self._root):
                self._client.set_terminated(run_id, status)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close("FAILED" if kind else "FINISHED")

    def _begin(self, client) -> str | None:
        """The id of the new run, which replaces unfinished ones; None if the result is already recorded."""
        card = self._card
        experiment = runs.experiment_id(client, card["study"], self._root)
        same = runs.find(client, experiment, card, {"key": record.run_key(card)})
        if any("logged" in run.data.tags for run in same):
            return None
        unfinished = runs.find(client, experiment, card, runs.stage_of(card) | {runs.RESULT: runs.UNFINISHED})
        runs.delete_unfinished(client, unfinished, self._root)
        run = runs.create_run(client, experiment, card, record.tags(card, {}) | clone(self._root))
        runs.log(client, run.info.run_id, {}, record.flat_parameters(card["parameters"]))
        runs.name_runs(client, experiment, card)
        return run.info.run_id
