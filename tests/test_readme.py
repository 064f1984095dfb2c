"""What README and docs say in numbers is what committed files have; what they show, runs."""

import re
import shlex
from functools import cache
from operator import itemgetter
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image
from typer.main import get_command

from costtogo.cli import app
from costtogo.heuristics import network
from costtogo.literature.claims import scoreboard
from costtogo.literature.words import CANNOT_TELL, NOT_COMPARABLE, NOT_REACHED, WORSE
from costtogo.params.training import architecture_of
from costtogo.puzzles import make
from costtogo.report.beside import claims_in_short
from costtogo.tables.kept import MEASURED
from costtogo.tables.results import StudyResults
from costtogo.tables.rows import rows_of
from costtogo.tables.whole import tables_of

README = Path("README.md").read_text(encoding="utf-8")
PAGES = {
    path.name: path.read_text(encoding="utf-8") for path in [Path("README.md"), *sorted(Path("docs").glob("*.md"))]
}
KEPT = rows_of(MEASURED / "default")
SETTING = {"path_weight": 0.7, "batch_size": 5}
EVEN = {"set": "uniform"} | SETTING  # the result that README explains: states drawn evenly from all
TEST = {"set": "test"} | SETTING  # the thesis's states, on which seeds were compared
GUIDES = {"zero": "no heuristic", "network": "the network `DNN_final_2x2x2`", "exact": "the exact distance"}
CONSTANTS = (  # what stands in prose and is no measurement: puzzles, settings, versions, counts of documents
    *(r"λ = [01](?![.\d])", r"λ (below|may also be above) 1\b", r"\w+ et al\. 20\d\d", r"1 \+ J\(child\)"),
    *(r"0 at the goal", r"[01] for (the blank|a light)", r"width 1\b", r"bfloat16", r"10 × 10", r"15 random turns"),
    *(r"up to 6 moves away", r"pancake_20", r"first 12 digits"),
    *(r"\b(429|4xx)\b", r"120 seconds", r"\d+ [KG]iB"),
    *(r"2×2×2", r"3×3×3", r"\b(8|15|24|35|48)-puzzle", r"H\(10, 3\)", r"λ = 0\.7", r"\bN = [15]\b", r"thesis of 2022"),
    *(r"Python 3\.11", r"puzzle24", r"GF\(2\)", r"\bS3\b", r"\bkill -9\b", r"DeepCubeA"),
)


@cache
def tables(study: str) -> dict[str, pd.DataFrame]:
    """The tables of a study on one puzzle, from what was kept of it."""
    return tables_of(StudyResults.to_write_again(study))


@cache
def compared() -> pd.DataFrame:
    """The rows of the default report's comparison with the documents."""
    return pd.read_csv("reports/published/default/reported_vs_reproduced.csv").fillna({"recipe": "", "claim": ""})


def fallen_short() -> dict[str, int]:
    """How many claims about results have one of the verdicts that do not hold."""
    counts = scoreboard(compared())
    return counts.loc[counts["of"] == "results", [WORSE, NOT_REACHED, CANNOT_TELL, NOT_COMPARABLE]].sum().to_dict()


def states_of_the_cube() -> int:
    """All states of the 2×2×2 cube: the sum of the kept table's states by distance."""
    known = KEPT.table("instances/cube2/distributions")
    (count,) = known.groupby(["sampler", "walk_max"])["states"].sum().unique()
    return count


def networks_of_the_cube() -> tuple[float, float]:
    """The least and the most share of shortest solutions, in %, of the study's seven networks."""
    found = [address for address in KEPT.told if re.fullmatch("searches/DNN_.*/grid", address)]
    grids = pd.concat(map(KEPT.table, found))
    shares = grids.loc[(grids[list(EVEN)] == pd.Series(EVEN)).all(axis=1), "optimal_percent"]
    assert len(found) == len(shares) == 7
    return shares.min(), shares.max()


