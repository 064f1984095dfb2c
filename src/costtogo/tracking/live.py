"""Training as it happens: a run that log_card later finds by its key and completes."""

from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from costtogo.tracking import record
from costtogo.tracking.client import create_run, experiment_id, log_names, log_points, runs_of_key
from costtogo.tracking.faults import best_effort
from costtogo.tracking.place import enabled
from costtogo.tracking.record import Card
from costtogo.tracking.store import session


class LiveRun:
    """The live record of one training; any failure is one warning on stderr, then silence.

    card: the fields of the card known before training: stage, study, group, name, parameters, inputs,
    code and, if at hand, versions. A result that is already recorded in full is left alone.
    """

    def __init__(self, root: Path, card: Card) -> None:
        self.run_id: str | None = None
        self._convergence_points: int | None = 0  # so far; None where an earlier process counted them
        self._root = Path(root)
        self._card = record.placed(card, self._root)
        if enabled():
            with self._best_effort():
                self._open(self._root, self._card)

    def log(self, rows: list[dict[str, Any]]) -> None:
        """Log rows of the curve (iteration, convergence_points, loss, …), thinned as the file will be."""
        import pandas

        if not self.run_id or not rows:
            return
        run_id, self.run_id = self.run_id, None
        with self._best_effort():
            before = self._convergence_points
            before = rows[0]["convergence_points"] if before is None else before
            points = record.curve_points(pandas.DataFrame(rows), self._card, before)
            log_points(self._client, run_id, points)
            self._convergence_points = rows[-1]["convergence_points"]
            self.run_id = run_id

    def close(self, status: str = "FINISHED") -> None:
        """End the run: FINISHED, FAILED or KILLED; log_card completes it in any case."""
        run_id, self.run_id = self.run_id, None
        if run_id:
            with self._best_effort():
                self._client.set_terminated(run_id, status)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close("FAILED" if error else "FINISHED")

    def _best_effort(self) -> AbstractContextManager[None]:
        return best_effort(f"The training of {self._card['name']}", self._root)

    def _open(self, root: Path, card: Card) -> None:
        with session(root) as client:
            experiment = experiment_id(client, card["study"], root)
            known = runs_of_key(client, experiment, card)
            if any("logged" in run.data.tags for run in known):
                return
            partial = [run for run in known if "superseded" not in run.data.tags]
            run = partial[0] if partial else create_run(client, experiment, card)
            self._convergence_points = None if partial else 0
            client.update_run(run.info.run_id, status="RUNNING")
            log_names(client, run.info.run_id, record.flat_parameters(card["parameters"]), {})
        self._client, self.run_id = client, run.info.run_id
