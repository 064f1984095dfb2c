"""Figures: each is drawn from what it names, can be read, and is drawn with those of its puzzle or model alone."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
import synthetic_large
import synthetic_local_vi
from hypothesis import given
from hypothesis import strategies as some
from known_puzzles import ABILITIES
from matplotlib.colors import to_hex
from messages import is_one_sentence
from stage_recipes import write_recipe
from synthetic_study import hanoi_distances, hanoi_solution, study_of, write_kept, write_results

from costtogo.figures.beams import external_excess
from costtogo.figures.binning import BINS, bin_width, binned_counts, binned_means
from costtogo.figures.catalogue import GROUPS, KINDS, FigureEntry, captions, catalogue, drawn, of_puzzle, parts
from costtogo.figures.chosen import telling_cell
from costtogo.figures.distances import sampled_distances, sampler_difference
from costtogo.figures.drawing import draw
from costtogo.figures.hanoi import edges, positions, ranks_along, solutions_on_graph
from costtogo.figures.searches import percent_text, seconds_text
from costtogo.figures.states import two_states
from costtogo.figures.style import FIGURES, SEQUENTIAL, YELLOW, count_text, image, readable_on
from costtogo.figures.training import progress
from costtogo.files import FileError, digest, read_json
from costtogo.puzzles import make
from costtogo.stages import figures as stage
from costtogo.tables.kept import whose
from costtogo.tables.results import References, StudyResults

STUDY = study_of()
SAMPLED = {name: synthetic_large.study_of(name) for name in ("cube3", "puzzle15")}
LOCAL = synthetic_local_vi.study_of()
FOLDER = tempfile.TemporaryDirectory()  # of results, which no test changes
RESULTS, MEASURED = Path(FOLDER.name) / "results", write_kept(Path(FOLDER.name) / "measured")
ENTRIES = {"tiny": catalogue(STUDY, MEASURED), "local_vi": of_puzzle(LOCAL)}
ENTRIES |= {name: of_puzzle(study) for name, study in SAMPLED.items()}
ALL = [pytest.param(name, entry, id=f"{name} {entry.name}") for name, entries in ENTRIES.items() for entry in entries]
SAID = captions(Path(__file__).parent.parent / "workflow" / "captions.yaml")
DISKS = [1, 2, 3, 5]
LEAST_HEIGHT = 60  # pixels of a panel that can be read


@pytest.fixture(scope="module")
def results() -> Path:
    write_results(STUDY, RESULTS)
    for study in SAMPLED.values():
        synthetic_large.write_results(study, RESULTS)
    synthetic_local_vi.write_results(LOCAL, RESULTS)
    return RESULTS


def entry_of(name: str, study: str = "tiny") -> FigureEntry:
    """The first figure whose files have a name, or that is of a kind of this name."""
    return next(entry for entry in ENTRIES[study] if name in (entry.name, entry.kind))


def found_in(folder: Path) -> StudyResults:
    """The results of a study, and what the made-up studies of MEASURED have kept."""
    return StudyResults(folder, references=References(measured=MEASURED))


def test_listing_the_figures_loads_no_heavy_package():
    code = "import sys, costtogo.figures.catalogue; print({'matplotlib', 'pandas', 'torch'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"


def test_every_kind_has_one_function_and_one_caption_and_the_other_way_round():
    kinds = [kind.name for group in GROUPS for some in group[1:] for kind in some]
    kept = {entry.kind for entry in ENTRIES["tiny"] if entry.study}
    assert len(set(kinds)) == len(kinds) and not kept & set(kinds)
    assert set(FIGURES) == {*kinds, *kept} == {*SAID}
    here = {entry.kind for entries in ENTRIES.values() for entry in entries}
    elsewhere = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    untested = [kind for kind in set(FIGURES) - here if not re.search(rf"import .*\b{kind}\b", elsewhere)]
    assert untested == [], "what the made-up studies have no files of has a test of its own that draws it"


@pytest.mark.parametrize("name", ABILITIES)
def test_every_puzzle_has_a_picture_of_its_states(name):
    puzzle = make(name)
    (axes,) = two_states(puzzle, {"goal": puzzle.goal}).axes
    assert axes.patches and axes.get_title() == "goal"


@pytest.mark.parametrize("kind", SAID)
def test_a_caption_is_made_of_sentences(kind):
    assert re.fullmatch(r"[A-Z].*\.", SAID[kind])


@pytest.mark.parametrize("study", ENTRIES)
def test_every_figure_has_a_name_of_its_own_and_every_model_has_figures(study):
    entries = ENTRIES[study]
    assert len({entry.stem for entry in entries}) == len(entries)
    models = SAMPLED[study].models if study in SAMPLED else STUDY.models if study == "tiny" else ()
    told = {whose(address)[0].split("/")[1] for entry in entries for address in entry.own_tables}
    assert set(models) <= told | {entry.model for entry in entries}


@pytest.mark.parametrize(("study", "entry"), ALL)
def test_a_figure_can_be_read(study, entry, results):
    figure = draw(entry, found_in(results / study))
    image(figure, "png")
    boxes = [axes.get_window_extent() for axes in figure.axes]
    assert boxes and all(box.height >= LEAST_HEIGHT for box in boxes if study != "tiny")
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, "the legend lies inside the figure"
        assert not any(box.overlaps(panel) for panel in boxes), "and covers no panel"


def test_seven_models_of_long_names_are_told_apart_in_a_legend_that_fits(tmp_path):
    study = study_of((), cube_models=[f"architecture_without_batch_norm_{number}" for number in range(7)])
    folder = write_results(study, tmp_path)
    for entry in catalogue(study, MEASURED):
        if entry.kind in ("error_by_distance", "optimal_by_distance"):
            figure = draw(entry, found_in(folder))
            image(figure, "png")
            (legend,) = figure.legends
            box = legend.get_window_extent()
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
            assert all(axes.get_window_extent().height >= LEAST_HEIGHT for axes in figure.axes)
            lines = [line for line in legend.get_lines() if line.get_label().startswith("architecture_")]
            assert len({line.get_label() for line in lines}) == 7
            assert len({(line.get_color(), line.get_marker()) for line in lines}) == 7


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_models_of_a_puzzle_have_a_panel_or_a_row_each_in_one_figure_of_a_kind(count, tmp_path):
    names = [f"network_{number}" for number in range(count)]
    folder = write_results(study := study_of((), cube_models=names), tmp_path)
    found = {entry.kind: entry for entry in catalogue(study, MEASURED) if entry.puzzle == "cube2"}
    for kind in ("training", "learning_curve"):
        titles = [axes.get_title(loc="left") for axes in draw(found[kind], found_in(folder)).axes]
        assert [title.partition("\n")[0] for title in titles if title] == names, kind
    for kind in ("audit", "grid", "seconds"):
        axes = draw(found[kind], found_in(folder)).axes[0]
        rows = [label.get_text() for label in axes.get_yticklabels()]
        assert [name for name in names if any(row.startswith(name) for row in rows)] == names, kind


def test_pictures_hold_no_version_and_no_date_and_leave_the_settings_of_matplotlib_alone(results):
    before = dict(matplotlib.rcParams)
    figure = draw(entry_of("distances"), found_in(results / "tiny"))
    for kind in KINDS:
        assert matplotlib.__version__.encode() not in image(figure, kind)
    assert b"<dc:date>" not in image(figure, "svg")
    assert dict(matplotlib.rcParams) == before


def test_a_figure_reads_no_card_but_its_own(tmp_path):
    folder = write_results(study := study_of(()), tmp_path)
    (folder / "models" / "written_at_this_moment.json").write_text("{")
    entry = next(entry for entry in catalogue(study, MEASURED) if entry.cards)
    assert draw(entry, found_in(folder)).axes


@pytest.fixture
def project(results, tmp_path, monkeypatch) -> Path:
    """A project with the results of the made-up study, in which a test draws."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COSTTOGO_TRACKING", "off")
    Path("results").symlink_to(results)
    Path("data").mkdir()
    Path("data/measured").symlink_to(MEASURED)
    return tmp_path


