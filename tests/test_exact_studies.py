"""Pattern databases and exact optima as stages of a study, and BWAS over them, held against all of the 8-puzzle."""

import json
from functools import partial
from math import perm
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messages import is_one_sentence
from stage_recipes import write_recipe
from synthetic_large import CONFIG, study_of, write_results
from synthetic_study import whole

from costtogo.exact import cosets
from costtogo.exact.nearby import nearby_table
from costtogo.exact.partition import parse_partition
from costtogo.exact.pattern_database import build, load
from costtogo.files import read_frame, read_json, write_arrays, write_frame
from costtogo.heuristics import network
from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.pattern_database import PatternDatabaseHeuristic
from costtogo.params.loading import load as load_study
from costtogo.params.slices import slices
from costtogo.params.study import alone
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.puzzles.base import random_walks, solves
from costtogo.search.action_engine import solve_by_action
from costtogo.search.bwas import Limits
from costtogo.search.pool import Rules
from costtogo.search.step_engine import solve_in_step
from costtogo.stages import audit_samples, footprints, pattern_databases
from costtogo.stages.search import grids, optima
from costtogo.tables.results import StudyResults
from costtogo.tables.searches import best_cell, compared, heuristics, speeds
from costtogo.types import UserError

EIGHT = make("puzzle8")
DEPTH = 3  # of the exact table around the goal
LOOSE = "2-3-3"  # so small that values fall by more than one from a state to the next
GRID = {"solver": "bwas", "set": "some", "path_weight": [0.5, 1.0], "batch_size": [1, 7], "max_nodes": 300_000}


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    """Every hundredth board of the 8-puzzle in the order of ranks, uint8 [N, 9]."""
    return EIGHT.unrank(np.arange(0, EIGHT.state_count, 1000))


@pytest.fixture
def project(tmp_path, monkeypatch, boards) -> Path:
    """The folder results/eight with an exact table around the goal and two sets of instances."""
    monkeypatch.chdir(tmp_path)
    results, table = Path("results/eight"), nearby_table(EIGHT, DEPTH)
    write_arrays(results / "tables/puzzle8.npz", keys=table.keys, distance=table.distance, layers=table.layers)
    near = EIGHT.expand(EIGHT.goal[None])[0][0][EIGHT.legal(EIGHT.goal[None])[0]]
    write_frame(results / "instances/puzzle8.parquet", pd.concat([rows("some", boards), rows("near", near, 1.0)]))
    return results


def rows(name: str, states: np.ndarray, distance: float = np.nan) -> pd.DataFrame:
    texts = [EIGHT.format_state(state) for state in states]
    return pd.DataFrame({"set": name, "instance": np.arange(len(states)), "state": texts, "distance": distance})


def recipe_of(module: str, out: Path, **values) -> Path:
    """The recipe of a stage that makes out, without suffix."""
    common = {"study": "eight", "puzzle": "puzzle8", "threads": 1, "device": "cpu"}
    return write_recipe(module, out.with_suffix(""), common | values)


def built(project: Path, partition: str = LOOSE) -> Path:
    """A pattern database that the stage has made."""
    out = project / "pattern_databases" / "small.npz"
    pattern_databases.run(recipe_of("pattern_databases", out, partition=partition), out)
    return out


def solved_exactly(project: Path, threads: int = 1, **limits) -> Path:
    out, database = project / "optima/puzzle8.parquet", built(project)
    wanted = {"pattern_database": "small"} | limits
    recipe = recipe_of("search.optima", out, optima=wanted, threads=threads)
    optima.run(recipe, out, project / "instances/puzzle8.parquet", database)
    return out


def contents(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and not {"timings", "done"} & {*path.parts}]
    return {str(path): path.read_bytes() for path in paths}


def test_a_database_that_a_stage_builds_is_that_of_its_partition_and_its_card_tells_its_size(project):
    path = built(project)
    np.testing.assert_array_equal(load(path).values, build(3, LOOSE).values)
    metrics = read_json(path.with_suffix(".json"))["metrics"]
    placings = perm(9, 2) + 2 * perm(9, 3)
    assert (metrics["patterns"], metrics["largest_pattern"], metrics["tables"]) == (3, 3, 3)
    assert metrics["placings"] == placings < metrics["bytes"] == path.stat().st_size
    timing = read_json(project / "timings/pattern_databases/small.json")
    assert timing["peak_memory_bytes"] > placings and timing["parts"]["backward search"] > 0


