"""The command costtogo: what a user runs by hand, and the stages of the workflow."""

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import chdir
from dataclasses import Field, fields
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, Signature, signature
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from costtogo.solve_options import Setting, Task
from costtogo.types import FULL, UserError, excerpt

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"default_map": {"help": False}},  # else typer loads pydantic for `costtogo solve --help`
    help="Learned cost-to-go heuristics for combinatorial puzzles: exact tables, DAVI training, audit, BWAS, report. "
    "The workflow is run by `snakemake --cores all`; these commands are for you.",
)
IN_PROJECT = ("report", "compare")  # commands that work in a clone alone
INTERRUPTED = 130  # typer's exit code


def count(text: str) -> int:
    """A whole number from 1 to the largest that searches can count to, which the help need not mention."""
    try:
        number = int(text)
    except ValueError as error:
        raise typer.BadParameter(f"{excerpt(text)} is no whole number.") from error
    if not 1 <= number < 2**63:
        raise typer.BadParameter(f"{excerpt(text)} is not {'1 or more' if number < 1 else 'below 2^63'}.")
    return number


def taking(*records: type) -> Callable[[Callable], Callable]:
    """Make a command of a function of dataclasses: their fields are its options, see solve_options.option."""

    def wrapped(function: Callable) -> Callable:
        def command(**given: Any) -> None:
            function(*(record(**{each.name: given[each.name] for each in fields(record)}) for record in records))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = Signature([_option(each) for record in records for each in fields(record)])
        return command

    return wrapped


def _option(each: Field) -> Parameter:
    """The option that a field makes: --path-weight of path_weight; a bool has no --no-... option."""
    names = [f"--{each.name.replace('_', '-')}"] if each.type is bool else []
    settings = dict(each.metadata)
    if settings.pop("counts", False):
        settings |= {"parser": count, "metavar": "<int>"}
    annotation = Annotated[each.type, typer.Option(*names, **settings)]
    return Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=annotation)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"costtogo {version('costtogo')}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Take the options that come before a command."""


@app.command()
def check(
    configs: Annotated[
        list[Path] | None,
        typer.Argument(help="A study of config/, or params.yaml and files laid over it; params.yaml if left out."),
    ] = None,
):
    """Check the parameters of a study and say what it will do."""
    from costtogo.literature.documents import read_by_report
    from costtogo.params.loading import BASE, load

    study = load(configs or [BASE])
    read_by_report(study)
    print(f"Study {study.study}: {len(study.listed)} puzzles listed, {len(study.models)} trainings.")
    for name, puzzle in study.puzzles.items():
        asked = [key for key in ("audit", "searches", "optima", "baselines", "external", "local_vi")]
        print(f"  {name}: {', '.join(key.replace('_', ' ') for key in asked if getattr(puzzle, key))}")
    for name, model in study.models.items():
        print(f"  {name}: {model.puzzle}, {model.trainer}, {model.sampler.kind}, {model.iterations:,} iterations")


@app.command()
def estimate(
    config: Annotated[Path, typer.Argument(help="A study of config/, or params.yaml.")],
    model: Annotated[list[str] | None, typer.Option(help="Name of a training, again for more; else all.")] = None,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="For which each is trained.")] = 30,
    keep: Annotated[
        Path | None,
        typer.Option(help="Folder of a kept study, as data/measured/thesis; its report then has the hours."),
    ] = None,
):
    """Say how long the trainings of a study would take on this machine, from their first seconds.

    Trainings run one after the other, and nothing is left of them. On an idle machine, with nothing else running.
    """
    from costtogo.commands import estimate as command
    from costtogo.params.loading import load

    command.run(load([config]), model or [], seconds, keep)


@app.command()
@taking(Task, Setting)
def solve(task: Task, setting: Setting) -> None:
    """Solve one scramble or state, or a CSV of them, over a trained network or exactly.

    \b
    Examples:
      costtogo solve --puzzle cube2 --scramble "R U' F2 R"
      costtogo solve --puzzle cube3 --scramble "R U F' L2 D B" --seconds 5
      costtogo solve --puzzle cube3 --scramble "R U F' L2 D B" --solver bwas --path-weight 0.6
      costtogo solve --puzzle puzzle15 --state "9 1 7 4 5 10 8 14 15 6 2 11 13 0 12 3" --seconds 2
      costtogo solve --puzzle puzzle15 --state "9 1 7 4 5 10 8 14 15 6 2 11 13 0 12 3" --solver exact
      costtogo solve --puzzle puzzle48 --scramble "D R D L D R R U" --solver local
      costtogo solve --puzzle sokoban --level level.txt --solver exact
    """
    from costtogo.commands import solve as command

    command.run(task, setting)


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Where to serve; what others can reach asks for a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 for any that is free.")] = 8000,
    browse: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
):
    """Serve a page on this machine to play with the puzzles and have them solved: docs/page.md."""
    from costtogo.page.server import serve as command

    command(host, port, browse)


