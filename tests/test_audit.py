"""The audit against its definitions, and the summary of searches by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from costtogo.analysis.audit import audit, consistent_states, measures, measures_by_distance
from costtogo.analysis.intervals import wilson
from costtogo.exact.graph import neighbour_table
from costtogo.params.audits import ExhaustiveAudit
from costtogo.puzzles import make
from costtogo.stages.audit import wanted_checkpoints
from costtogo.types import NO_STATE

HANOI = make("hanoi_4")


@given(seed=st.integers(0, 2**32 - 1))
def test_a_state_descends_where_its_best_neighbour_is_nearer_the_goal(distances_of, seed):
    distance, neighbours = distances_of("hanoi_4").astype(int), neighbour_table(HANOI)
    values = noisy(distance, seed)
    expected = [
        moves == 0 or distance[min((state for state in row if state != NO_STATE), key=values.__getitem__)] < moves
        for moves, row in zip(distance, neighbours, strict=True)
    ]
    np.testing.assert_array_equal(audit(values, distance, neighbours).descending, expected)


def test_the_exact_heuristic_descends_everywhere_and_ranks_as_the_distance(audited, distances_of):
    findings = audited(distances_of("hanoi_4"))
    assert findings.descending.all() and findings.rank_correlation == pytest.approx(1)
    assert np.isnan(audited(np.zeros(81)).rank_correlation)


def test_the_rank_correlation_is_spearman_s(audited, distances_of):
    values = noisy(distances_of("hanoi_4"), 3)
    expected = stats.spearmanr(values, distances_of("hanoi_4")).statistic
    assert audited(values).rank_correlation == pytest.approx(expected, rel=1e-9)


@pytest.fixture
def audited(distances_of):
    """Audit values of hanoi_4."""

    def findings(values):
        return audit(np.asarray(values, dtype=np.float32), distances_of("hanoi_4"), neighbour_table(HANOI))

    return findings


def noisy(distance, seed: int) -> np.ndarray:
    return (distance + np.random.default_rng(seed).uniform(-2, 2, len(distance))).astype(np.float32)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_audit_agrees_with_the_definitions_state_by_state(distances_of, seed):
    distance, neighbours = distances_of("hanoi_4"), neighbour_table(HANOI)
    values = noisy(distance, seed)
    consistent = [
        all(value <= np.float32(1) + values[next_state] for next_state in row if next_state != NO_STATE)
        for value, row in zip(values, neighbours, strict=True)
    ]
    over = [float(value) - moves for value, moves in zip(values, distance.tolist(), strict=True) if value > moves]
    off = [float(value) - moves for value, moves in zip(values, distance.tolist(), strict=True)]
    found = measures(audit(values, distance, neighbours))
    assert found["states"] == 81
    assert found["admissible_percent"] == pytest.approx(100 * (81 - len(over)) / 81)
    assert found["consistent_percent"] == pytest.approx(100 * sum(consistent) / 81)
    assert found["overestimation_mean"] == pytest.approx(np.mean(over), rel=1e-4)
    assert found["overestimation_max"] == pytest.approx(max(over), rel=1e-4)
    assert found["mean_absolute_error"] == pytest.approx(np.mean(np.abs(off)), rel=1e-4)
    assert found["bias"] == pytest.approx(np.mean(off), rel=1e-3, abs=1e-5)


def test_the_exact_heuristic_is_admissible_and_consistent_everywhere(puzzle, distance):
    found = measures(audit(distance.astype(np.float32), distance, neighbour_table(puzzle)))
    assert found["admissible_percent"] == found["consistent_percent"] == 100
    assert {found[name] for name in ("overestimation_max", "mean_absolute_error", "bias")} == {0}
    assert np.isnan(found["overestimation_mean"]), "the mean of nothing is no number"


@pytest.mark.parametrize("constant", [-2.0, 0.5, 3.0])
def test_adding_a_constant_shifts_the_bias_and_leaves_consistency(constant, audited, distances_of):
    values = np.round(noisy(distances_of("hanoi_4"), 0))
    before, after = measures(audited(values)), measures(audited(values + constant))
    assert after["bias"] == pytest.approx(before["bias"] + constant)
    assert after["consistent_percent"] == before["consistent_percent"] < 100
    assert after["overestimation_max"] == pytest.approx(before["overestimation_max"] + constant)


def test_one_value_raised_is_one_inadmissible_state(audited, distances_of):
    values = distances_of("hanoi_4").astype(np.float32)
    values[40] += 2.5
    found = measures(audited(values))
    assert found["admissible_percent"] == pytest.approx(100 * 80 / 81)
    assert found["overestimation_mean"] == found["overestimation_max"] == 2.5
    assert not audited(values).consistent[40]


def test_a_difference_of_one_move_is_consistent_and_one_beyond_is_not():
    neighbours = np.array([[1, NO_STATE], [0, 2], [1, NO_STATE]], dtype=np.int32)
    values = np.array([0, 1, 2.25], dtype=np.float32)
    assert consistent_states(values, neighbours).tolist() == [True, True, False]


def test_each_distance_has_the_measures_of_its_own_states(audited, distances_of):
    distance = distances_of("hanoi_4")
    findings = audited(noisy(distance, 3))
    rows = measures_by_distance(findings)
    assert [row["distance"] for row in rows] == list(range(16))
    for row in rows:
        assert {**row, "distance": None} == {"distance": None, **measures(findings.at(distance == row["distance"]))}
    assert sum(row["states"] for row in rows) == 81


def test_a_state_drawn_twice_counts_twice(audited, distances_of):
    values = distances_of("hanoi_4").astype(np.float32)
    values[5] += 1
    found = measures(audited(values).at(np.array([5, 5, 6, 7])))
    assert found["states"] == 4 and found["admissible_percent"] == 50


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)],
)  # 81 of 263: Newcombe 1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E, method 3
def test_the_wilson_interval_has_its_known_values(successes, trials, low, high):
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


@given(trials=st.integers(1, 500), data=st.data())
def test_the_wilson_interval_holds_the_share_and_mirrors_its_complement(trials, data):
    successes = data.draw(st.integers(0, trials))
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials + 1e-12 and successes / trials - 1e-12 <= high <= 1
    assert wilson(trials - successes, trials) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(
    ("last", "points", "iterations"),
    [
        (1, [], [60]),
        (2, [], [50, 60]),
        (1, [2, 3], [20, 30, 60]),
        (9, [1], [10, 20, 30, 50, 60]),
        (1, [5], [60]),
        (1, [4], [50, 60]),
        (0, [2], [20]),
        (0, [9], [60]),
    ],
)
def test_the_last_checkpoints_and_those_of_the_points_are_audited(last, points, iterations):
    checkpoints = pd.DataFrame(
        {
            "iteration": [10, 20, 30, 50, 60],
            "convergence_point": [1, 2, 3, 4, 4],
            "kind": ["convergence_point"] * 4 + ["end"],
        }
    )
    wanted = ExhaustiveAudit(checkpoints=last, points=points, walks=1, walk_max=1)
    assert wanted_checkpoints(checkpoints, wanted)["iteration"].tolist() == iterations
