"""What may be asked of a puzzle does not go by how many of its states are listed: the 8-puzzle, both ways.

Every stage but figures and reports runs as the workflow runs it, over a network that has learned next to nothing.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stage_recipes import make as make_stage

from costtogo.exact.nearby import FAR, GoalAlone
from costtogo.files import FileError, read_frame
from costtogo.heuristics.manhattan import Manhattan
from costtogo.heuristics.nearby import NearbyHeuristic
from costtogo.params.loading import load
from costtogo.params.study import Study
from costtogo.puzzles import make
from costtogo.puzzles.base import solves
from costtogo.stages.tables import read_exact, read_nearby, read_table
from costtogo.stages.train import DistanceSample
from costtogo.workflow.stages import Stage, stages_of

ROOT = Path(__file__).parents[1]
EIGHT = make("puzzle8")
DEPTH = 5  # of the table around the goal
WIDEST = 30_000  # a beam that holds every state at any distance, 24,047 at most
TINY = {
    "architectures": {"by_action": {"first_layers": [16], "residual_blocks": 0}},
    "recipes": {
        "value_iteration": {
            "precision": "float32", "iterations": 4, "states_per_iteration": 100, "validation_states": 20,
            "minibatch": 50, "check_every": 2, "checkpoint_iterations": 2,
        }
    },
    "models": {"only": ["residual"]},
}  # fmt: skip
BUDGETS = [
    {"solver": "beam", "states": 2, "seconds": 2},
    {"solver": "bwas", "states": 9, "seconds": 3, "path_weight": 1, "batch_size": 8},
]
GRID = {"solver": "bwas", "path_weight": [0.5, 1.0], "batch_size": [1, 8]}
SEARCHED = {
    "pattern_databases": {"small": "2-3-3"},
    "optima": {"pattern_database": "small"},
    "baselines": ["small", "manhattan"],
}
ALL = {
    "instances": {"scrambled": {"states": 6}, "uniform": {"states": 5}, "stratified": {"states": 1}}
    | {"selection": {"states": 10}},
    "distributions": {"walks": 5, "walk_max": [5]},
    "audit": {"checkpoints": 1, "walks": 5},
    "search": {
        "zero_instances": 1, "admissible_instances": 2, "network_searches": 2, "network_searches_alone": 1,
        "network_max_steps": 50, "all_starts": [],
    },
    "searches": [
        GRID | {"set": "scrambled"},
        {"solver": "beam", "set": "uniform", "widths": [WIDEST]},
        {"solver": "anytime", "set": "uniform", "budgets": BUDGETS},
    ],
}  # fmt: skip
AROUND = {
    "only": [],
    "exact": {"around": DEPTH},
    "instances": {
        "far": {"kind": "walks", "states": 5, "length": [30, 50]},
        "near": {"kind": "prefixes", "moves": "D R U"},
    },
    "audit": {
        "consistency_states": 50, "consistency_checkpoints": 1, "nearby_states": 1000,
        "scrambled_states": 5, "depths": 3, "greedy_states": 3, "greedy_depths": [2], "greedy_moves": 5,
    },
    "searches": [
        GRID | {"set": "far"},
        {"solver": "beam", "set": "far", "widths": [WIDEST]},
        {"solver": "anytime", "set": "far", "budgets": BUDGETS},
    ],
}  # fmt: skip


def study_of(name: str, asked: dict) -> Study:
    return load([ROOT / "config" / "puzzle8.yaml"], TINY | {"study": name, "puzzles": {"puzzle8": SEARCHED | asked}})


def stages(study: Study) -> dict[str, Stage]:
    """The stages of a study but its figures and its report, by group and name."""
    every = {f"{stage.group}/{stage.name}": stage for stage in stages_of(study)}
    return {place: stage for place, stage in every.items() if stage.group not in ("figures", "report")}


COMMON = {
    *("tables/puzzle8", "instances/puzzle8", "pattern_databases/small", "optima/puzzle8", "baselines/small"),
    *("baselines/manhattan", "footprints/puzzle8", "models/residual", "audits/residual", "searches/residual"),
    *("beams/residual", "anytime/residual"),
}


def test_what_is_listed_decides_the_audit_and_the_protocol_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole, around = stages(study_of("whole", ALL)), stages(study_of("around", AROUND))
    assert set(whole) == COMMON | {"searches/baseline_puzzle8"} and set(around) == COMMON
    for found in (whole, around):
        for place in ("beams/residual", "anytime/residual"):
            assert {need.group for need in found[place].needs} == {"tables", "optima", "models"}
        assert found["optima/puzzle8"].needs == (found["instances/puzzle8"], found["pattern_databases/small"])
    assert {place for place in around if whole[place].module != around[place].module} == {
        "audits/residual",
        "searches/residual",
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder where both studies are made; the tests run in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("studies"))
        for study in (study_of("whole", ALL), study_of("around", AROUND)):
            for stage in stages(study).values():
                make_stage(stage)
                missing = [path for path in stage.outputs if not Path(path).is_file()]
                assert not missing, f"{stage.id} left no {missing}"
        yield Path.cwd()


def frame(path: str) -> pd.DataFrame:
    return read_frame(Path("results") / path)


def test_a_table_of_all_states_is_one_of_the_goal_alone_to_searches(made, distances_of):
    """They go by their heuristic everywhere, as they would without a table."""
    whole, around = (Path(f"results/{name}/tables/puzzle8.npz") for name in ("whole", "around"))
    nearby, states = read_nearby(whole, EIGHT), EIGHT.unrank(np.arange(EIGHT.state_count))
    assert isinstance(nearby, GoalAlone) and nearby.depth == 0 and read_nearby(around, EIGHT).depth == DEPTH
    np.testing.assert_array_equal(nearby(states) == FAR, ~EIGHT.is_goal(states))
    manhattan = Manhattan(EIGHT)
    np.testing.assert_array_equal(NearbyHeuristic(manhattan, nearby)(states), manhattan(states))
    np.testing.assert_array_equal(read_table(whole, EIGHT), distances_of("puzzle8"))
    for read, path, puzzle in ((read_table, around, EIGHT), (read_exact, whole, make("puzzle15"))):
        with pytest.raises(FileError, match="of another format"):
            read(path, puzzle)


@pytest.mark.parametrize("study", ["whole", "around"])
def test_a_training_is_held_against_what_its_table_knows(study, made, distances_of):
    layers = DistanceSample.read(Path(f"results/{study}/tables/puzzle8.npz"), EIGHT)
    distance = distances_of("puzzle8")
    np.testing.assert_array_equal(distance[EIGHT.rank(layers.states)], layers.distance)
    counts = np.bincount(distance)
    np.testing.assert_array_equal(layers.counts, counts if study == "whole" else counts[: DEPTH + 1])
    assert np.unique(layers.distance).tolist() == list(range(len(layers.counts)))


@pytest.mark.parametrize("study", ["whole", "around"])
def test_optima_keep_all_that_was_known_of_the_instances(study, made, distances_of):
    instances, optima = (frame(f"{study}/{group}/puzzle8.parquet") for group in ("instances", "optima"))
    pd.testing.assert_frame_equal(optima[instances.columns.drop("distance")], instances.drop(columns="distance"))
    states = np.array([EIGHT.parse_state(text) for text in optima["state"]])
    np.testing.assert_array_equal(optima["distance"], distances_of("puzzle8")[EIGHT.rank(states)])


@pytest.mark.parametrize("study", ["whole", "around"])
def test_the_widest_beam_and_bwas_over_a_lower_bound_find_the_optima(study, made, distances_of):
    beams = frame(f"{study}/beams/residual/searches.parquet")
    instances = frame(f"{study}/instances/puzzle8.parquet").set_index(["set", "instance"])
    starts = [
        EIGHT.parse_state(text) for text in instances.loc[pd.MultiIndex.from_frame(beams[["set", "instance"]]), "state"]
    ]
    distance = distances_of("puzzle8")[EIGHT.rank(np.array(starts))]
    assert distance.max() > DEPTH and (beams["cost"] == distance).all() and (beams["distance"] == distance).all()
    assert solves(EIGHT, np.array(starts), [EIGHT.parse_moves(text) for text in beams["solution"]]).all()
    for name in SEARCHED["baselines"]:
        grid = frame(f"{study}/baselines/{name}/grid.parquet").set_index(["path_weight", "batch_size"])
        assert (grid["solved_percent"] == 100).all() and grid.loc[(1, 1), "optimal_percent"] == 100
        assert (grid["known"] == grid["instances"]).all()


@pytest.mark.parametrize("study", ["whole", "around"])
def test_each_budget_searches_from_the_first_instances_of_a_set_within_its_seconds(study, made):
    """Twice the seconds and more: only a search that does not look at its clock takes them."""
    searches, clock = (
        frame(f"{study}/anytime/residual/searches.parquet"),
        frame(f"{study}/timings/anytime/residual.parquet"),
    )
    assert searches.groupby("seconds_allowed")["instance"].agg(list).to_dict() == {2: [0, 1], 3: [0, 1, 2, 3, 4]}
    assert (clock["seconds"] < 5 * clock["seconds_allowed"]).all() and len(clock) == len(searches)
    assert searches["solved"].any() and (searches["cost"] >= searches["distance"]).all()


def test_the_same_network_is_trained_whatever_is_listed_and_both_audits_say_the_same_of_it(made):
    whole, around = (sorted(made.glob(f"results/{name}/models/residual/checkpoints/*")) for name in ("whole", "around"))
    assert [path.read_bytes() for path in whole] == [path.read_bytes() for path in around] and whole
    exact = frame("whole/audits/residual/by_distance.parquet")
    exact = exact[(exact["scope"] == "all") & (exact["iteration"] == exact["iteration"].max())]
    exact, near = exact.set_index("distance").loc[:DEPTH], frame("around/audits/residual/nearby.parquet")
    near = near.set_index("distance").drop(columns="mean_cost_to_go")
    assert near["states"].tolist() == exact["states"].tolist() == near["states"].tolist() and len(near) == DEPTH + 1
    np.testing.assert_allclose(near, exact[near.columns], rtol=1e-5, atol=1e-6)