@app.command()
def import_puzzle(
    source: Annotated[
        Path,
        typer.Argument(help="CayleyPy's .gap or .json, Kaggle's puzzle_info.csv, or cubing.js's KPuzzle as JSON."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="JSON file to write; in data/puzzles under the puzzle's name if left out."),
    ] = None,
    states: Annotated[
        int | None, typer.Option(min=2, help="How many states can be reached; computed, or left unknown, if left out.")
    ] = None,
):
    """Make the file of a puzzle from the description that another project has of it, which is read as data."""
    from costtogo.commands import import_puzzle as command

    command.run(source, out, states)


@app.command()
def track(
    studies: Annotated[list[str] | None, typer.Argument(help="Names of studies; all of them if left out.")] = None,
    results: Annotated[Path, typer.Option(help="Folder of all studies' results.")] = Path("results"),
    key: Annotated[
        str | None, typer.Option("--open", help="Print the address of one run: its key, as a report names it.")
    ] = None,
):
    """Bring every finished stage into MLflow from its files; nothing is added twice."""
    from costtogo.tracking import open_run
    from costtogo.tracking import track as record

    results = results.absolute()
    names = studies or sorted(path.name for path in results.glob("*") if path.is_dir())
    if key is not None and studies:
        raise UserError("With --open give a key and no study: the key says which run is meant.")
    if not results.is_dir() or (key is None and not names):
        raise UserError(f"There is no study in {results}; run the workflow first: snakemake --cores all.")
    if results.name != "results":
        raise UserError(f"--results {excerpt(str(results))} is no folder results, by which cards name their files.")
    with chdir(results.parent):  # the project, whose store it is
        if key is None:
            record([Path("results") / name for name in names], Path.cwd())
        else:
            print(open_run(key, Path("results"), Path.cwd()))


@app.command()
def publish(
    study: Annotated[str, typer.Argument(help="Name of a finished study.")],
    results: Annotated[Path, typer.Option(help="Folder of all studies' results.")] = Path("results"),
    measured: Annotated[Path, typer.Option(help="Folder of what is kept, in git.")] = Path("data/measured"),
    reports: Annotated[Path, typer.Option(help="Folder of all studies' reports.")] = Path("reports"),
):
    """Put what a study measured into git: its rows, and its report in reports/published. In a clone without changes."""
    from costtogo.commands import publish as command

    command.run(study, results, measured, reports)


@app.command()
def networks(
    puzzle: Annotated[str | None, typer.Argument(help="Name of a puzzle; all if left out.")] = None,
    measured: Annotated[bool, typer.Option("--measure", help="Measure the networks again, in minutes.")] = False,
):
    """List the networks that come with costtogo, with what was measured of each."""
    from costtogo.commands import networks as command

    command.show(puzzle, measured)


@app.command()
def export(
    model: Annotated[str, typer.Argument(help="A puzzle (cube3), a network of a study (puzzle15/values), or a file.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; exported/<puzzle> if left out.")] = None,
):
    """Write a network for other programs: a model card, its weights as safetensors, and as ONNX."""
    from costtogo.commands import export as command

    command.run(model, out)


@app.command()
def report(
    study: Annotated[str, typer.Argument(help="Name of a study that was published with its report.")],
    measured: Annotated[Path, typer.Option(help="Folder of what is kept, in git.")] = Path("data/measured"),
    reports: Annotated[Path, typer.Option(help="Folder of all studies' reports.")] = Path("reports"),
    whole: Annotated[bool, typer.Option("--whole", help="All tables and figures, to reports/again/<study>.")] = False,
):
    """Write the published report of a study again, from the rows that `costtogo publish` has kept of it."""
    from costtogo.commands import publish as command

    write = command.write_whole if whole else command.write_published
    write(study, reports, measured)


@app.command()
def compare(
    left: Annotated[
        str,
        typer.Argument(help="A study; or a folder of results or kept rows; or <commit>:<study>, published there."),
    ] = "default",
    right: Annotated[str | None, typer.Argument(help="The same; what is published of the study if left out.")] = None,
    results: Annotated[Path, typer.Option(help="Folder of all studies' results.")] = Path("results"),
    measured: Annotated[Path, typer.Option(help="Folder of what is published.")] = Path("data/measured"),
    form: Annotated[
        Literal["table", "brief", "markdown", "json"], typer.Option("--format", help="brief: three lines.")
    ] = "table",
    whole: Annotated[bool, typer.Option("--all", help="Show what is the same, too.")] = False,
):
    """Say where two runs differ: headline numbers, verdicts, parameters, code and versions.

    A number is the same, or within what another seed gives, or different. Exit code 3 if any is different, else 0.

    \b
    Examples:
      costtogo compare                              the default study as you ran it, and as it is published
      costtogo compare mine quick                   two studies of yours
      costtogo compare HEAD~1:default HEAD:default  changes of the last commit to the published numbers
    """
    from costtogo.commands import compare as command

    raise typer.Exit(command.run(left, right, results, measured, form, whole))


