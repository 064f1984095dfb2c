"""From a study's results to a figure: each function reads frames and hands them to one figure function.

A function bears the name of its kind in the catalogue and takes the folder and what the figure is about.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from costtogo.analysis.variants import last_checkpoints, longest
from costtogo.figures.audits import audit_shares
from costtogo.figures.distances import states_per_distance
from costtogo.figures.hanoi import solution_on_graph
from costtogo.figures.large import scrambled_costs
from costtogo.figures.samplers import sampled_distances
from costtogo.figures.samplers import sampler_difference as difference_bars
from costtogo.figures.searches import nodes_from_start, search_grid, search_seconds
from costtogo.figures.searches import optimal_by_distance as optimal_shares
from costtogo.figures.states import two_states
from costtogo.figures.training import error_by_distance as error_lines
from costtogo.figures.training import last_points as last_losses
from costtogo.figures.training import learning_curve as error_map
from costtogo.figures.training import mean_costs as costs_of_training
from costtogo.figures.training import optimal_by_iteration as shares_of_training
from costtogo.figures.training import training_curve
from costtogo.figures.variants import curves_by_variant, scattered, seeds_by_variant
from costtogo.figures.variants import measures_by_point as points_of_trainings
from costtogo.files import read_csv, read_json
from costtogo.learning.distributions import walk_spread
from costtogo.puzzles import family, make

MANY_TIMES = 10_000  # states at the commonest distance over those at the rarest, from where a logarithmic scale helps
ADAPTIVE = "adaptive_k"  # the sampler whose walks grow with the convergence points
ERROR = "mean absolute error, moves"
WALKED = "walk length\n(effective K)"
START = "start"  # the instance set that holds the start state alone


def states(results: Path, puzzle: str) -> Figure:
    """The goal, and the customary start or else the first of the states farthest from the goal."""
    distance, rules = distance_table(results, puzzle), make(puzzle)
    farthest = rules.unrank(np.array([distance.argmax()]))[0] if rules.start is None else rules.start
    moves = distance[rules.rank(farthest[None])[0]]
    return two_states(rules, {"goal": rules.goal, f"{moves} moves away": farthest})


def distances(results: Path, puzzle: str) -> Figure:
    """States per distance and the instance sets over them."""
    counts = np.bincount(distance_table(results, puzzle))
    frame = pd.DataFrame({"distance": np.arange(counts.size), "states": counts})
    instances = pd.read_parquet(results / "instances" / f"{puzzle}.parquet", columns=["set", "distance"])
    return states_per_distance(frame, instances, logarithmic=counts.max() > MANY_TIMES * counts.min())


def sampler_distances(results: Path, puzzle: str) -> Figure:
    """Distances of the states of deepcube and deepcubea for several K."""
    spread = sampler_spread(results, puzzle)
    return sampled_distances(spread[spread["sampler"] != ADAPTIVE], "K")


def sampler_difference(results: Path, puzzle: str) -> Figure:
    """What deepcubea draws more than deepcube."""
    spread = sampler_spread(results, puzzle)
    return difference_bars(spread[spread["sampler"] != ADAPTIVE], "K")


def effective_k(results: Path, puzzle: str) -> Figure:
    """Distances of the states of adaptive-K for several effective K."""
    spread = sampler_spread(results, puzzle)
    return sampled_distances(spread[spread["sampler"] == ADAPTIVE], "effective K")


def error_by_distance(results: Path, puzzle: str, models: list[str]) -> Figure:
    """Error of each model's selected checkpoint over all states."""
    frames = []
    for model in models:
        errors = pd.read_parquet(results / "audits" / model / "by_distance.parquet")
        errors = errors[errors["scope"] == "all"]
        iteration = shown_iteration(results, model, errors["iteration"])
        frames.append(errors[errors["iteration"] == iteration].assign(label=f"{model}, iteration {iteration:,}"))
    return error_lines(pd.concat(frames))


def error_by_checkpoint(results: Path, model: str) -> Figure:
    """Error of each audited checkpoint of a model over all states."""
    errors = pd.read_parquet(results / "audits" / model / "by_distance.parquet")
    errors = errors[errors["scope"] == "all"].sort_values("iteration", kind="stable")
    pairs = zip(errors["convergence_point"], errors["iteration"], strict=True)
    labels = [f"point {point}, iteration {iteration:,}" for point, iteration in pairs]
    return error_lines(errors.assign(label=labels), ordered=True)


