"""The kinds of files below results/ and reports/, by their places."""

from pathlib import PurePosixPath


def is_time(place: str) -> bool:
    """True for wall-clock times, which differ from run to run."""
    path = PurePosixPath(place)
    return "timings" in path.parts or path.name == "timings.md" or path.suffix == ".jsonl"


def goes_by_time(place: str) -> bool:
    """True for the counts of searches that go on until their time is up, which differ from run to run, too."""
    path = PurePosixPath(place)
    return path.parts[0] == "results" and "anytime" in path.parts and path.suffix == ".parquet"


def is_result(place: str) -> bool:
    """True for data that a stage computed: not its card, its slice of the parameters or a mark, and no report."""
    path = PurePosixPath(place)
    return path.parts[0] == "results" and path.suffix not in (".json", ".done")


def is_card(content) -> bool:
    """True for the content of a JSON file that is the card of a finished stage."""
    return isinstance(content, dict) and {"stage", "code", "parameters", "outputs"} <= set(content)