@app.command()
def overview(
    reports: Annotated[Path, typer.Option(help="Folder of all studies' reports.")] = Path("reports"),
):
    """Write reports/README.md: all documents, which study repeats what of them, and how their claims came out."""
    from costtogo.report.overview import write_overview

    print(f"The overview is written: read {write_overview(reports)}.")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def stage(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The stage's module: tables, instances, train, audit, search.grids …")],
    params: Annotated[Path, typer.Option(help="The stage's recipe, a JSON file that snakemake writes.")],
):
    """Make one stage of a study by hand, as the workflow does: `snakemake -n -p` shows the command of each.

    \b
    Example:
      costtogo stage tables --params .snakemake/costtogo/recipes/default/tables/cube2.<key>.json \\
        --out results/default/tables/cube2.npz
    """
    try:
        found = name.replace(".", "").isidentifier() and find_spec(f"costtogo.stages.{name}")
    except ModuleNotFoundError:  # above it is no package
        found = None
    run = getattr(import_module(found.name), "run", None) if found else None
    if run is None:
        raise UserError(f"There is no stage {excerpt(name)}: `snakemake -n -p` shows the command of each.")
    paths = _paths(run, context.args)
    if "out" in paths and len(paths["out"].parts) < 2:
        raise UserError(f"--out {excerpt(str(paths['out']))} is no place in a group: results/<study>/<group>/<name>.")
    run(params, **paths)


def _paths(run: Callable[..., None], words: list[str]) -> dict[str, Path | list[Path]]:
    """The paths that options such as `--table FILE` give to the arguments of a stage; UserError if one is wrong."""
    known = {argument.name: argument for argument in list(signature(run).parameters.values())[1:]}
    told = ", ".join(f"--{name}" for name in known)
    given: dict[str, list[Path]] = {}
    for option, value in zip_longest(words[::2], words[1::2]):
        if value is None or not option.startswith("--") or option[2:] not in known:
            raise UserError(f"The stage takes {told}, each with a path, and not {excerpt(option)}.")
        given.setdefault(option[2:], []).append(Path(value))
    if missing := [name for name, each in known.items() if each.default is each.empty and name not in given]:
        raise UserError(f"The stage needs --{missing[0]}; it takes {told}.")
    return {name: paths if known[name].default == () else paths[-1] for name, paths in given.items()}


def main(command: typer.Typer = app) -> None:
    """Run the command. A user's mistake ends in one sentence and exit code 1; a wrong option in typer's words and 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for letters that the locale does not know
    try:
        code = command(standalone_mode=False)
        print(end="", flush=True)  # a full disk is met here, not as Python ends
    except typer.TyperException as error:
        _leave_with_usage(error)
    except UserError as error:
        _leave(_with_what_is_missing(str(error)), 1)
    except OSError as error:
        _leave_for_system(error)
    if code == INTERRUPTED:
        _leave("interrupted.", code)
    sys.exit(code)


def _with_what_is_missing(sentence: str) -> str:
    """The sentence of an error; it ends with what the command lacks here: the project's folder, or Snakemake."""
    if not {*IN_PROJECT}.isdisjoint(sys.argv[1:2]) and not Path("workflow").is_dir():
        return f"{sentence[:-1]}; start this in the project's folder: here is none."
    if "snakemake" in sentence and find_spec("snakemake") is None:
        return f"{sentence[:-1]}; Snakemake is not installed: pip install 'costtogo[workflow]'."
    return sentence


def _leave(sentence: str, code: int) -> NoReturn:
    print(f"costtogo: {sentence}", file=sys.stderr)
    sys.exit(code)


def _leave_with_usage(error: typer.TyperException) -> NoReturn:
    """Print the message of typer for wrong options."""
    for word in sys.argv[1:]:
        error.message = error.message.replace(word, excerpt(word))
    error.show()
    sys.exit(error.exit_code)


def _leave_for_system(error: OSError) -> NoReturn:
    """Leave with a sentence if a name is too long or the output has no room; quietly if nobody reads the output.

    Other errors are raised again.
    """
    if error.errno == errno.ENAMETOOLONG:
        _leave(f"'{excerpt(str(error.filename))}' is too long for the name of a file; give a shorter one.", 1)
    if error.errno not in (*FULL, errno.EPIPE):
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left to print would fail again as Python ends
    if error.errno == errno.EPIPE:
        sys.exit(1)
    _leave(f"Cannot print: {error.strerror}; free space, or print elsewhere.", 1)


if __name__ == "__main__":
    main()