def error_at_point(results: Path, puzzle: str, models: list[str]) -> Figure:
    """Error of all models at the last convergence point that every model with one has reached."""
    frames = {model: pd.read_parquet(results / "models" / model / "errors.parquet") for model in models}
    errors = pd.concat(frames, names=["model"]).reset_index("model")
    if errors.empty:
        return error_lines(errors.assign(label=""))
    shared = errors.groupby("model")["convergence_point"].max().min()
    errors = errors[errors["convergence_point"] == shared]
    labels = errors["model"] + errors["iteration"].map(", iteration {:,}".format)
    return error_lines(errors.assign(label=labels), f"at convergence point {shared}")


def audit(results: Path, puzzle: str, models: list[str]) -> Figure:
    """Admissible and consistent shares of the audited checkpoints of each model."""
    frames = []
    for model in models:
        measures = pd.read_parquet(results / "audits" / model / "measures.parquet")
        frames.append(measures.assign(selected=measures["iteration"] == selected_iteration(results, model)))
    return audit_shares(pd.concat(frames))


def optimal_by_distance(results: Path, puzzle: str, models: list[str]) -> Figure:
    """Optimal solutions of each model at the puzzle's headline λ and N, over the set that tells most."""
    frames = {model: pd.read_parquet(results / "searches" / model / "by_distance.parquet") for model in models}
    shares = pd.concat(frames, names=["label"]).reset_index("label")
    cell = telling_cell(frames[models[0]], headline_cell(results, models[0]))
    return optimal_shares(shares[in_cell(shares, cell)], f"set {cell['set']}, {weight_text(cell)}")


def from_start(results: Path, puzzle: str, models: list[str]) -> Figure:
    """Nodes expanded from the start state, networks beside the exact and the zero heuristic."""
    frames = [
        pd.read_parquet(results / "searches" / name / "grid.parquet").assign(label=name)
        for name in (*models, f"baseline_{puzzle}")
    ]
    cells = pd.concat(frames)
    return nodes_from_start(cells[cells["set"] == START], distance_table(results, puzzle).size)


def training(results: Path, model: str, epsilon: float, sampler: str) -> Figure:
    """Loss over iterations."""
    curve = pd.read_parquet(results / "models" / model / "curve.parquet")
    return training_curve(curve, epsilon, "disks\nthat move" if sampler == "growing_tower" else WALKED)


def kept_training(results: Path, curve: str, epsilon: float) -> Figure:
    """Loss over iterations of a training of another study, which lies outside the results."""
    return training_curve(read_csv(curve), epsilon, WALKED)


def last_points(results: Path, puzzle: str, epsilons: dict[str, float]) -> Figure:
    """Loss around the last convergence points of each model."""
    curves = {model: pd.read_parquet(results / "models" / model / "curve.parquet") for model in epsilons}
    return last_losses({model: (curve, epsilons[model]) for model, curve in curves.items()})


def learning_curve(results: Path, model: str) -> Figure:
    """Error by distance over convergence points."""
    return error_map(pd.read_parquet(results / "models" / model / "errors.parquet"))


def mean_costs(results: Path, model: str, puzzle: str) -> Figure:
    """Loss, and mean cost-to-go over all states, at each audited checkpoint."""
    looks = pd.read_parquet(results / "models" / model / "checkpoints.parquet")[["iteration", "validation_loss"]]
    measures = pd.read_parquet(results / "audits" / model / "measures.parquet")
    mean = distance_table(results, puzzle).mean(dtype=np.float64)
    frame = measures[measures["scope"] == "all"].merge(looks, on="iteration")
    return costs_of_training(frame.assign(cost_to_go=frame["bias"] + mean), mean)


def optimal_by_iteration(results: Path, model: str) -> Figure:
    """Optimal solutions by distance at each audited checkpoint, on the set with most instances."""
    shares = pd.read_parquet(results / "searches" / model / "checkpoints_by_distance.parquet")
    cells = shares.groupby(["set", "path_weight", "batch_size"], as_index=False)["instances"].sum()
    cell = cells.loc[cells["instances"].idxmax()].to_dict()
    return shares_of_training(shares[in_cell(shares, cell)], f"set {cell['set']}, {weight_text(cell)}")


