"""From the results of a large puzzle's study to a figure: as costtogo.figures.drawings, a function for each kind."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from costtogo.analysis.literature import read_reported, trainings
from costtogo.figures import large
from costtogo.figures.states import two_states
from costtogo.files import read_frame, read_json
from costtogo.puzzles import make

CELL = ["set", "path_weight", "batch_size"]


def large_states(results: Path, puzzle: str, sets: list[str]) -> Figure:
    """The first state of each of up to two sets, or the last where their distances are known to grow."""
    instances, rules, states = read_frame(results / "instances" / f"{puzzle}.parquet"), make(puzzle), {}
    for name in sets[:2]:
        group = instances[instances["set"] == name]
        known = group["distance"].notna().all()
        chosen = group.iloc[-1 if known else 0]
        states[f"{name}: {chosen['distance']:.0f} moves away" if known else name] = rules.parse_state(chosen["state"])
    figure = two_states(rules, states)
    figure.get_layout_engine().set(h_pad=0.1)  # inches, for the names above
    return figure


def loss_curve(results: Path, model: str) -> Figure:
    """Loss over iterations."""
    trainer = read_json(results / "models" / f"{model}.json")["parameters"]["training"].get("trainer")
    quantity = "cross-entropy, nats a press" if trainer == "presses" else "mean squared error, moves²"
    return large.loss_curve(read_frame(results / "models" / model / "curve.parquet"), quantity)


def training_costs(
    results: Path, model: str, study: str, puzzle: str, lineage: list[str], literature: list[str]
) -> Figure:
    """What a model's training cost, with those that it starts from, beside the literature's."""
    states = sum(read_json(results / "models" / f"{name}.json")["metrics"]["states_seen"] for name in lineage)
    timings = [read_json(results / "timings" / "models" / f"{name}.json") for name in lineage]
    seconds = sum(timing["seconds"] + timing.get("earlier_seconds", 0.0) for timing in timings)
    return large.training_costs(trainings(read_reported(literature, puzzle), f"{study}, {model}", seconds, states))


def nearby_audit(results: Path, model: str) -> Figure:
    """The network against the exact table."""
    return large.nearby_audit(read_frame(results / "audits" / model / "nearby.parquet"))


def known_audit(results: Path, model: str) -> Figure:
    """The network against the exact distances of the study's own instances."""
    return large.known_audit(read_frame(results / "audits" / model / "known.parquet"))


def scrambled_costs(results: Path, model: str) -> Figure:
    """Cost-to-go by scramble depth."""
    return large.scrambled_costs(read_frame(results / "audits" / model / "scrambled.parquet"))


def greedy_shares(results: Path, model: str) -> Figure:
    """What greedy search solves over the training."""
    return large.greedy_shares(read_frame(results / "audits" / model / "greedy.parquet"))


def progress(results: Path, model: str) -> Figure:
    """What BWAS finds over the training; the states seen are in proportion to the iterations."""
    searches = read_frame(results / "audits" / model / "progress.parquet")
    seen = read_json(results / "models" / f"{model}.json")["metrics"]["states_seen"]
    states = seen * searches["iteration"] / searches["iteration"].max()
    return large.progress(searches.assign(states=states))


def large_mean_costs(results: Path, model: str) -> Figure:
    """Mean cost-to-go of scrambled states over the training."""
    return large.mean_costs(read_frame(results / "audits" / model / "greedy.parquet"))


def grid_heat_maps(results: Path, model: str, name: str) -> Figure:
    """BWAS over λ and N on a set."""
    grid = read_frame(results / "searches" / model / "grid.parquet")
    return large.grid_heat_maps(grid[grid["set"] == name])


def grid_seconds(results: Path, model: str, name: str) -> Figure:
    """Seconds of BWAS over λ and N on a set."""
    grid = read_frame(results / "searches" / model / "grid.parquet")
    clock = read_frame(results / "timings" / "searches" / f"{model}.parquet")
    cells = grid.merge(clock.groupby(CELL, as_index=False)["seconds"].mean(), on=CELL)
    return large.grid_seconds(cells[cells["set"] == name])


def heuristics_compared(results: Path, heuristics: dict[str, str], name: str) -> Figure:
    """Networks beside baselines on a set; heuristics: the group of the results of each, by name."""
    return large.heuristics_compared(_cells(results, heuristics, name))


def heuristics_seconds(results: Path, heuristics: dict[str, str], name: str) -> Figure:
    """Their seconds."""
    cells, means = _cells(results, heuristics, name), ["heuristic", *CELL[1:]]
    clocks = [
        read_frame(results / "timings" / group / f"{heuristic}.parquet").assign(heuristic=heuristic)
        for heuristic, group in heuristics.items()
    ]
    clock = pd.concat(clocks)
    seconds = clock[clock["set"] == name].groupby(means, as_index=False)["seconds"].mean()
    cells = cells.merge(seconds, on=means)
    return large.heuristics_seconds(cells.assign(nodes_per_second=cells["nodes_generated"] / cells["seconds"]))


def _cells(results: Path, heuristics: dict[str, str], name: str) -> pd.DataFrame:
    """The cells of BWAS on a set over each heuristic; optimal_length is NaN where an optimum is not known."""
    frames = [
        read_frame(results / group / heuristic / "grid.parquet").assign(heuristic=heuristic)
        for heuristic, group in heuristics.items()
    ]
    cells = pd.concat(frames, ignore_index=True)
    cells = cells[cells["set"] == name]
    return cells.assign(optimal_length=cells["optimal_length"].where(cells["known"] == cells["instances"]))


def beam_lengths(results: Path, model: str, sets: list[str]) -> Figure:
    """Beam widths on the sets whose distances are not known."""
    grid = read_frame(results / "beams" / model / "grid.parquet")
    return large.beam_lengths(grid[grid["set"].isin(sets)])


def beam_seconds(results: Path, model: str, sets: list[str]) -> Figure:
    """Seconds of those searches."""
    searches = read_frame(results / "beams" / model / "searches.parquet")
    clock = read_frame(results / "timings" / "beams" / f"{model}.parquet")
    timed = searches.merge(clock, on=["set", "width", "instance"])
    return large.beam_seconds(timed[timed["set"].isin(sets)])


def prefix_lengths(results: Path, model: str, name: str) -> Figure:
    """Beam search from the beginnings of a shortest path."""
    searches = read_frame(results / "beams" / model / "searches.parquet")
    return large.prefix_lengths(searches[searches["set"] == name])


def external_excess(results: Path, model: str, noun: str) -> Figure:
    """External instances beside their optima."""
    return large.external_excess(read_frame(results / "external" / model / "searches.parquet"), noun)
