"""The numbers typed from the thesis: complete, in agreement with one another, and doubted where they are not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from costtogo.exact.bfs import layer_counts
from costtogo.files import flatten, read_csv
from costtogo.literature.answers.settings import PLACES
from costtogo.literature.listings import replay
from costtogo.params.base import TrainingName
from costtogo.params.loading import load
from costtogo.puzzles import make
from costtogo.types import UserError

FOLDER = Path(__file__).parents[1] / "data" / "reported"
TYPED = read_csv(FOLDER / "thesis.csv", dtype=str, keep_default_na=False)
REPORTED = TYPED.assign(
    **{
        column: pd.to_numeric(TYPED[column].replace("", None))
        for column in ("iteration", "point", "path_weight", "batch_size", "distance", "value")
    }
)
COLUMNS = (
    "source,section,quantity,puzzle,model,iteration,point,path_weight,batch_size,distance,set,relation,value,unit,"
    "kind,claim,erratum,contradicted"
)
UNITS = {
    "states": {"states"},
    "states_at_distance": {"states"},
    "states_sampled": {"states"},
    "states_seen": {"states"},
    "sampled_states_difference": {"states"},
    "diameter": {"moves"},
    "diameter_half_turns": {"moves"},
    "length": {"moves"},
    "extra_moves": {"moves"},
    "moves_before_detour": {"moves"},
    "mean_absolute_error": {"moves"},
    "overestimation_mean": {"moves"},
    "validation_loss": {"moves^2"},
    "parameters": {"parameters"},
    "total_iterations": {"iterations"},
    "convergence_point_iteration": {"iterations"},
    "convergence_points": {"points"},
    "training_time": {"h", "min"},
    "seconds": {"s"},
    "nodes_expanded": {"nodes"},
    "times_seen": {"times"},
    "nodes_expanded_ratio": {"times"},
    "seconds_ratio_path_weight": {"times"},
    "seconds_ratio_batch_size": {"times"},
    "states_seen_percent": {"%"},
    "sampled_percent": {"%"},
    "sampled_percent_difference": {"%"},
    "admissible_percent": {"%"},
    "consistent_percent": {"%"},
    "optimal_percent": {"%"},
    "optimal_percent_least": {"%"},
    "optimal_percent_difference": {"%"},
    "states_percent_of_cube2": {"%"},
    "loss_threshold": {"moves^2"},
    "check_interval": {"iterations"},
    "checkpoint_interval": {"points"},
    "scramble_moves_max": {"moves"},
    "walk_offset": {"moves"},
    "states_per_iteration": {"states"},
    "validation_states": {"states"},
    "learning_rate": {"1"},
}
RELATIONS = {"=", "<", ">", "<=", ">="}
COMPLETE = ("H4_DNN_reduced_0", "DNN_final_2x2x2", "DNN_final_2x2x2_nr", "DNN_final_2x2x2_nrr") + tuple(
    f"DNN_{name}" for name in ("0", "noBatchNorm", "reduced_0", "reduced_0_noBatchNorm")
)
LISTINGS = {"0.7": 127, "0.3": 131}


def rows(**values) -> pd.DataFrame:
    """The rows that hold each of the values."""
    chosen = REPORTED
    for column, value in values.items():
        chosen = chosen[chosen[column] == value]
    assert len(chosen), f"no row has {values}"
    return chosen


def holds(relation: str, left: float, right: float) -> bool:
    """left relation right."""
    return {
        "=": left == right,
        "<": left < right,
        ">": left > right,
        "<=": left <= right,
        ">=": left >= right,
    }[relation]


def listing(path_weight: str) -> pd.DataFrame:
    return read_csv(FOLDER / f"hanoi_7_lambda_{path_weight}.csv")


@pytest.fixture
def replayed(distances_of):
    """A listing replayed on H(7, 3)."""
    return lambda moves: replay(make("hanoi_7"), moves, distances_of("hanoi_7"))


def test_the_columns_are_the_documented_ones():
    assert ",".join(TYPED.columns) == COLUMNS
    assert set(TYPED["source"]) == {"thesis"}
    readme = (FOLDER / "README.md").read_text()
    assert [word for word in [*TYPED.columns, *UNITS, *set(TYPED["set"]) - {""}] if f"`{word}`" not in readme] == []


def test_every_quantity_has_its_unit_and_every_row_a_known_relation():
    assert {quantity: set(group) for quantity, group in TYPED.groupby("quantity")["unit"]} == UNITS
    assert set(TYPED["relation"]) == RELATIONS
    assert REPORTED["value"].notna().all()


def test_no_number_is_there_twice_and_no_two_contradict_each_other():
    apart = ["kind", "claim", "erratum", "contradicted"]
    assert not TYPED.drop(columns=apart).duplicated().any()
    equal = TYPED[TYPED["relation"] == "="]
    contradicting = equal[equal.drop(columns=["value", "unit", *apart]).duplicated(keep=False)]
    assert contradicting["quantity"].tolist() == ["consistent_percent"] * 2
    assert contradicting["erratum"].ne("").any()


def test_percentages_lie_between_0_and_100():
    assert REPORTED.loc[REPORTED["unit"] == "%", "value"].between(0, 100).all()


@pytest.mark.parametrize(("puzzle", "states"), [("cube2", 3674160), ("hanoi_3", 27), ("hanoi_4", 81)])
def test_the_states_at_each_distance_are_those_of_the_exact_table(puzzle, states, distances_of):
    layers = rows(quantity="states_at_distance", puzzle=puzzle)
    assert layers["distance"].tolist() == list(range(len(layers)))
    assert layers["value"].sum() == states == make(puzzle).state_count
    assert layers["value"].tolist() == layer_counts(distances_of(puzzle)).tolist()


def test_sizes_and_diameters_are_those_of_the_puzzles(distances_of):
    for row in rows(quantity="states").to_dict("records"):
        assert row["value"] == make(row["puzzle"]).state_count
    for row in rows(quantity="diameter").to_dict("records"):
        assert row["value"] == distances_of(row["puzzle"]).max()
    for row in rows(quantity="length", model="").to_dict("records"):
        puzzle = make(row["puzzle"])
        assert row["value"] == distances_of(puzzle.name)[puzzle.rank(puzzle.start[None])[0]] == 2**puzzle.disks - 1


@pytest.mark.parametrize("model", COMPLETE)
def test_a_listed_training_has_as_many_points_as_it_says_in_ascending_order(model):
    points = rows(quantity="convergence_point_iteration", model=model)
    count = rows(quantity="convergence_points", model=model)["value"].max()
    assert points["point"].tolist() == list(range(1, int(count) + 1))
    assert (points["value"].diff().iloc[1:] > 0).all()
    assert (points["value"] == points["iteration"]).all()


def test_a_count_of_points_is_that_of_the_list_up_to_its_iteration_but_for_the_two_errata():
    doubted = []
    for row in rows(quantity="convergence_points").to_dict("records"):
        if row["model"] in COMPLETE:
            points = rows(quantity="convergence_point_iteration", model=row["model"])["value"]
            if (points <= row["iteration"]).sum() != row["value"]:
                doubted.append((row["section"], row["model"], bool(row["erratum"])))
    assert doubted == [("5.1", "DNN_noBatchNorm", True), ("5.1", "DNN_reduced_0_noBatchNorm", True)]


def test_an_iteration_has_the_number_of_its_convergence_point_wherever_it_is_known():
    points = rows(quantity="convergence_point_iteration").set_index(["model", "iteration"])["point"]
    for row in REPORTED[REPORTED["point"].notna()].to_dict("records"):
        assert points[row["model"], row["iteration"]] == row["point"]
    measured = REPORTED[REPORTED["set"].isin(["sample", "test", "grid", "all"]) & REPORTED["model"].isin(COMPLETE)]
    measured = measured[measured["iteration"].notna()]
    assert len(measured) > 200 and measured["point"].notna().all()


def test_the_last_points_of_the_longer_hanoi_trainings_are_numbered():
    for model, iteration, point in (("H7_DNN_0", 1542, 142), ("H10_DNN_reduced_0", 3572, 1011)):
        assert set(rows(model=model, iteration=iteration)["point"].dropna()) == {point}
        assert rows(quantity="convergence_points", model=model)["value"].tolist() == [point]


def test_the_networks_have_as_many_parameters_as_their_layers_say():
    def parameters(first, second, blocks, batch_norm):
        layers = [(24 * 6, first), (first, second), *[(second, second)] * (2 * blocks), (second, 1)]
        weights = sum((inputs + 1) * outputs for inputs, outputs in layers)
        return weights + batch_norm * 2 * sum(outputs for _, outputs in layers[:-1])

    expected = {
        "DNN_0": parameters(5000, 1000, 4, True),
        "DNN_noBatchNorm": parameters(5000, 1000, 4, False),
        "DNN_reduced_0": parameters(3000, 800, 3, True),
        "DNN_reduced_0_noBatchNorm": parameters(3000, 800, 3, False),
    }
    assert rows(quantity="parameters").set_index("model")["value"].to_dict() == expected


@pytest.mark.parametrize("quantity", ["admissible_percent", "overestimation_mean", "consistent_percent"])
def test_the_audit_tables_have_one_row_a_checkpoint(quantity):
    audits = rows(quantity=quantity, set="sample", relation="=")
    audits = audits[audits["iteration"].notna()].drop_duplicates(["model", "iteration"])
    assert audits.groupby("section")["model"].value_counts().to_dict() == {
        **{("5.6", model): 4 for model in COMPLETE if model.startswith("DNN")},
        **{("5.8", model): 3 for model in ("H4_DNN_reduced_0", "H7_DNN_0", "H10_DNN_reduced_0")},
    }


@pytest.mark.parametrize("quantity", ["optimal_percent", "nodes_expanded", "seconds"])
def test_the_grid_is_complete(quantity):
    cells = rows(quantity=quantity, set="grid", relation="=", model="DNN_final_2x2x2_nr", iteration=795)
    assert list(zip(cells["path_weight"], cells["batch_size"], strict=True)) == [
        (path_weight, batch_size) for path_weight in (0.2, 0.5, 0.7, 1.0) for batch_size in (3, 5, 7)
    ]


def test_the_searches_of_the_test_set_are_complete():
    searches = rows(quantity="optimal_percent", set="test", relation="=")
    assert (searches["path_weight"] == 0.7).all() and (searches["batch_size"] == 5).all()
    whole = searches[searches["distance"].isna()]
    assert whole["model"].value_counts().to_dict() == {model: 4 for model in COMPLETE if model.startswith("DNN")}
    by_distance = searches[searches["distance"].notna()].groupby(["model", "iteration"])["distance"]
    assert len(by_distance) == 4 and all(distances.tolist() == list(range(15)) for _, distances in by_distance)


def test_the_largest_network_of_hanoi_solves_every_smaller_puzzle_at_each_weight_and_iteration():
    transfer = rows(quantity="optimal_percent", model="H10_DNN_reduced_0", value=100)
    transfer = transfer[transfer["puzzle"] != "hanoi_10"]
    cells = {(row.puzzle, row.path_weight, row.iteration) for row in transfer.itertuples()}
    assert cells == {
        (f"hanoi_{disks}", path_weight, iteration)
        for disks in range(1, 10)
        for path_weight in (0.5, 0.7, 1.0)
        for iteration in (3477, 3542, 3572)
    }


def claim(quantity: str, **values) -> dict:
    """The one row of a claim of the running text."""
    (row,) = rows(quantity=quantity, **values).to_dict("records")
    return row


def table(quantity: str, **values) -> pd.DataFrame:
    return rows(quantity=quantity, relation="=", erratum="", **values)


def claims_beside_the_tables() -> list[tuple[dict, list[float]]]:
    """Claims that the thesis's own tables decide, each with the numbers it must hold for."""
    tested = rows(quantity="optimal_percent", set="test", relation="=")
    whole, by_distance = tested[tested["distance"].isna()], tested[tested["distance"].notna()]
    best = by_distance.pivot(index="distance", columns="model", values="value")
    grid = {
        quantity: rows(quantity=quantity, set="grid", relation="=").pivot(
            index="path_weight", columns="batch_size", values="value"
        )
        for quantity in ("nodes_expanded", "seconds")
    }
    overestimation = rows(quantity="overestimation_mean", section="5.6", relation="=")["value"]
    wider_batches = grid["seconds"][3] / grid["seconds"][7]
    pairs = [
        (claim("overestimation_mean", relation="<="), overestimation),
        (claim("optimal_percent", value=96.4), whole["value"]),
        (
            claim("optimal_percent_difference"),
            best["DNN_reduced_0"] - best["DNN_final_2x2x2_nr"],
        ),
        (claim("nodes_expanded", relation=">"), grid["nodes_expanded"].loc[0.2]),
        (claim("seconds_ratio_batch_size", relation=">="), wider_batches),
        (claim("seconds_ratio_batch_size", relation="<="), wider_batches),
        (claim("seconds", relation="<"), grid["seconds"].loc[[0.7], 7]),
    ]
    for model in best:
        pairs.append((claim("optimal_percent_least", model=model), best[model]))
    for path_weight in (0.5, 0.7):
        ratio = grid["nodes_expanded"].loc[1.0] / grid["nodes_expanded"].loc[path_weight]
        pairs.append((claim("nodes_expanded_ratio", path_weight=path_weight), ratio))
    for row in rows(relation=">", set="sample").to_dict("records"):
        group = rows(quantity=row["quantity"], model=row["model"], relation="=")
        at = group["iteration"] == row["iteration"] if row["iteration"] == row["iteration"] else group["value"] > 0
        pairs.append((row, group.loc[at, "value"]))
    return [(row, list(numbers)) for row, numbers in pairs]