@cache
def measured() -> dict[str, str]:
    """What README should say of our results, by what is said."""
    told = claims_in_short(compared())
    claims = {"all": told} | {one["name"]: one for one in told["recipes"]}
    nodes = {name: f"{row['nodes_expanded']:,.0f}" for name, row in searches().items()}
    network, seeds = searches()["network"], seeds_of_the_cube()
    of = itemgetter("held", "judged")
    return {
        "nodes in the picture": f"no heuristic {nodes['zero']}, a trained network {nodes['network']}, "
        f"exact {nodes['exact']}",
        "states": f"For {network['instances']:,.0f} states drawn evenly from all {states_of_the_cube():,}",
        "shortest solutions": f"a shortest solution in {network['optimal_percent']:.2f} %",
        "nodes": f"It expands {nodes['network']} nodes on average.",
        "nodes without a heuristic": f"half of all states, so {searches()['zero']['instances']:.0f} were enough",
        "nodes by the exact distance": f"with the exact distance {nodes['exact']}",
        "seven networks": "the seven find {:.2f} to {:.2f} %".format(*networks_of_the_cube()),
        "nodes by seed": "{:.0f} to {:.0f} nodes on average".format(*seeds["base_cube2"]["nodes_expanded"]),
        "without batch normalisation": "{:.2f} to {:.2f} %, in place of ".format(
            *seeds["no_batch_norm"]["optimal_percent"]
        )
        + "{:.2f} to {:.2f} %".format(*seeds["base_cube2"]["optimal_percent"]),
        "claims that hold": "Of {1} claims about results that could be decided, {0} are reproduced or better".format(
            *of(claims["all"])
        ),
        "claims that do not": "{} came out worse, and {} were not reached; {} more cannot be decided, "
        "and {} not compared".format(*fallen_short().values()),
        "without a heuristic": f"{told['without']} of the {told['held']} a search without heuristic meets as well",
        "levels of Sokoban": "On {pairs:.0f} levels of Sokoban they have {their_nodes_generated:,.0f} generated nodes "
        "on average, those of our study have {nodes_generated:,.0f}.".format(
            **tables("sokoban-imitation")["external_released"].iloc[-1]
        ),
        "of compact networks": "{} of {} by compact networks".format(*of(claims["compact network"])),
        "of exact recipes": "{} of {} by the sources' own recipes".format(*of(claims["exact recipe"])),
    }


@cache
def searches() -> dict[str, pd.Series]:
    """The searches of the result that README reads aloud, by what guides them: rows of the study's grids."""
    grids = pd.concat(KEPT.table(f"searches/{name}/grid") for name in ("baseline_cube2", "DNN_final_2x2x2"))
    asked = grids[(grids[list(EVEN)] == pd.Series(EVEN)).all(axis=1)].set_index("heuristic")
    return {name: asked.loc[name] for name in GUIDES}


def seeds_of_the_cube() -> dict[str, dict[str, tuple[float, float]]]:
    """The least and the most of the chosen checkpoints of five trainings, by variant and measure."""
    variants = pd.read_csv("data/measured/ablations/variants.csv")
    chosen = variants[variants["selected"] & (variants["puzzle"] == "cube2")]
    chosen = chosen[(chosen[list(TEST)] == pd.Series(TEST)).all(axis=1)]
    ends = {}
    for name, rows in chosen.groupby("variant"):
        measures = ("nodes_expanded", "optimal_percent")
        ends[name] = {measure: (rows[measure].min(), rows[measure].max()) for measure in measures}
        assert rows["seed"].nunique() == 5 or name not in ("base_cube2", "no_batch_norm")
    return ends


def result_row(name: str) -> str:
    """The row of README's result for what guides the search."""
    row = searches()[name]
    places = 2 if name == "network" else 0
    low = f"{row['optimal_low']:.2f}" if row["instances"] > 100 else f"{row['optimal_low']:.0f}"
    ends = f"[{low}, {row['optimal_high']:.{places}f}]"
    nodes, count = f"{row['nodes_expanded']:,.0f}", f"{row['instances']:,.0f}"
    return f"| {GUIDES[name]} | {nodes} | {row['optimal_percent']:.{places}f} {ends} | {count} |"


