"""Value iteration as in training, with one process and with several: the speed-up of several."""

from benchmarks.sides import training
from benchmarks.sides.measuring import run


def ours(asked) -> dict[str, float]:
    """costtogo.parallel; each process has as many threads as the single one. Starting the processes is not timed."""
    from costtogo.parallel import together

    found = []
    for processes in (1, asked.processes):
        with together(processes, "cpu", training.ours, asked):
            found.append(training.ours(asked)["states_per_second"])
    return {"states_per_second": found[1], "ratio": found[1] / found[0]}


if __name__ == "__main__":
    run(
        {"ours": ours},
        width=256, blocks=2, batch=1000, iterations=30, warm=5, precision="float32", processes=2,
    )  # fmt: skip