def test_a_claim_has_an_erratum_exactly_where_the_thesis_s_own_tables_contradict_it():
    for row, numbers in claims_beside_the_tables():
        assert numbers
        contradicted = not all(holds(row["relation"], number, row["value"]) for number in numbers)
        assert contradicted == bool(row["erratum"]), row


def test_the_claim_on_consistency_repeats_the_table_s_admissible_share():
    wrong = claim("consistent_percent", value=87.407)
    right = dict(model=wrong["model"], iteration=wrong["iteration"], section="5.6")
    assert wrong["erratum"]
    assert rows(quantity="admissible_percent", **right)["value"].tolist() == [87.407]
    assert rows(quantity="consistent_percent", erratum="", **right)["value"].tolist() == [66.957]


def test_the_percentages_of_the_test_set_are_no_shares_of_its_10000_states():
    def shares(states: int) -> int:
        """How many of the printed percentages a set of so many states can give, rounded or cut off."""
        typed = TYPED[(TYPED["quantity"] == "optimal_percent") & (TYPED["set"] == "test")]
        typed = typed[(typed["distance"] == "") & (typed["relation"] == "=")]["value"]
        unit = [10 ** -len(value.partition(".")[2]) for value in typed]
        exact = np.round(typed.astype(float) * states / 100)
        for_each = np.abs(exact * 100 / states - typed.astype(float))
        return int((for_each < np.array(unit) + 1e-9).sum())

    assert claim("states_sampled", set="test")["value"] == 10000 and claim("states_sampled", set="test")["erratum"]
    assert shares(10000) < 10 and shares(9990) == 27