def test_optima_are_the_distances_of_the_8_puzzle_and_take_the_place_of_unknown_ones(project, boards, distances_of):
    found = read_frame(solved_exactly(project))
    distance = distances_of("puzzle8")[EIGHT.rank(boards)]
    np.testing.assert_array_equal(found.loc[found["set"] == "some", "distance"], distance)
    assert found["solved"].all() and (found.loc[found["set"] == "near", "distance"] == 1).all()
    states = np.array([EIGHT.parse_state(text) for text in found["state"]])
    assert solves(EIGHT, states, [EIGHT.parse_moves(text) for text in found["solution"]]).all()
    metrics = read_json(project / "optima/puzzle8.json")["metrics"]
    assert metrics["some_solved_percent"] == 100 and metrics["some_length"] == pytest.approx(distance.mean())


def test_what_is_not_solved_within_the_limit_stays_unknown_and_is_counted(project, boards, distances_of):
    found = read_frame(solved_exactly(project, max_generated=200))
    some, distance = found[found["set"] == "some"], distances_of("puzzle8")[EIGHT.rank(boards)]
    assert 0 < some["solved"].sum() < len(some) and (some["nodes_generated"] <= 200).all()
    assert (some["distance"].notna() == some["solved"]).all() and (some["lower_bound"] <= distance).all()
    np.testing.assert_array_equal(some["distance"][some["solved"]], distance[some["solved"]])
    share = read_json(project / "optima/puzzle8.json")["metrics"]["some_solved_percent"]
    assert share == pytest.approx(100 * some["solved"].mean())


def test_optima_are_the_same_to_the_byte_when_they_are_found_again(project):
    solved_exactly(project)
    first = contents(project)
    solved_exactly(project)
    assert contents(project) == first


def test_boards_solved_side_by_side_are_told_in_their_order(project):
    alone = read_frame(solved_exactly(project))
    pd.testing.assert_frame_equal(read_frame(solved_exactly(project, threads=2)), alone)


def test_a_distance_that_was_known_and_is_another_one_is_told(project):
    instances = project / "instances/puzzle8.parquet"
    write_frame(instances, rows("wrong", EIGHT.unrank(np.array([7])), 3.0))
    with pytest.raises(UserError, match="of the set wrong is solved in .* moves, not in the 3 that were known") as told:
        solved_exactly(project)
    assert is_one_sentence(str(told.value))


