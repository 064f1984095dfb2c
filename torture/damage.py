"""Results damaged after their stage has finished: they are noticed, never used, and made again byte for byte."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from costtogo.workflow.stages import Stage
from costtogo.workflow.state import State
from torture.calls import is_sentence
from torture.kills import Maker, making
from torture.parameters import spoilt
from torture.projects import contents, end
from torture.trials import Damage, Kind, Trial


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """A finished study; each trial damages one file."""
    with making(work, work / "log") as maker:

        def trial(generator: random.Random, number: int) -> None:
            stage = generator.choice(maker.stages)
            path = Path(generator.choice([*stage.results, *stage.documents, *stage.drawn, stage.card]))
            done, content = spoilt(generator, path.read_bytes())
            if content == path.read_bytes():
                return
            path.write_bytes(content)
            try:
                check(maker, stage, path)
            except Damage as damage:
                raise Damage(f"{path}, {done}: {damage}") from damage
            finally:
                maker.restore()

        yield trial


def check(maker: Maker, stage: Stage, path: Path) -> None:
    """Damage unless the workflow and a stage that reads it notice a damaged file, and it is made again."""
    if not State(maker.stages).reason(stage):
        raise Damage("not noticed")
    readers = [other for other in maker.stages if stage in other.needs]
    if readers and path.as_posix() != stage.card:
        reader = readers[0]
        code = end(maker.begin(reader))
        lines = maker.said().splitlines()
        refused = code == 1 and is_sentence(lines[-1].removeprefix("costtogo: ")) and "Traceback" not in maker.said()
        same = all(contents(Path.cwd()).get(place) == maker.whole[place] for place in reader.results)
        if not refused and not (code == 0 and same):
            raise Damage(f"{reader.id} ends with {code}: {maker.said()!r}")
    for other in (stage, *readers[:1]):
        maker.undo(other)
    if end(maker.begin(stage)) != 0:
        raise Damage(f"{stage.id} cannot be made again: {maker.said()!r}")
    if [place for place in stage.results if contents(Path.cwd())[place] != maker.whole[place]]:
        raise Damage(f"{stage.id} is made again with other bytes")


KIND = Kind("damage", "Results of a finished study cut off, emptied or with bits turned", 100, ready)
