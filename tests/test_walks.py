"""What a parameter's way through a package is: what an entry can reach, and what of it takes the parameter."""

from pathlib import Path

import pytest

from net.walks import Package, main

ROOT = Path(__file__).parents[1]
MODULES = {
    "entry.py": """
        from toy.tables import Table, rows as rows_of
        FINDERS = {"a": lambda study: found(study)}
        def write(study, folder): return Table(study).text(FINDERS)
        def found(study: str): return rows_of
        def elsewhere(study): ...
    """,
    "tables.py": """
        import os
        class Table:
            study: dict
            def __init__(self, study): ...
            def text(self, finders): return self._part()
            def _part(self): ...
            def unread(self, study): ...
        def rows(results, *, study=None): ...
        def row(study): ...
    """,
}


@pytest.fixture
def toy(tmp_path) -> Path:
    folder = tmp_path / "toy"
    folder.mkdir()
    for name, text in MODULES.items():
        lines = [line.removeprefix("        ") for line in text.splitlines()]
        (folder / name).write_text("\n".join(lines))
    return folder


def test_an_entry_reaches_what_it_names_and_what_these_name_and_no_more(toy):
    reached = Package.read(toy).reachable([("entry", "write")])
    of_table = {"Table", "Table.__init__", "Table.text", "Table._part"}
    assert reached == {("entry", name) for name in ("write", "FINDERS", "found")} | {
        ("tables", name) for name in (*of_table, "rows")
    }


def test_functions_that_take_the_parameter_are_named_and_counted_but_not_what_takes_its_name(toy, capsys):
    main(str(toy), "study", "entry:write")
    *named, told = capsys.readouterr().out.splitlines()
    assert named == ["entry:write", "tables:Table", "tables:Table.__init__", "tables:rows"]
    assert told == "4 of 6 functions within reach take study"


def test_an_entry_that_is_not_there_is_one_sentence(toy):
    with pytest.raises(SystemExit, match="has no entry:read; an entry is a module"):
        main(str(toy), "study", "entry:read")


def test_only_the_entry_of_a_report_takes_the_study_and_the_rest_its_results():
    package = Package.read(ROOT / "src/costtogo")
    reached = package.reachable([("stages.report", "run")])
    taking = package.taking("study", reached)
    modules = {module for module, _ in taking}
    of_reports = {
        module for module in modules if module.startswith(("report", "tables", "literature", "stages", "analysis"))
    }
    assert of_reports <= {"literature.documents", "tables.kept"}, "which find the files that a report reads"
