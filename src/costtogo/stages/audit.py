"""Audit of a model's checkpoints, on every state and on a sample: results/<study>/audits/<model>/."""

from pathlib import Path

import numpy as np
import pandas as pd

from costtogo.analysis.audit import Findings, audit, measures, measures_by_distance, share_intervals
from costtogo.analysis.policies import audit_policy
from costtogo.exact.graph import neighbour_table, walk_ranks
from costtogo.files import read_frame, write_arrays
from costtogo.heuristics.network import load
from costtogo.heuristics.table import tabulate, tabulate_policy
from costtogo.params.audits import ExhaustiveAudit
from costtogo.progress import say
from costtogo.stages.stage_run import StageRun
from costtogo.stages.tables import read_table


def run(params: Path, table: Path, model: Path, out: Path) -> None:
    """Evaluate each listed checkpoint on all states once; model is the folder of a training."""
    inputs = [table, model / "checkpoints.parquet", *sorted(model.glob("checkpoints/*.safetensors"))]
    stage = StageRun("audit", __name__, params, out, inputs)
    wanted, puzzle = ExhaustiveAudit(**stage.parameters["audit"]), stage.puzzle
    distance, neighbours = read_table(table, puzzle), neighbour_table(puzzle)
    walks = walk_ranks(puzzle, wanted.walks, wanted.walk_max, np.random.default_rng(stage.parameters["seed"]))
    sample, walk = walks.ravel(), np.repeat(np.arange(len(walks)), walks.shape[1])
    checkpoints = wanted_checkpoints(read_frame(model / "checkpoints.parquet"), wanted)
    rows, rows_by_distance, values, policies, of_policy = [], [], [], [], {}
    for checkpoint in checkpoints.itertuples():
        network = load(model / checkpoint.file, device=stage.device)
        with stage.part("evaluation"):
            evaluated = tabulate_policy(puzzle, network) if network.has_policy else (tabulate(puzzle, network), None)
        heuristic, prior = evaluated
        values.append(heuristic.values)
        if prior is not None:
            found, of_policy = audit_policy(prior, heuristic.values, distance, neighbours)
            place = {"iteration": checkpoint.iteration, "convergence_point": checkpoint.convergence_point}
            policies.append(found.assign(**place)[[*place, *found.columns]])
        findings = audit(values[-1], distance, neighbours)
        for scope, part in {"all": findings, "sample": findings.at(sample)}.items():
            place = {
                "iteration": checkpoint.iteration,
                "convergence_point": checkpoint.convergence_point,
                "scope": scope,
            }
            found = {**measures(part), "rank_correlation": part.rank_correlation}
            intervals = share_intervals(part, walk) if scope == "sample" else {}
            rows.append({"model": out.name, **place, **found, **intervals})
            rows_by_distance += [{**place, **row} for row in measures_by_distance(part)]
        say(describe(out.name, checkpoint.iteration, findings))
    write_arrays(out / "values.npz", iteration=checkpoints["iteration"].to_numpy(), value=np.stack(values))
    tables = {"measures": pd.DataFrame(rows), "by_distance": pd.DataFrame(rows_by_distance)}
    tables |= {"policy": pd.concat(policies, ignore_index=True)} if policies else {}
    metrics = card_metrics(rows) | {f"last_policy_{name}": value for name, value in of_policy.items()}
    stage.finish_tables(tables, metrics, others=[out / "values.npz"])


def wanted_checkpoints(checkpoints: pd.DataFrame, wanted: ExhaustiveAudit) -> pd.DataFrame:
    """The checkpoints of the wanted convergence points and iterations, where there are any, and the last few wanted.

    The last of all where that leaves none.
    """
    at_point = checkpoints["convergence_point"].isin(wanted.points) & (checkpoints["kind"] == "convergence_point")
    at_point |= checkpoints["iteration"].isin(wanted.iterations)
    last = max(wanted.checkpoints, 0 if at_point.any() else 1)
    return checkpoints[at_point | (np.arange(len(checkpoints)) >= len(checkpoints) - last)]


def describe(name: str, iteration: int, findings: Findings) -> str:
    """One line on a checkpoint, over all states."""
    found = measures(findings)
    return (
        f"{name} at iteration {iteration}: admissible {found['admissible_percent']:.2f} %, consistent "
        f"{found['consistent_percent']:.2f} %, mean absolute error {found['mean_absolute_error']:.3f} moves"
    )


def card_metrics(rows: list[dict]) -> dict[str, float]:
    """The measures of the last checkpoint, by scope; the searches may use another."""
    last = {row["scope"]: row for row in rows}
    names = (
        "admissible_percent",
        "overestimation_mean",
        "overestimation_max",
        "consistent_percent",
        "mean_absolute_error",
        "descending_percent",
        "rank_correlation",
    )
    return {f"last_{scope}_{name}": row[name] for scope, row in last.items() for name in names}