def test_optima_of_lights_out_are_the_distances_of_all_its_boards(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lights = make("lights_out_3")
    states = (np.arange(512)[:, None] >> np.arange(9) & 1).astype(np.uint8)
    table, texts = nearby_table(lights, 9), [lights.format_state(state) for state in states]
    frame = pd.DataFrame({"set": "all", "instance": np.arange(512), "state": texts, "distance": np.nan})
    write_frame(Path("results/lights/instances/lights_out_3.parquet"), frame)
    out = Path("results/lights/optima/lights_out_3.parquet")
    recipe = recipe_of("search.optima", out, puzzle="lights_out_3", optima={})
    optima.run(recipe, out, Path("results/lights/instances/lights_out_3.parquet"))
    np.testing.assert_array_equal(read_frame(out)["distance"], table(states))


def test_optima_of_cubes_are_those_of_another_method_and_unknown_where_the_seconds_are_up(tmp_path, monkeypatch):
    """Over a table of the nearest cosets, which is made at once; the search from both ends reaches five moves."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("costtogo.search.optimal.SLICE", 20_000)
    monkeypatch.setattr(optima, "build", partial(cosets.build, near_share=1e-5))
    cube, found = make("cube3"), {}
    walks = [random_walks(cube, 4, moves, np.random.default_rng(moves))[:, -1] for moves in (6, 7, 8, 40)]
    near, states = np.concatenate(walks[:3]), np.concatenate(walks)[:-3]
    instances = {"set": ["near"] * len(near) + ["far"], "instance": [*range(len(near)), 0]}
    texts = {"state": [cube.format_state(state) for state in states], "distance": np.nan}
    write_frame(Path("results/cubes/instances/cube3.parquet"), pd.DataFrame(instances | texts))
    for name, asked in {
        "table": {"table": "small", "seconds": 0.5, "around": 2},
        "both ends": {"sets": ["near"], "around": 5},
    }.items():
        out = Path(f"results/cubes/{name}/cube3.parquet")
        optima.run(
            recipe_of("search.optima", out, puzzle="cube3", optima=asked),
            out,
            Path("results/cubes/instances/cube3.parquet"),
        )
        found[name] = read_frame(out).set_index("set")
    other = found["both ends"].loc["near"]
    assert other["solved"].all() and (other["distance"].max() > 5)
    np.testing.assert_array_equal(found["table"].loc["near"]["distance"], other["distance"])
    far = found["table"].loc[["far"]]
    assert not far["solved"].any() and far["distance"].isna().all() and far["lower_bound"].between(7, 26).all()


def test_a_network_is_audited_at_every_distance_that_is_known(boards, distances_of):
    distance = distances_of("puzzle8")[EIGHT.rank(boards)].astype(np.float64)
    known = np.where(np.arange(len(boards)) % 3 == 0, distance, np.nan)
    sets = {"some": (rows("some", boards).assign(distance=known), boards)}
    added = {"exact": 0.0, "high": 2.0, "low": -1.0}

    def heuristic(more):
        return lambda states: (distances_of("puzzle8")[EIGHT.rank(states)] + more).astype(np.float32)

    for name, more in added.items():
        found = audit_samples.audit_known(heuristic(more), sets)
        assert found["states"].sum() == np.isfinite(known).sum()
        assert found["distance"].tolist() == sorted(set(known[np.isfinite(known)]))
        assert (found["admissible_percent"] == 100 * (more <= 0)).all(), name
        assert (found["bias"] == more).all() and (found["mean_absolute_error"] == abs(more)).all()
        assert (found["overestimation_max"] == max(more, 0)).all()
        np.testing.assert_array_equal(found["mean_cost_to_go"], found["distance"] + more)
    assert audit_samples.audit_known(heuristic(0), {"none": (rows("none", boards), boards)}).empty


def test_the_databases_of_these_tests_are_not_consistent(boards):
    heuristic = PatternDatabaseHeuristic(EIGHT, build(3, LOOSE), reflected=False)
    every = EIGHT.unrank(np.arange(EIGHT.state_count))
    falls = heuristic(every)[:, None] - heuristic.children(every)
    assert falls[np.isfinite(falls)].max() > 1


ENGINES = {"by action": solve_by_action, "in step": solve_in_step}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("batch_size", "until_proved"), [(1, False), (7, True), (1000, True)])
def test_bwas_over_an_inconsistent_database_expands_again_and_finds_the_optimum(
    engine, batch_size, until_proved, boards, distances_of
):
    heuristic = PatternDatabaseHeuristic(EIGHT, build(3, LOOSE), reflected=False)
    weights = np.ones(len(boards))
    rules = Rules(batch_size, Limits.max_expansions, Limits.max_nodes, until_proved)
    found = ENGINES[engine](EIGHT, heuristic, boards, weights, rules, np.inf)
    np.testing.assert_array_equal(found.cost, distances_of("puzzle8")[EIGHT.rank(boards)])
    assert solves(EIGHT, boards, found.solutions).all()


def searched(project: Path, name: str, database: Path | None) -> pd.DataFrame:
    out = project / "baselines" / name
    recipe = recipe_of("search.grids", out, heuristic=name, searches=[GRID])
    table, sets = project / "tables/puzzle8.npz", project / "optima/puzzle8.parquet"
    grids.run(recipe, out, table, sets, database=database)
    return read_frame(out / "grid.parquet")


def test_baselines_are_searched_on_every_cell_and_held_against_the_optima(project, boards):
    solved_exactly(project)
    database = project / "pattern_databases/small.npz"
    for name, file in {"small": database, "manhattan": None}.items():
        grid = searched(project, name, file)
        assert grid[["path_weight", "batch_size"]].to_numpy().tolist() == [[0.5, 1], [1, 1], [0.5, 7], [1, 7]]
        assert (grid["known"] == len(boards)).all() and (grid["solved_percent"] == 100).all()
        exact = grid[(grid["path_weight"] == 1) & (grid["batch_size"] == 1)].iloc[0]
        assert exact["optimal_percent"] == 100 and exact["excess"] == 0
        assert exact["length"] == pytest.approx(exact["optimal_length"])
        rest = grid.drop(exact.name)
        np.testing.assert_allclose(rest["length"] - rest["optimal_length"], rest["excess"])
        inputs = read_json(project / f"baselines/{name}.json")["inputs"]
        assert (str(database) in inputs) == (file is not None)


def test_footprints_are_bytes_of_weights_and_of_tables(project):
    model, database = project / "models/tiles", built(project)
    value = network.build(architecture_of(first_layers=[8], outputs="actions", batch_norm=False), EIGHT, 1)
    description = {"puzzle": "puzzle8", "precision": "float32", "iteration": 1}
    network.save(model / "1.safetensors", value, description)
    write_frame(model / "checkpoints.parquet", pd.DataFrame({"iteration": [1], "file": ["1.safetensors"]}))
    out = project / "footprints/puzzle8"
    recipe = recipe_of("footprints", out, models=["tiles"], baselines=["small", "manhattan"], seed=1)
    footprints.run(recipe, out, [model], [database])
    found = read_frame(project / "footprints/puzzle8.parquet").set_index("heuristic")["bytes"]
    conflicts = Manhattan(EIGHT, linear_conflicts=True).sums.lines.moves.nbytes
    assert found["tiles"] == 4 * value.parameter_count and found["small"] == perm(9, 2) + 2 * perm(9, 3)
    assert found["manhattan"] == 3 * 9 + conflicts, "tiles of corners, of edges and of the centre share tables"
    clock = read_frame(project / "timings/footprints/puzzle8.parquet")
    assert clock[["heuristic", "states_at_a_time"]].to_numpy().tolist() == [
        [name, count] for name in found.index for count in (1, 1000)
    ]
    assert (clock["seconds"] > 0).all()


def test_the_studies_of_sliding_tiles_have_a_slice_for_each_database_and_baseline():
    for name in ("puzzle15", "puzzle24", "puzzle15-smoke"):
        study = alone(load_study([CONFIG / f"{name}.yaml"]))
        parts = slices(load_study([CONFIG / f"{name}.yaml"]))
        assert {f"pattern_databases/{each}" for each in study.pattern_databases} <= set(parts)
        assert {f"baselines/{each}" for each in study.baselines} <= set(parts)
        assert study.optima.pattern_database in study.pattern_databases
        for text in study.pattern_databases.values():
            assert parse_partition(make(study.puzzle).side, text)
        assert not any("searches" in json.dumps(parts[key]) for key in parts if key.startswith(("optima", "models")))


# The report's tables


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    study = study_of("puzzle15")
    return StudyResults(write_results(study, tmp_path_factory.mktemp("results")), whole(study), timed=True)


def test_the_best_cell_solves_most_with_the_fewest_moves_and_nodes():
    grid = pd.DataFrame(
        {
            "solved_percent": [90, 100, 100, 100],
            "length": [1, 9, 8, 8],
            "nodes_generated": [1, 1, 5, 4],
            "place": range(4),
        }
    )
    assert best_cell(grid)["place"] == 3


def test_solvers_stand_beside_one_another_at_the_networks_best_cell_then_at_their_own(found):
    shown, every = compared(found), heuristics(found)
    names = [*found.model_names, *found.asked.baselines]
    assert shown["heuristic"].tolist()[: len(names)] == names
    best = best_cell(every[every["heuristic"] == "tiles"])
    first = shown.iloc[: len(names)]
    assert (first["path_weight"] == best["path_weight"]).all() and (first["batch_size"] == best["batch_size"]).all()
    assert not shown.duplicated(["solver", "heuristic", "path_weight", "batch_size"]).any()
    for name in names:
        own, chosen = shown[shown["heuristic"] == name], best_cell(every[every["heuristic"] == name])
        assert ((own["path_weight"] == chosen["path_weight"]) & (own["batch_size"] == chosen["batch_size"])).any()
    exact = shown.iloc[-1]
    assert (exact["solver"], exact["heuristic"]) == ("IDA*", "7-8") and exact["optimal_percent"] == 100
    assert exact["bytes"] == every.loc[every["heuristic"] == "7-8", "bytes"].iloc[0]


def test_nodes_a_second_are_those_of_the_searches_timed(found):
    timed = speeds(found, compared(found))
    np.testing.assert_allclose(timed.loc[timed["solver"] == "BWAS", "nodes_per_second"], 1 / 2e-5)
    np.testing.assert_allclose(timed.loc[timed["solver"] == "IDA*", "nodes_per_second"], 5e6)
    assert len(timed) == len(compared(found))