def walk_costs(results: Path, model: str, puzzle: str, walk_max: int) -> Figure:
    """Cost-to-go after so many random moves from the goal, by the exact chance of every state."""
    distance = distance_table(results, puzzle)
    cost_to_go = network_error(results, model, distance) + distance
    return scrambled_costs(pd.DataFrame(walk_spread(make(puzzle), walk_max, cost_to_go, distance)))


def grid(results: Path, model: str, puzzle: str) -> Figure:
    """Optimal solutions and nodes expanded over λ and N, on the set that was searched most widely."""
    network = pd.read_parquet(results / "searches" / model / "grid.parquet")
    baselines = pd.read_parquet(results / "searches" / f"baseline_{puzzle}" / "grid.parquet")
    cells = pd.concat([network, baselines])
    return search_grid(cells[cells["set"] == widest_set(network)])


def seconds(results: Path, model: str) -> Figure:
    """Seconds a search over λ and N, on the same set as the grid where it was timed."""
    timings = pd.read_parquet(results / "timings" / "searches" / f"{model}.parquet")
    timings = timings[timings["heuristic"] == "network"].rename(columns={"searches": "instances"})
    timings["engine"] += "\n" + timings["precision"]
    return search_seconds(timings[timings["set"] == widest_set(timings)])


def way(results: Path, model: str, puzzle: str) -> Figure:
    """The way from start to goal that the greediest search found, over the network's error on every state."""
    found = pd.read_parquet(results / "searches" / model / "searches.parquet")
    found = found[(found["set"] == START) & found["solved"] & (found["heuristic"] == "network")]
    error = network_error(results, model, distance_table(results, puzzle))
    if found.empty:
        return solution_on_graph("", error, label=model)
    greediest = found.sort_values(["path_weight", "batch_size"]).iloc[0]
    return solution_on_graph(greediest["solution"], error, label=f"{model}, {weight_text(greediest)}")


def network_error(results: Path, model: str, distance: np.ndarray) -> np.ndarray:
    """The network's value minus the distance of every state, float [S]."""
    with np.load(results / "audits" / model / "values.npz") as arrays:
        iteration = shown_iteration(results, model, arrays["iteration"])
        row = int(np.flatnonzero(arrays["iteration"] == iteration)[0])
        return arrays["value"][row] - distance


def variants(results: Path, table: str, puzzle: str) -> Figure:
    """Where the repeated trainings of another study ended."""
    last = last_checkpoints(kept_variants(table, puzzle))
    if family(puzzle) == "hanoi":
        first = {column: last[column].iloc[0] for column in ("set", "path_weight", "batch_size")}
        measures = {"mean_absolute_error": ERROR, "nodes_expanded": f"nodes expanded, {weight_text(first)}"}
        last = last[in_cell(last, first)].assign(mean_absolute_error=last["mean_absolute_error"].clip(lower=1e-3))
        return seeds_by_variant(last, f"base_{puzzle}", measures, tuple(measures))
    measures = {"mean_absolute_error": ERROR, "optimal_percent": "optimal, %", "nodes_expanded": "nodes expanded"}
    return seeds_by_variant(last, f"base_{puzzle}", measures, ())


def measures_by_point(results: Path, table: str, puzzle: str) -> Figure:
    """How the repeated trainings of another study changed from one convergence point to the next."""
    frame = searched_variants(table, puzzle)
    measures = {
        "mean_absolute_error": ERROR,
        "rank_correlation": "rank correlation",
        "admissible_percent": "admissible, %",
        "consistent_percent": "consistent, %",
        "optimal_percent": "optimal, %",
        "nodes_expanded": "nodes expanded",
    }
    points = frame[frame["kind"] == "convergence_point"]
    return points_of_trainings(points, longest(points), measures)


def predictors(results: Path, table: str, puzzle: str) -> Figure:
    """Measures of the checkpoints of another study beside what the searches with them found."""
    measures = {
        "mean_absolute_error": "mean absolute\nerror, moves",
        "rank_correlation": "rank\ncorrelation",
        "admissible_percent": "admissible, %",
        "consistent_percent": "consistent, %",
    }
    targets = {"nodes_expanded": "nodes expanded", "optimal_percent": "optimal, %"}
    return scattered(searched_variants(table, puzzle), measures, targets)


