"""Figures: all are drawn, none changes without a reason, and the Towers of Hanoi lie where they should."""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some
from matplotlib.colors import to_hex
from synthetic_study import hanoi_distances, hanoi_solution, study_of, write_kept, write_results

from costtogo.figures.binning import BINS, bin_width, binned_counts, binned_means
from costtogo.figures.catalogue import catalogue, file_of, names
from costtogo.figures.drawings import telling_cell
from costtogo.figures.hanoi import edges, positions, ranks_along, solution_on_graph
from costtogo.figures.large import progress
from costtogo.figures.samplers import sampled_distances, sampler_difference
from costtogo.figures.searches import percent_text, search_seconds, seconds_text
from costtogo.figures.states import two_states
from costtogo.figures.style import SEQUENTIAL, YELLOW, count_text, image, readable_on
from costtogo.figures.training import around_last_points, error_by_distance, learning_curve
from costtogo.files import FileError
from costtogo.puzzles import make
from costtogo.stages import figures as stage

STUDY = study_of()
KEPT = tempfile.TemporaryDirectory()
MEASURED = write_kept(Path(KEPT.name))
CAPTIONS = Path(__file__).parent.parent / "workflow" / "captions"
DISKS = [1, 2, 3, 5]
LEAST_HEIGHT = 60  # pixels of a panel that can be read


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    return write_results(STUDY, tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def drawn(results, tmp_path_factory) -> dict[str, matplotlib.figure.Figure]:
    figures = {entry.stem: entry.draw(results) for entry in catalogue(STUDY, MEASURED)}
    for figure in figures.values():
        image(figure, "png")
    return figures


@pytest.mark.parametrize("module", ["catalogue", "catalogue_large"])
def test_listing_the_figures_loads_no_heavy_package(module):
    heavy = {"matplotlib", "pandas", "torch"}
    code = f"import sys, costtogo.figures.{module}; print(sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_every_figure_has_a_name_of_its_own():
    assert len(set(names(STUDY, MEASURED))) == len(names(STUDY, MEASURED)) == len(catalogue(STUDY, MEASURED))


def test_a_puzzle_without_a_model_has_no_figure():
    study = study_of()
    study.puzzles["hanoi_9"] = None
    assert names(study, MEASURED) == names(STUDY, MEASURED)


def test_every_model_and_puzzle_is_drawn():
    subjects = {(entry.puzzle, entry.model) for entry in catalogue(STUDY, MEASURED)}
    assert {(model.puzzle, name) for name, model in STUDY.models.items()} <= subjects
    assert {(puzzle, None) for puzzle in STUDY.puzzles} <= subjects


@pytest.mark.parametrize("kind", sorted({entry.kind for entry in catalogue(STUDY, MEASURED)}))
def test_every_kind_has_a_caption_of_one_sentence(kind):
    caption = (CAPTIONS / f"{kind}.rst").read_text().strip()
    assert caption.endswith(".")
    assert ". " not in caption


def test_there_is_no_caption_without_a_figure():
    assert {path.stem for path in CAPTIONS.glob("*.rst")} >= {entry.kind for entry in catalogue(STUDY, MEASURED)}


@pytest.mark.parametrize("name", names(STUDY, MEASURED))
def test_a_figure_reads_only_the_inputs_it_names(name, results, tmp_path):
    entry = next(entry for entry in catalogue(STUDY, MEASURED) if entry.stem == name)
    for path in entry.inputs:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((results / path).read_bytes())
    assert all(Path(path).exists() for path in entry.kept)
    assert entry.draw(tmp_path).axes


@pytest.mark.parametrize("name", names(STUDY, MEASURED))
def test_a_legend_covers_no_panel(name, drawn):
    figure = drawn[name]
    for legend in figure.legends:
        for axes in figure.axes:
            assert not legend.get_window_extent().overlaps(axes.get_window_extent())


@pytest.mark.parametrize("name", names(STUDY, MEASURED))
def test_a_legend_lies_inside_its_figure(name, drawn):
    figure = drawn[name]
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


def test_seven_models_of_long_names_are_told_apart_in_a_legend_that_fits(tmp_path):
    study = study_of((), cube_models=[f"architecture_without_batch_norm_{number}" for number in range(7)])
    folder = write_results(study, tmp_path)
    for entry in catalogue(study, MEASURED):
        if entry.kind in ("audit", "error_by_distance", "error_at_point", "optimal_by_distance"):
            figure = entry.draw(folder)
            image(figure, "png")
            (legend,) = figure.legends
            box = legend.get_window_extent()
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            assert all(axes.get_window_extent().height >= LEAST_HEIGHT for axes in figure.axes)
            lines = [line for line in legend.get_lines() if line.get_label().startswith("architecture_")]
            assert len({line.get_label() for line in lines}) == 7
            assert len({(line.get_color(), line.get_marker()) for line in lines}) == 7


def test_the_stage_writes_each_figure_in_both_kinds_and_the_same_bytes_again(results, tmp_path):
    gone = tmp_path / "first" / STUDY.study / "figures" / "loss_of_a_model_that_is_gone.svg"
    gone.parent.mkdir(parents=True)
    gone.write_text("")
    first = stage.draw_catalogue(STUDY, results.parent, tmp_path / "first", MEASURED)
    again = stage.draw_catalogue(STUDY, results.parent, tmp_path / "again", MEASURED, processes=1)
    expected = {file_of(name, kind) for name in names(STUDY, MEASURED) for kind in ("png", "svg")}
    folder = tmp_path / "first" / STUDY.study
    assert {path.relative_to(folder).as_posix() for path in first} == expected
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")} == expected
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_a_missing_result_is_named(results, tmp_path):
    with pytest.raises(FileError, match=r"states_cube2 needs .*tables/cube2\.npz"):
        stage.draw_catalogue(STUDY, tmp_path, tmp_path)


def test_pictures_hold_no_version_and_no_date(drawn):
    figure = drawn["figures/distances_cube2"]
    for kind in ("png", "svg"):
        assert matplotlib.__version__.encode() not in image(figure, kind)
    assert b"<dc:date>" not in image(figure, "svg")


def test_drawing_leaves_the_settings_of_matplotlib_alone(results):
    before = dict(matplotlib.rcParams)
    catalogue(STUDY, MEASURED)[0].draw(results)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("disks", DISKS)
def test_every_move_of_the_towers_has_length_one(disks):
    places = positions(disks)
    pairs = edges(disks)
    assert len(pairs) == 3 * (3**disks - 1) // 2
    lengths = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    np.testing.assert_allclose(lengths, 1)


@pytest.mark.parametrize("disks", DISKS)
def test_no_two_states_of_the_towers_share_a_place(disks):
    assert len(np.unique(positions(disks).round(6), axis=0)) == 3**disks


def test_a_board_of_tiles_shows_each_number_in_its_cell():
    puzzle = make("puzzle8")
    _, axes = two_states(puzzle, {"goal": puzzle.goal, "other": puzzle.parse_state("4 1 0 3 2 6 5 8 7")}).axes
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    cells = {int(x) + 3 * (2 - int(y)): number for (x, y), number in shown.items()}
    assert [cells.get(cell, "0") for cell in range(9)] == "4 1 0 3 2 6 5 8 7".split()


def test_a_board_of_lights_shows_those_that_are_on():
    puzzle = make("lights_out_3")
    _, axes = two_states(puzzle, {"goal": puzzle.goal, "other": puzzle.parse_state("110 100 001")}).axes
    lit = [patch.get_xy() for patch in axes.patches if to_hex(patch.get_facecolor()).upper() == YELLOW]
    assert sorted((x, 2 - y) for x, y in lit) == [(0, 0), (0, 1), (1, 0), (2, 2)]


@pytest.mark.parametrize("disks", DISKS)
def test_full_pegs_are_the_corners_of_the_triangle(disks):
    full = np.array([peg * (3**disks - 1) // 2 for peg in range(3)])
    corners = positions(disks)[full]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    np.testing.assert_allclose(sides, 2**disks - 1)


@pytest.mark.parametrize("disks", DISKS)
def test_a_least_solution_passes_along_moves_and_nears_the_goal_each_time(disks):
    ranks = ranks_along(" ".join(hanoi_solution(disks)), disks)
    pairs = {frozenset(pair) for pair in edges(disks).tolist()}
    assert all(frozenset(step) in pairs for step in zip(ranks[:-1].tolist(), ranks[1:].tolist(), strict=True))
    assert hanoi_distances(f"hanoi_{disks}")[ranks].tolist() == list(range(2**disks - 1, -1, -1))


def test_a_tower_that_no_search_solved_is_drawn_without_a_way():
    figure = solution_on_graph("", np.linspace(-1, 1, 27), label="model")
    assert "no way found" in figure.axes[0].get_title(loc="left")


def test_an_engine_that_was_timed_in_one_cell_leaves_the_others_blank():
    rows = [
        ("table", 0.5, 1, 1e-5),
        ("table", 0.7, 1, 2e-5),
        ("table", 0.7, 7, 3e-5),
        ("network alone", 0.7, 1, 0.2),
    ]
    figure = search_seconds(pd.DataFrame(rows, columns=["engine", "path_weight", "batch_size", "seconds"]))
    written = [{text.get_text() for text in axes.texts} for axes in figure.axes]
    assert written == [{"10 µs", "20 µs", "30 µs"}, {"200 ms"}]


@pytest.mark.parametrize("solution", ["1>0", "2>1 2>1"])
def test_a_move_against_the_rules_is_refused(solution):
    with pytest.raises(ValueError, match="is not legal"):
        ranks_along(solution, 2)


@pytest.mark.parametrize("draw", [learning_curve, error_by_distance])
def test_a_training_without_a_convergence_point_is_drawn(draw):
    columns = ["iteration", "convergence_point", "distance", "states", "mean_absolute_error", "bias", "label"]
    figure = draw(pd.DataFrame(columns=columns))
    assert [text.get_text() for text in figure.axes[0].texts] == ["no convergence point was reached"]


def test_models_are_compared_at_the_last_convergence_point_that_all_of_them_reached(results, tmp_path):
    entry = next(entry for entry in catalogue(STUDY, MEASURED) if entry.name == "error_at_point_cube2")
    for path, reached in zip(entry.inputs, (5, 3), strict=True):
        errors = pd.read_parquet(results / path)
        (tmp_path / path).parent.mkdir(parents=True)
        errors[errors["convergence_point"] <= reached].to_parquet(tmp_path / path)
    figure = entry.draw(tmp_path)
    assert figure.axes[0].get_title(loc="left") == "at convergence point 3"
    third = errors[errors["convergence_point"] == 3]
    np.testing.assert_allclose(figure.axes[0].lines[1].get_ydata(), third["mean_absolute_error"])


@pytest.mark.parametrize(
    ("points", "shown"),
    [([], (1, 1000)), ([300], (290, 350)), ([100, 400, 600], (360, 800)), ([100, 980, 1000], (970, 1000))],
)
def test_the_last_convergence_points_are_shown_from_just_before_them_to_as_long_after(points, shown):
    curve = pd.DataFrame({"iteration": np.arange(1, 1001)})
    iterations = around_last_points(curve.assign(updated=curve["iteration"].isin(points)))["iteration"]
    assert (iterations.min(), iterations.max()) == shown


def test_kept_trainings_are_those_of_other_studies_on_a_puzzle_of_this_one(tmp_path):
    def kept(study) -> list[str]:
        return [name for name in names(study, tmp_path) if "kept_training" in name]

    assert kept(STUDY) == []
    for name in ("long", STUDY.study):
        write_kept(tmp_path, name)
    assert kept(STUDY) == ["figures/kept_training_long_net"]
    other = study_of()
    del other.puzzles["cube2"]
    assert kept(other) == []


def spread_of(samplers: dict[str, list[int]]) -> pd.DataFrame:
    """States drawn at distances 0 … of each sampler, all with one walk length."""
    frames = [
        pd.DataFrame({"sampler": name, "walk_max": 9, "distance": range(len(drawn)), "states": 1, "sampled": drawn})
        for name, drawn in samplers.items()
    ]
    return pd.concat(frames).assign(expected_percent=25.0)


@pytest.mark.parametrize("optima", [[50.0, 100.0], [np.nan, np.nan]])
def test_where_no_optimum_is_known_the_length_of_solutions_is_drawn_in_place_of_the_excess(optima):
    searches = {"states": [1e6, 2e6], "solved_percent": [50.0, 100.0], "length": [30.0, 25.0], "excess": [9.0, 4.0]}
    figure = progress(pd.DataFrame({**searches, "optimal_percent": optima}))
    drawn = [line.get_ydata().tolist() for axes in figure.axes for line in axes.lines]
    known = not np.isnan(optima).any()
    assert drawn == ([[9, 4], [50, 100], optima] if known else [[30, 25], [50, 100]])


def test_drawn_shares_are_percent_of_the_states_of_their_sampler():
    figure = sampled_distances(spread_of({"deepcube": [1, 3, 4, 0]}), "K")
    expected, drawn = (line.get_ydata() for line in figure.axes[0].lines[:2])
    assert expected.tolist() == 4 * [25] and drawn.tolist() == [12.5, 37.5, 50, 0]


def test_the_difference_of_samplers_is_the_second_minus_the_first():
    figure = sampler_difference(spread_of({"deepcube": [1, 3, 4, 0], "deepcubea": [3, 3, 0, 2]}), "K")
    band, bars = figure.axes[0].containers
    assert [bar.get_height() for bar in bars] == [2, 0, -4, 2]
    assert [bar.get_y() + bar.get_height() for bar in band] == pytest.approx(4 * [2 * (2 * 8 * 3 / 16) ** 0.5])


@given(some.integers(0, 100_000))
def test_bins_are_few_and_narrow_puzzles_have_one_a_distance(largest):
    width = bin_width(largest)
    assert largest // width < BINS
    assert width == 1 or largest >= BINS


@given(some.lists(some.integers(0, 200), min_size=1))
def test_bins_lose_no_state(distances):
    middles, counts = binned_counts(np.array(distances), 200)
    assert counts.sum() == len(distances)
    assert middles.size == counts.size


@given(some.lists(some.tuples(some.floats(-50, 50), some.integers(1, 9)), min_size=1), some.integers(1, 9))
def test_binned_means_keep_the_weighted_mean(rows, width):
    frame = pd.DataFrame(rows, columns=["value", "weight"]).assign(distance=range(len(rows)))
    binned = binned_means(frame, "value", "weight", width)
    expected = np.average(frame["value"], weights=frame["weight"])
    assert np.average(binned["value"], weights=binned["weight"]) == pytest.approx(expected, abs=1e-9)


def test_shares_are_shown_for_a_set_of_more_than_one_instance():
    shares = pd.DataFrame(
        {
            "set": ["start", "uniform", "uniform"],
            "path_weight": 0.7,
            "batch_size": [7, 7, 1],
            "instances": [1, 50, 90],
        }
    )
    cell = {"set": "start", "path_weight": 0.7, "batch_size": 7}
    assert telling_cell(shares, cell)["set"] == "uniform"
    assert telling_cell(shares, cell | {"set": "uniform"})["set"] == "uniform"


@pytest.mark.parametrize("value", np.linspace(0, 1, 21))
def test_numbers_stand_out_from_the_colour_of_their_cell(value):
    color = matplotlib.colormaps[SEQUENTIAL](value)
    assert _contrast(color, matplotlib.colors.to_rgb(readable_on(color))) >= 4.5


def _contrast(one, other) -> float:
    """The contrast ratio of WCAG 2: 4.5 or more is readable."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color) -> float:
    parts = np.array(color[:3])
    linear = np.where(parts <= 0.04, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (percent_text, 100.0, "100"),
        (percent_text, 99.998, "99.99"),
        (percent_text, 99.407, "99.41"),
        (seconds_text, 2.72, "2.7 s"),
        (seconds_text, 0.27, "270 ms"),
        (seconds_text, 2.23e-5, "22 µs"),
        (count_text, 999.4, "999"),
        (count_text, 8.25, "8.25"),
        (count_text, 12345, "12,345"),
        (count_text, 99999.4, "99,999"),
        (count_text, 123456, "123 k"),
        (count_text, 999600, "1 M"),
        (count_text, 1234567, "1.23 M"),
    ],
)
def test_numbers_are_written_as_people_read_them(write, value, text):
    assert write(value) == text
