"""A study of Sokoban, run as the workflow runs it, over a network that has hardly learned; and its audit, by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messages import is_one_sentence
from stage_recipes import make as make_stage

from costtogo.analysis.level_audit import DeadEnds, audit_level
from costtogo.exact.level_sample import LevelSample
from costtogo.exact.nearby import GoalAlone
from costtogo.exact.solver import exact_solver
from costtogo.figures.states import level_solution
from costtogo.files import read_frame, read_json
from costtogo.learning.level_walks import solved_levels, walk_ends
from costtogo.learning.levels import is_new_layout, is_of_part
from costtogo.learning.sokoban import training_levels
from costtogo.params.loading import load
from costtogo.puzzles import levels_of, make
from costtogo.puzzles.base import solves
from costtogo.puzzles.sokoban import BOX_ON_TARGET, is_box
from costtogo.stages.tables import read_exact, read_nearby
from costtogo.tables.results import References
from costtogo.tables.searches import RELEASED, released
from costtogo.types import UserError
from costtogo.workflow.stages import stages_of

ROOT = Path(__file__).parents[1]
PUZZLE = make("sokoban")
LEVELS = levels_of(PUZZLE)
TINY = {
    "puzzles": {
        "sokoban": {
            "exact": {"levels": 3, "boxes": 2, "states": 300},
            "instances": {"test": {"states": 6, "boxes": 2}, "selection": {"states": 4, "boxes": 2}},
            "searches": [
                {"solver": "bwas", "set": "test", "path_weight": [0.8], "batch_size": [1], "max_nodes": 20000},
                {"solver": "beam", "set": "test", "widths": [50], "max_moves": 60},
            ],
            "audit": {"consistency_states": 30, "scrambled_states": 5, "depths": 2, "walk_max": 9,
                      "greedy_states": 3, "greedy_depths": [2], "greedy_moves": 4,
                      "progress": {"max_nodes": 50, "checkpoints": 2}},
        },
    },
    "architectures": {"convolutional": {"channels": [4, 4], "first_layers": [8]}},
    "recipes": {
        "value_iteration": {
            "precision": "float32", "iterations": 4, "states_per_iteration": 60, "validation_states": 30,
            "minibatch": 30, "check_every": 2, "checkpoint_every": 1, "sampler": {"levels": 20, "boxes": 2},
        }
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sokoban")
    study = load([ROOT / "config/sokoban.yaml"], TINY)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for stage in stages_of(study):
            if stage.group not in ("figures", "report", "external"):
                make_stage(stage)
    return folder / "results/sokoban"


def rows_of(results: Path, address: str) -> pd.DataFrame:
    return read_frame(results / f"{address}.parquet")


def test_the_table_has_states_of_the_listed_levels_at_every_distance(results):
    sample = read_exact(results / "tables/sokoban.npz", PUZZLE)
    assert isinstance(sample, LevelSample) and len(sample.levels) == 3
    assert isinstance(read_nearby(results / "tables/sokoban.npz", PUZZLE), GoalAlone)
    assert set(sample.distance) == set(range(sample.depth + 1))
    np.testing.assert_array_equal(exact_solver(PUZZLE)(sample.states).cost, sample.distance)
    metrics = read_json(results / "tables/sokoban.json")["metrics"]
    assert metrics["states"] == sum(LEVELS.table(level).live for level in sample.levels) == sample.layers.sum()


def test_the_sets_have_no_walls_and_targets_in_common_with_each_other_or_with_training(results):
    sets = rows_of(results, "instances/sokoban").groupby("set")["state"]
    states = {name: np.array([PUZZLE.parse_state(text) for text in texts]) for name, texts in sets}
    states["listed"] = read_exact(results / "tables/sokoban.npz", PUZZLE).levels
    trained, _ = training_levels(PUZZLE, 20, 2)
    assert len(trained) == 20 and (is_box(trained).sum(axis=1) == 2).all()
    assert is_new_layout(PUZZLE, states["test"], trained, states["selection"], states["listed"]).all()
    assert is_new_layout(PUZZLE, np.concatenate([states["selection"], states["listed"]]), trained).all()
    assert is_new_layout(PUZZLE, LEVELS.draw(300, 2, 1, "test"), LEVELS.draw(300, 2, 2, "training")).all()


def test_every_layout_belongs_to_one_part_however_it_is_turned(results):
    states = LEVELS.draw(30, 2, 5, "training")
    turned = states.reshape(-1, 10, 10).transpose(0, 2, 1)[:, ::-1].reshape(30, 100)
    parts = [is_of_part(PUZZLE, turned, part) for part in ("training", "selection", "test")]
    assert parts[0].all() and not parts[1].any() and not parts[2].any()


def test_optima_and_searches_agree_and_solutions_are_replayed(results):
    optima = rows_of(results, "optima/sokoban")
    assert optima["solved"].all() and set(optima["set"]) == {"test", "selection"}
    test = optima[optima["set"] == "test"].reset_index(drop=True)
    starts = np.array([PUZZLE.parse_state(text) for text in test["state"]])
    solutions = [PUZZLE.parse_moves(text) for text in test["solution"]]
    assert solves(PUZZLE, starts, solutions).all() and [*map(len, solutions)] == test["distance"].tolist()
    for group in ("searches", "beams"):
        found = rows_of(results, f"{group}/levels/searches")
        assert found["solved"].any() and (found["cost"] >= found["distance"]).all()


def test_the_audit_is_about_every_state_of_the_listed_levels(results):
    sample = read_exact(results / "tables/sokoban.npz", PUZZLE)
    nearby, ends = rows_of(results, "audits/levels/nearby"), rows_of(results, "audits/levels/dead_ends")
    np.testing.assert_array_equal(nearby["states"], sample.layers)
    assert len(ends) == 1 and ends["children"].iloc[0] > ends["dead"].iloc[0] > 0
    assert rows_of(results, "models/levels/errors")["distance"].max() == sample.depth


def test_the_solution_of_a_level_is_drawn_with_the_cost_to_go_along_it(results):
    along = rows_of(results, "audits/levels/along")
    states = np.array([PUZZLE.parse_state(text) for text in along["state"]])
    np.testing.assert_array_equal(exact_solver(PUZZLE)(states).cost, along["distance"])
    assert along["distance"].iloc[-1] == 0 and along["push"].any() and not along["push"].iloc[0]
    figure = level_solution(along, puzzle="sokoban")
    *levels, costs = figure.axes
    assert len(levels) == 4 and [axes.get_title() for axes in levels][0] == "step 0"
    assert [line.get_xdata()[-1] for line in costs.lines[:2]] == [along["step"].iloc[-1]] * 2


def test_bounds_are_added_singly_with_the_limits_of_the_same_searches(results):
    found = rows_of(results, "audits/levels/bounds")
    assert found["bound"].tolist() == ["none", "dead_squares", "matching", "pairs"] and (found["instances"] == 4).all()


def test_levels_that_deepcubea_solved_too_are_compared_in_pairs(tmp_path):
    searches = pd.DataFrame(
        {
            "seconds_allowed": 20.0, "solved": [True, True, False, True], "cost": [20, 31, np.inf, 12],
            "optimal": [20, 30, 40, 12], "nodes_generated": [100, 300, 9, 200], "instance": range(4),
        }
    )  # fmt: skip
    lines = ["puzzle,instance,moves,nodes_generated", "cube3,3,9,9", "sokoban,0,22,50", "sokoban,1,30,70"]
    (tmp_path / RELEASED).write_text("\n".join([*lines, "sokoban,2,40,80"]))

    class Results:
        model_names, puzzle, references = ("levels",), "sokoban", References(reported=tmp_path)

        def of_each(self, names, address):
            return searches.assign(model="levels")

    (row,) = released(Results()).to_dict("records")
    assert row["pairs"] == 2 and row["difference"] == -0.5 and (row["shorter"], row["longer"]) == (50, 50)
    assert (row["optimal_percent"], row["their_optimal_percent"]) == (50, 50)
    assert row["nodes_median"] == 200 and row["their_nodes_generated"] == 60
    searches["optimal"] = np.nan
    (row,) = released(Results()).to_dict("records")
    assert row["pairs"] == 2 and np.isnan(row["their_optimal_percent"])


@pytest.fixture
def outside(tmp_path, monkeypatch) -> Path:
    """A folder of external instances: levels."""
    levels = LEVELS.draw(3, 2, 8, "test")
    (tmp_path / "boxoban").mkdir()
    text = "\n\n".join(PUZZLE.draw(level) for level in levels)
    (tmp_path / "boxoban/test.txt").write_text(text, encoding="utf-8")
    monkeypatch.setenv("COSTTOGO_EXTERNAL", str(tmp_path))
    return tmp_path


def test_external_levels_are_searched_and_compared_with_their_optima(results, outside, monkeypatch):
    monkeypatch.chdir(results.parents[1])
    (stage,) = [each for each in stages_of(load([ROOT / "config/sokoban.yaml"], TINY)) if each.group == "external"]
    make_stage(stage)
    found = rows_of(results, "external/levels/searches")
    assert found["optimal"].notna().all()
    assert (found["cost"] >= found["optimal"]).all()


class Told:
    """The exact distance, `given` for dead states, plus one at even cells of the player."""

    def __init__(self, table, given, shift=0.0):
        self.table, self.given, self.shift = table, given, shift

    def __call__(self, states):
        found = self.table(states)
        odd = np.argmax(states >= 4, axis=1) % 2
        return np.where(np.isinf(found), self.given, found + self.shift * odd).astype(np.float32)


@pytest.fixture(scope="module")
def table():
    return LEVELS.table(LEVELS.draw(1, 2, 3, "selection")[0])


def test_the_exact_distance_passes_the_audit_and_dead_ends_are_told_apart(table):
    ends = DeadEnds()
    found = audit_level(PUZZLE, table, Told(table, 500), ends)
    assert found.consistent.all() and found.descending.all() and not found.error.any()
    np.testing.assert_array_equal(np.bincount(found.distance), table.layers)
    told = ends.summary()
    assert told["area_under_curve"] == 1 and told["led_astray_percent"] == 0 and told["dead"] > 0


def test_dead_ends_that_look_best_lead_astray(table):
    ends = DeadEnds()
    found = audit_level(PUZZLE, table, Told(table, 0), ends)
    told = ends.summary()
    assert told["led_astray_percent"] > 99 and told["area_under_curve"] < 0.5
    assert not found.descending.all() and not found.consistent.all()


def test_the_audit_of_a_level_equals_one_state_after_another(table):
    heuristic, ends = Told(table, 30, shift=1.5), DeadEnds()
    found = audit_level(PUZZLE, table, heuristic, ends)
    live = np.flatnonzero(table.distance < len(table.layers))
    rows = np.random.default_rng(0).choice(len(live), size=200, replace=False)
    for row, state in zip(rows, table.states_of(live[rows]), strict=True):
        children, legal = PUZZLE.expand(state[None])
        own, values, distance = heuristic(state[None])[0], heuristic(children[0][legal[0]]), table(state[None])[0]
        assert found.error[row] == own - distance
        assert found.consistent[row] == (own <= values + 1).all()
        nearer = table(children[0][legal[0]][[values.argmin()]])[0] < distance
        assert found.descending[row] == (nearer or distance == 0)


def test_the_area_is_the_chance_that_a_dead_child_scores_above_a_live_one():
    ends = DeadEnds()
    no, yes = False, True
    first = np.array([[1, 2, np.inf, 9]], np.float32), np.array([[yes, yes, yes, no]]), np.array([[no, no, yes, no]])
    ends.add(*first)  # scores 0, 1 and, of the dead one, infinite; the fourth is not legal
    ends.add(np.array([[5, 5, 6, 7]], np.float32), np.ones((1, 4), bool), np.array([[yes, no, no, yes]]))  # 0, 0, 1, 2
    told = ends.summary()
    wins = 4 + (0 + 0 + 0.5 + 0.5) + 4  # of the dead ∞, 0 and 2 over the live 0, 1, 0 and 1
    assert told["area_under_curve"] == pytest.approx(wins / 12)
    assert told["choices"] == 2 and told["led_astray_percent"] == 50


def test_walks_end_at_states_that_can_be_solved_and_pull_the_more_the_more_they_are_told():
    solved, moved = solved_levels(LEVELS.draw(5, 3, 4, "training")), []
    for pulls in (0.0, 0.5, 1.0):
        ends = walk_ends(PUZZLE, solved, 300, (1, 60), pulls, np.random.default_rng(0))
        assert np.isfinite(exact_solver(PUZZLE)(ends).cost).all()
        np.testing.assert_array_equal(ends, walk_ends(PUZZLE, solved, 300, (1, 60), pulls, np.random.default_rng(0)))
        moved.append(is_box(ends).sum() - (ends == BOX_ON_TARGET).sum())
    assert moved == sorted(set(moved))


def test_walks_go_on_to_the_end_out_of_every_dead_end():
    """A step more is always another place of the player, if only back where he came from."""
    solved = solved_levels(LEVELS.draw(20, 3, 4, "training"))
    for steps in (20, 101):
        ends = [walk_ends(PUZZLE, solved, 400, (k, k), 0.7, np.random.default_rng(3)) for k in (steps, steps + 1)]
        shut = ~PUZZLE.reverse_legal(ends[0]).any(axis=1)
        assert ((ends[0] != ends[1]).any(axis=1) | shut).all() and shut.mean() < 0.02  # shut in from the beginning


def test_walks_reach_no_farther_than_they_are_long():
    solved = solved_levels(LEVELS.draw(5, 2, 4, "training"))
    ends = walk_ends(PUZZLE, solved, 200, (7, 7), 0.7, np.random.default_rng(1))
    assert exact_solver(PUZZLE)(ends).cost.max() <= 7


def test_a_folder_of_levels_takes_the_place_of_generated_ones_but_for_those_set_apart(tmp_path):
    parts = {part: LEVELS.draw(4, 2, 9, part) for part in ("training", "test")}
    for part, levels in parts.items():
        text = "\n\n".join(PUZZLE.draw(level) for level in levels)
        (tmp_path / f"{part}.txt").write_text(text, encoding="utf-8")
    read, solved = training_levels(PUZZLE, str(tmp_path), 4)
    np.testing.assert_array_equal(read, parts["training"])
    np.testing.assert_array_equal(solved, solved_levels(parts["training"]))
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "test.txt").rename(other / "test.txt")
    with pytest.raises(UserError, match="set apart") as told:
        training_levels(PUZZLE, str(other), 4)
    assert is_one_sentence(str(told.value))


def test_a_folder_of_levels_is_an_input_of_the_training(tmp_path):
    (tmp_path / "one.txt").write_text("; nothing is read here", encoding="utf-8")
    sampler = {"levels": str(tmp_path)}
    study = load([ROOT / "config/sokoban.yaml"], {"recipes": {"value_iteration": {"sampler": sampler}}})
    stages = {stage.id: stage for stage in stages_of(study)}
    assert stages["sokoban/models/levels"].files == (str(tmp_path / "one.txt"),)


WALKS = {"kind": "walks", "states": 3, "length": [1, 2]}
MISTAKES = {
    "walks from a goal": (
        ("sokoban", {"puzzles": {"sokoban": {"instances": {"far": WALKS}}}}),
        "instances.far: its kind must be levels",
    ),
    "levels of tiles": (
        ("puzzle15", {"puzzles": {"puzzle15": {"instances": {"far": {"kind": "levels", "states": 3}}}}}),
        "instances.far: there are no levels of puzzle15",
    ),
    "a bound of tiles": (
        ("sokoban", {"architectures": {"convolutional": {"above": "manhattan", "outputs": "state"}}}),
        "there is no bound of sokoban",
    ),
    "a baseline of tiles": (
        ("sokoban", {"puzzles": {"sokoban": {"baselines": ["manhattan"]}}}),
        "there are dead_squares, matching, pairs, zero",
    ),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_parameters_that_make_no_sense_for_levels_are_refused(kind):
    (study, changes), told = MISTAKES[kind]
    with pytest.raises(UserError) as error:
        load([ROOT / f"config/{study}.yaml"], changes)
    assert told in str(error.value) and is_one_sentence(str(error.value)), str(error.value)