def variant_errors(results: Path, table: str, puzzle: str, mean_distance: float) -> Figure:
    """The error over all states as the repeated trainings of another study went on."""
    known = {"label": "error of the zero heuristic", "value": mean_distance}
    return curves_by_variant(kept_variants(table, puzzle), f"base_{puzzle}", "mean_absolute_error", ERROR, known)


def variant_losses(results: Path, table: str, puzzle: str, mean_distance: float) -> Figure:
    """The validation loss as the repeated trainings of another study went on."""
    frame = kept_variants(table, puzzle)
    return curves_by_variant(frame, f"base_{puzzle}", "validation_loss", "validation loss, moves²", None)


def variant_costs(results: Path, table: str, puzzle: str, mean_distance: float) -> Figure:
    """The mean cost-to-go over all states as the repeated trainings of another study went on."""
    frame, known = kept_variants(table, puzzle), {"label": "mean distance", "value": mean_distance}
    frame = frame.assign(cost_to_go=(frame["bias"] + mean_distance).clip(lower=0.1))
    return curves_by_variant(frame, f"base_{puzzle}", "cost_to_go", "mean cost-to-go, moves", known)


def searched_variants(table: str, puzzle: str) -> pd.DataFrame:
    """kept_variants without the trainings that were only audited."""
    return kept_variants(table, puzzle).dropna(subset=["nodes_expanded"])


def kept_variants(table: str, puzzle: str) -> pd.DataFrame:
    """The checkpoints of a puzzle in a table that another study kept, which lies outside the results."""
    frame = read_csv(table)
    return frame[frame["puzzle"] == puzzle]


def sampler_spread(results: Path, puzzle: str) -> pd.DataFrame:
    """Drawn and expected states of each sampler, walk length and distance."""
    return pd.read_parquet(results / "instances" / puzzle / "distributions.parquet")


def distance_table(results: Path, puzzle: str) -> np.ndarray:
    """The exact table: the distance of every state, [S]."""
    with np.load(results / "tables" / f"{puzzle}.npz") as arrays:
        return arrays["distance"]


def selected_iteration(results: Path, model: str) -> int:
    """The iteration of the checkpoint that the searches of a model use."""
    selection = pd.read_parquet(results / "searches" / model / "selection.parquet")
    return int(selection.loc[selection["selected"], "iteration"].iloc[0])


def shown_iteration(results: Path, model: str, audited) -> int:
    """The selected checkpoint's iteration, or the last audited one where the selected one was not audited."""
    selected = selected_iteration(results, model)
    return selected if selected in set(audited) else int(max(audited))


def headline_cell(results: Path, model: str) -> dict:
    """set, path_weight and batch_size of the search that stands for a model, from its card."""
    card = read_json(results / "searches" / f"{model}.json")
    return card["parameters"]["search"]["headline"]


def telling_cell(shares: pd.DataFrame, cell: dict) -> dict:
    """The headline cell; where its set is one instance, the largest set searched with its λ and N instead."""
    alike = shares[in_cell(shares, cell | {"set": shares["set"]})]
    sizes = alike.groupby("set", sort=False)["instances"].sum()
    return cell if sizes[cell["set"]] > 1 else cell | {"set": sizes.idxmax()}


def in_cell(frame: pd.DataFrame, cell: dict) -> pd.Series:
    """Which rows belong to a cell of set, path_weight and batch_size, bool [rows]."""
    return (
        (frame["set"] == cell["set"])
        & np.isclose(frame["path_weight"], cell["path_weight"])
        & (frame["batch_size"] == cell["batch_size"])
    )


def weight_text(cell) -> str:
    """The settings of a search in the literature's letters: "λ = 0.7, N = 5"."""
    return f"λ = {cell['path_weight']:g}, N = {cell['batch_size']}"


def widest_set(cells: pd.DataFrame) -> str:
    """The set searched with the most (λ, N), and of those the one with the most instances."""
    sizes = cells.groupby("set", sort=False)["instances"].agg(["size", "max"])
    return sizes.sort_values(["size", "max"], kind="stable").index[-1]
