"""A full disk at each kind of stage: a small file system or, if none can be mounted, files of limited size."""

import random
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from costtogo.workflow.stages import Stage
from torture.calls import is_sentence
from torture.kills import Maker, check_left, making
from torture.projects import MODULES, end
from torture.trials import Damage, Kind, Trial

EACH = 5  # trials of each kind of stage
SIZE = 64  # MiB of the file system
Room = Callable[[int | None], None]  # leaves this many bytes to write, or any number


@contextmanager
def small_disk(folder: Path) -> Iterator[Room]:
    """A folder as a separate file system, if it can be mounted; else the size of each file is limited."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}m", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        yield lambda room: resource.setrlimit(resource.RLIMIT_FSIZE, (-1 if room is None else room, -1))
        return
    filler = folder / "filler"

    def leave(room: int | None) -> None:
        filler.unlink(missing_ok=True)
        if room is not None:
            free = shutil.disk_usage(folder).free
            subprocess.run(["fallocate", "--length", str(free - room), filler], check=True)

    try:
        yield leave
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@contextmanager
def ready(work: Path) -> Iterator[Trial]:
    """A finished study on a small disk; each trial makes one stage again with too little room."""
    disk = work / "disk"
    disk.mkdir()
    with small_disk(disk) as leave, making(disk, work / "log") as maker:

        def trial(generator: random.Random, number: int) -> None:
            stage = maker.choose(generator, number)
            room = generator.randrange(sum(Path(path).stat().st_size for path in stage.outputs))
            maker.undo(stage)
            try:
                leave(room)
                code = end(maker.begin(stage))
                leave(None)
                check_refusal(maker, stage, code)
                maker.make(stage)
            except Damage as damage:
                leave(None)
                maker.restore()
                raise Damage(f"{stage.id} with {room} bytes of room: {damage}") from damage

        yield trial


def check_refusal(maker: Maker, stage: Stage, code: int) -> None:
    """Damage unless a stage without room ended with one sentence, or had all the room it needed."""
    lines = maker.said().splitlines()
    sentence = lines[-1].removeprefix("costtogo: ") if lines else ""
    if code != 0 and (code != 1 or not is_sentence(sentence) or any("Traceback" in line for line in lines)):
        raise Damage(f"exit code {code}, {maker.said()!r}")
    check_left(maker, stage)


KIND = Kind("disk", "A disk that is full while a stage writes, then that stage again", EACH * len(MODULES), ready)