@pytest.mark.parametrize("path_weight", LISTINGS)
def test_a_listing_solves_the_puzzle_in_as_many_moves_as_the_thesis_says(path_weight, replayed):
    found = replayed(listing(path_weight))
    assert found.legal.all() and found.solves and found.distance[-1] == 0
    assert found.moves == LISTINGS[path_weight]
    reported = rows(quantity="length", puzzle="hanoi_7", iteration=1354, path_weight=float(path_weight))
    assert set(reported["value"]) == {found.moves}
    assert (found.states[0] == 2).all() and (found.states[-1] == 0).all()


def test_the_shorter_listing_is_optimal(replayed):
    found = replayed(listing("0.7"))
    assert found.extra_moves == 0 and found.detours.size == 0 and found.moves_before_detour == 127
    assert found.distance.tolist() == list(range(127, -1, -1))


def test_the_longer_listing_loses_four_moves_after_the_104th(replayed):
    found = replayed(listing("0.3"))
    assert found.extra_moves == claim("extra_moves")["value"] == 4
    assert found.moves_before_detour == claim("moves_before_detour")["value"] == 104
    assert found.detours.tolist() == [105, 106, 107, 108]
    assert set(np.diff(found.distance)) == {-1, 0}
    assert listing("0.3").iloc[104:108, 1:].to_numpy().tolist() == [[0, 0, 2], [1, 0, 1], [0, 2, 1], [2, 0, 2]]