def draw_part(study: str, part: str) -> dict[str, bytes]:
    """Run the stage of a part; the files that it has written, which are those of its card and no others."""
    entries = [vars(entry) for entry in parts(ENTRIES[study])[part]]
    parameters = {"study": study, "part": part, "puzzles": sorted({entry["puzzle"] for entry in entries})}
    recipe = write_recipe("figures", Path(f"results/{study}/figures/{part}"), parameters | {"figures": entries})
    reports = Path("reports") / study
    stage.run(recipe, Path("results") / study, reports)
    timed = {str(path) for path in reports.glob("**/timings/*.*")}
    written = {str(path): path.read_bytes() for path in reports.rglob("*.*")}
    assert written.keys() - timed == read_json(Path(f"results/{study}/figures/{part}.json"))["outputs"].keys()
    return {path.removeprefix(f"reports/{study}/"): content for path, content in written.items()}


@pytest.mark.parametrize(("study", "part"), [("tiny", "cube2"), ("puzzle15", "puzzle15"), ("tiny", "long")])
def test_the_stage_writes_each_figure_of_its_part_in_both_kinds_and_the_same_bytes_again(study, part, project):
    first = draw_part(study, part)
    assert set(first) == {entry.file(kind) for entry in parts(ENTRIES[study])[part] for kind in KINDS}
    assert draw_part(study, part) == first