def prose(text: str) -> str:
    """A page without code, places of links, tables, and what is no measurement; its lines put together."""
    text = text.replace("\\*", "")
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`|\]\([^)]*\)|^\|.*$|^#.*$|^\d\. ", " ", text, flags=re.MULTILINE)
    for constant in CONSTANTS:
        text = re.sub(constant, " ", text)
    return " ".join(text.split())


@pytest.mark.parametrize("what", measured())
def test_a_number_of_ours_is_that_of_the_committed_files(what):
    assert measured()[what] in " ".join(README.split()), f"README should say of {what}: {measured()[what]}"


@pytest.mark.parametrize("name", PAGES)
def test_no_other_number_stands_in_a_page(name):
    left = prose(PAGES[name].partition("## Sources")[0])
    for told in measured().values():
        left = left.replace(told, " ")
    assert not re.findall(r"\S*\d\S*", left), "tie it to a committed table in tests/test_readme.py, or leave it out"


@pytest.mark.parametrize("name", GUIDES)
def test_a_row_of_the_result_is_the_kept_searches(name):
    assert result_row(name) in README.splitlines(), f"README should have the row {result_row(name)}"


def test_the_picture_shows_the_kept_searches():
    """The file holds its numbers as text; python docs/pictures/nodes_expanded.py draws it anew."""
    nodes = {name: f"{row['nodes_expanded']:,.0f}" for name, row in searches().items()}
    with Image.open("docs/pictures/nodes_expanded.png") as picture:
        told = picture.text["Description"]
    assert re.findall(r": ([\d,]+)", told) == [nodes["zero"], nodes["network"], nodes["exact"]]
    assert Path("docs/pictures/nodes_expanded.png").stat().st_size < 200_000


def test_the_table_of_path_weights_is_the_kept_grid():
    grid = KEPT.table("searches/DNN_final_2x2x2/grid")
    grid = grid[(grid["set"] == "grid") & (grid["batch_size"] == 5)]
    rows = [f"| {r.path_weight:g} | {r.optimal_percent:.2f} | {r.nodes_expanded:.0f} |" for r in grid.itertuples()]
    assert len(rows) == 4
    assert [line for line in PAGES["path_weight.md"].splitlines() if re.match(r"\| \d", line)] == rows


def test_a_number_that_stands_nowhere_is_found():
    assert re.findall(r"\d+", prose("# 1\n\nIt takes 42 nodes, `3`.\n\n| 4 |\n\n```sh\n5\n```\n")) == ["42"]


@pytest.mark.parametrize("name", PAGES)
def test_every_file_that_a_page_links_is_there(name):
    folder = Path() if name == "README.md" else Path("docs")
    for link in set(re.findall(r"\]\((?!https?:|#)([^)#]+)", PAGES[name])):
        assert (folder / link).exists(), link


def test_paragraphs_are_short_and_so_is_the_page():
    lines = README.splitlines()
    assert len(lines) <= 120 and max(len(line) for line in lines if not line.startswith("|")) <= 120
    text = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    assert all(len(part.splitlines()) <= 5 for part in text.split("\n\n") if not part.startswith(("|", "- ", "<!--")))


def test_the_example_in_python_runs(tmp_path, capsys):
    """With a network that nobody trained in place of the best at hand."""
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    puzzle, architecture = make("cube2"), architecture_of(kind="residual", first_layers=[8], residual_blocks=0)
    value = network.build(architecture, puzzle, 1)
    network.save(tmp_path / "net.safetensors", value, {"puzzle": "cube2", "precision": "float32", "iteration": 1})
    example, count = re.subn(r'load\("cube2"\)', f'load("{tmp_path / "net.safetensors"}")', example)
    exec(example, {})
    solution, *costs = capsys.readouterr().out.splitlines()
    length, optimum = solution.split()[-2:]
    assert count == 1 and int(length) >= int(optimum) == 6 and costs[-1].endswith(" 0.]")


def commands(text: str) -> list[str]:
    """The commands that README shows, without their comments."""
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).splitlines()
    return [line.partition("  #")[0].strip() for line in lines]


@pytest.mark.parametrize("command", [line for line in commands(README) if line.startswith("costtogo solve")])
def test_a_command_that_needs_no_training_runs(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    app(shlex.split(command)[1:], standalone_mode=False)
    assert re.search(r"^solution +\S.*\nlength +\d+", capsys.readouterr().out, re.MULTILINE)


def test_every_command_and_target_of_a_page_exists():
    targets = set(re.findall(r"^(\w+):", Path("Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    names = set(get_command(app).commands)
    for name, text in PAGES.items():
        asked = re.findall(r"^costtogo ([a-z-]+)", "\n".join(commands(text)), re.MULTILINE)
        assert set(asked) <= names, name
        made = [line.split()[1] for line in commands(text) if line.startswith("make ") and "=" not in line.split()[1]]
        assert set(made) <= targets, name