@pytest.mark.parametrize("move", [1, 64, 127])
def test_a_listing_with_a_changed_move_does_not_solve(move, replayed):
    changed = listing("0.7")
    changed.loc[move - 1, "to"] = 3 - changed.loc[move - 1, "from"] - changed.loc[move - 1, "to"]
    assert not replayed(changed).solves


def test_moves_against_the_rules_are_told_one_by_one(replayed):
    moves = [
        (1, 2, 0),
        (0, 2, 1),
        (1, 2, 1),
        (0, 0, 1),
        (0, 1, 1),
    ]  # buried; fair; onto a smaller disk; not there; nowhere
    frame = pd.DataFrame(
        [(number, *move) for number, move in enumerate(moves, 1)], columns=["move", "disk", "from", "to"]
    )
    assert replayed(frame).legal.tolist() == [False, True, False, False, False]


def test_a_listing_that_is_cut_off_is_legal_but_does_not_solve(replayed):
    found = replayed(listing("0.7").iloc[:-1])
    assert found.legal.all() and not found.solves and found.distance[-1] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(index=4), "Row 5 of the listing is numbered as move 6"),
        (lambda frame: frame.assign(disk=frame["disk"] + 1), "is not one of hanoi_7's"),
        (lambda frame: frame.assign(to=frame["to"] - 1), "is not one of hanoi_7's"),
        (lambda frame: frame.drop(columns="from"), "has the columns move, disk, from, to"),
        (lambda frame: frame.assign(disk=frame["disk"].where(frame["disk"] > 0)), "whole numbers only"),
    ],
)
def test_rows_that_are_no_moves_of_the_puzzle_are_refused_in_one_sentence(change, message, replayed):
    with pytest.raises(UserError, match=message) as told:
        replayed(change(listing("0.7")))
    assert str(told.value).endswith(".") and "\n" not in str(told.value)


SETTINGS = REPORTED[REPORTED["quantity"].isin(PLACES) & (REPORTED["model"] != "")]
STUDY = load([Path(__file__).parents[1] / "config" / "thesis.yaml"])


@pytest.mark.parametrize("model", sorted(SETTINGS["model"].unique()))
def test_the_exact_recipe_of_a_training_has_the_settings_that_the_thesis_gives(model):
    """Of iterations the last count: the thesis went on with its first trainings."""
    trainings = [name for name in STUDY.models if TrainingName.of(name)[0] == model]
    for name in trainings:
        ours = flatten(STUDY.models[name].model_dump())
        told = SETTINGS[SETTINGS["model"] == model].groupby("quantity")["value"].max()
        assert {quantity: ours[PLACES[quantity]] for quantity in told.index} == told.to_dict(), name
        assert ours["learning_rate"] == 2e-4 and ours["minibatch"] == 32 and ours["precision"] == "float32"
    assert trainings