def test_a_missing_result_is_named(project):
    (project / "results").unlink()
    with pytest.raises(FileError, match=r"Cannot read results/tiny/.*: No such file") as told:
        draw_part("tiny", "cube2")
    assert is_one_sentence(str(told.value))


def test_pictures_of_what_the_study_no_longer_has_are_removed_and_no_others(tmp_path):
    entry = entry_of("seconds")
    shown = [tmp_path / entry.file(kind) for kind in KINDS]
    gone = [tmp_path / place / "loss_of_a_model_that_is_gone" for place in ("figures", "svg/timings")]
    gone = [path.with_suffix(suffix) for path, suffix in zip(gone, (".png", ".svg"), strict=True)]
    others = [tmp_path / "timings" / "stages.csv", tmp_path / "report.md"]
    for path in (*shown, *gone, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    stage.remove_figures(tmp_path, [entry])
    assert {path for path in tmp_path.rglob("*.*")} == {*shown, *others}


def test_a_part_needs_the_stages_that_its_figures_read_and_no_others():
    needs = {part: {need for entry in some for need in entry.needs} for part, some in parts(ENTRIES["tiny"]).items()}
    of_one = {f"{group}/hanoi_3_adaptive" for group in ("models", "audits", "searches")}
    assert of_one <= needs["hanoi_3_adaptive"] <= {*of_one, "tables/hanoi_3"}, "of its model and its puzzle alone"
    towers = {f"models/{name}" for name, model in STUDY.models.items() if model.puzzle == "hanoi_3"}
    assert {need for need in needs["hanoi_3"] if need.startswith("models/")} == towers
    assert needs["long"] == needs["repeated"] == set(), "what other studies kept is there"
    assert entry_of("compared", "local_vi").needs == ["compared/puzzle15"]


@pytest.mark.parametrize("study", SAMPLED)
def test_figures_are_shown_of_what_has_run_and_of_external_instances_with_the_network_of_now(study, results, tmp_path):
    everything = found_in(results / study).find_card
    external, model = entry_of("external_excess", study), next(iter(SAMPLED[study].models))
    solved = {
        f"results/{study}/models/{model}/checkpoints.parquet": digest(
            results / study / f"models/{model}/checkpoints.parquet"
        )
    }

    def shown(**changed) -> set[FigureEntry]:
        return set(drawn(ENTRIES[study], lambda stage: everything(stage) | changed.get(stage.split("/")[0], {})))

    assert shown(external={"inputs": solved}) == set(ENTRIES[study])
    assert shown(external={"inputs": dict.fromkeys(solved, "0" * 64)}) == set(ENTRIES[study]) - {external}
    without_beams = drawn(ENTRIES[study], lambda stage: {} if stage.startswith("beams/") else everything(stage))
    assert {entry.kind for entry in set(ENTRIES[study]) - set(without_beams)} == {"beam_lengths", "beam_seconds"} | (
        {"prefix_lengths"} if study == "cube3" else set()
    )


@pytest.mark.parametrize("study", SAMPLED)
def test_no_figure_of_an_external_run_is_waited_for(study):
    assert [entry.kind for entry in ENTRIES[study] if entry.optional] == ["external_excess"]


@pytest.mark.parametrize("disks", DISKS)
def test_every_move_of_the_towers_has_length_one(disks):
    places = positions(disks)
    pairs = edges(make(f"hanoi_{disks}"))
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
    puzzle = make(f"hanoi_{disks}")
    ranks = ranks_along(puzzle, " ".join(hanoi_solution(disks)))
    pairs = {frozenset(pair) for pair in edges(puzzle).tolist()}
    assert all(frozenset(step) in pairs for step in zip(ranks[:-1].tolist(), ranks[1:].tolist(), strict=True))
    assert hanoi_distances(f"hanoi_{disks}")[ranks].tolist() == list(range(2**disks - 1, -1, -1))


def test_a_tower_that_no_search_solved_is_drawn_without_a_way():
    figure = solutions_on_graph(make("hanoi_3"), {"net": ("", "net")}, {"net": np.linspace(-1, 1, 27)})
    assert "no way found" in figure.axes[0].get_title(loc="left")


def test_an_engine_that_was_timed_in_one_cell_leaves_the_others_blank():
    rows = [
        ("table", 0.5, 1, 1e-5),
        ("table", 0.7, 1, 2e-5),
        ("table", 0.7, 7, 3e-5),
        ("network alone", 0.7, 1, 0.2),
    ]
    clock = pd.DataFrame(rows, columns=["engine", "path_weight", "batch_size", "seconds"])
    clock = clock.assign(set="test", heuristic="network", precision="float32", searches=9)
    (axes,) = drawn_from(entry_of("seconds"), clocks={"net": clock}).axes
    assert [text.get_text() for text in axes.texts] == ["10 µs", "20 µs", "30 µs", "200 ms"], "of six cells"


def drawn_from(entry: FigureEntry, **frames: pd.DataFrame) -> matplotlib.figure.Figure:
    """The figure of an entry with other tables in place of what it reads."""
    return FIGURES[entry.kind](**frames, **entry.options)


def test_a_training_without_a_convergence_point_is_drawn():
    columns = ["iteration", "convergence_point", "distance", "states", "mean_absolute_error", "bias"]
    figure = drawn_from(entry_of("learning_curve"), errors={"one": pd.DataFrame(columns=columns)})
    assert [text.get_text() for text in figure.axes[0].texts] == ["no convergence point was reached"]


def test_a_training_whose_trainer_has_no_loss_to_reach_is_drawn_without_one(results):
    entry = entry_of("training_cube2")
    curve = found_in(results / "tiny").whole(entry.tables["curves"][0])
    drawn = [
        FIGURES["training"]({"net": curve}, {"net": {"epsilon": epsilon, "name": "nats"}}) for epsilon in (0.05, None)
    ]
    labels = [[text.get_text() for text in figure.legends[0].get_texts()] for figure in drawn]
    assert labels[0] == [*labels[1], "ε"]


@pytest.mark.parametrize("losses", [("moves²", "moves²"), ("moves²", "nats")])
def test_losses_share_a_scale_and_a_unit_where_they_have_one(results, losses):
    curve = found_in(results / "tiny").whole(entry_of("training_cube2").tables["curves"][0])
    curves = {"one": curve, "other": curve.assign(loss=100 * curve["loss"])}
    figure = FIGURES["training"](
        curves, {name: {"epsilon": None, "name": loss} for name, loss in zip(curves, losses, strict=True)}
    )
    limits = {axes.get_ylim() for axes in figure.axes if axes.lines}
    alike = losses[0] == losses[1]
    assert (len(limits) == 1) == alike and (figure.get_supylabel() == "moves²") == alike


def test_the_goal_where_every_network_says_0_takes_no_part_of_the_learning_curve(results):
    entry = entry_of("learning_curve")
    errors = {address: found_in(results / "tiny").whole(address) for address in entry.tables["errors"]}
    axes = drawn_from(entry, errors=errors).axes[0]
    assert axes.get_ylim()[0] > 0


def test_kept_trainings_are_those_of_other_studies_on_a_puzzle_of_this_one(tmp_path):
    def kept(study) -> list[str]:
        return [entry.stem for entry in catalogue(study, tmp_path) if entry.kind == "kept_training"]

    assert kept(STUDY) == []
    for name in ("long", STUDY.study):
        write_kept(tmp_path, name)
    assert kept(STUDY) == ["figures/kept_training_long_cube2"]
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
    searches = {"iteration": [10, 20], "solved_percent": [50.0, 100.0], "length": [30.0, 25.0], "excess": [9.0, 4.0]}
    figure = progress(pd.DataFrame({**searches, "optimal_percent": optima}), {"metrics": {"states_seen": 4e6}})
    assert figure.axes[0].lines[0].get_xdata().tolist() == [2, 4], "millions of states"
    shown = [line.get_ydata().tolist() for axes in figure.axes for line in axes.lines]
    known = not np.isnan(optima).any()
    assert shown == ([[9, 4], [50, 100], optima] if known else [[30, 25], [50, 100]])


def test_drawn_shares_are_percent_of_the_states_of_their_sampler():
    figure = sampled_distances(spread_of({"deepcube": [1, 3, 4, 0]}), "K")
    expected, drawn = (line.get_ydata() for line in figure.axes[0].lines[:2])
    assert expected.tolist() == 4 * [25] and drawn.tolist() == [12.5, 37.5, 50, 0]


def test_the_difference_of_samplers_is_the_second_minus_the_first():
    figure = sampler_difference(spread_of({"deepcube": [1, 3, 4, 0], "deepcubea": [3, 3, 0, 2]}))
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
    binned = binned_means(frame, ["value"], "weight", width)
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
        (count_text, 1e10, "10 G"),
    ],
)
def test_numbers_are_written_as_people_read_them(write, value, text):
    assert write(value) == text


@pytest.mark.parametrize(("puzzle", "cost", "bars"), [("cube3", [20, 22, 20, 24], 3), ("sokoban", [20, 21, 20, 24], 5)])
def test_every_solution_is_in_a_bar_of_moves_beyond_the_shortest(puzzle, cost, bars):
    searches = pd.DataFrame({"seconds_allowed": 1.0, "optimal": 20.0, "cost": np.array(cost, dtype=float)})
    drawn = external_excess(searches, puzzle).axes[0].patches
    assert len(drawn) == bars and sum(bar.get_height() for bar in drawn) == len(cost)
