"""The slice of a study's parameters that each stage gets: all that may change its results."""

from typing import Any

from costtogo.params.base import derive_seed
from costtogo.params.study import PuzzleStudy, Study


def slices(study: Study) -> dict[str, Any]:
    """The parameters of each stage, by <group>/<name>."""
    parts: dict[str, Any] = {"report/report": study.model_dump()}
    for name in study.listed:
        parts[f"tables/{name}"] = {"study": study.study, "puzzle": name}
    for name in study.puzzles:
        parts |= _of_puzzle(study.about(name))
    return parts


def _of_puzzle(asked: PuzzleStudy) -> dict[str, Any]:
    """Those of the stages about one puzzle."""
    puzzle, exhaustive = asked.puzzle, asked.is_exhaustive
    dumped = asked.model_dump(exclude={"models"})
    common = {"study": asked.study, "puzzle": puzzle}
    machine = {**common, "threads": asked.threads, "device": asked.device}
    goal_alone = {"goal_alone": True} if asked.goal_alone else {}
    grids = [grid.model_dump() for grid in asked.grids]
    protocol = {"search": dumped["search"], "searches": grids} if dumped["search"] else {}
    parts: dict[str, Any] = {}
    if asked.exact is not None and not exhaustive:
        levels = {"seed": derive_seed(asked.seed, "tables", puzzle), "levels": dumped["exact"]}
        parts[f"tables/{puzzle}"] = {**common, **({"depth": asked.nearby_depth} if asked.one_goal else levels)}
    if asked.instances:
        seed = derive_seed(asked.seed, "instances", puzzle)
        parts[f"instances/{puzzle}"] = {**common, "seed": seed, "instances": dumped["instances"]}
        parts[f"instances/{puzzle}"] |= {"distributions": dumped["distributions"]} if exhaustive else {}
    if protocol:
        parts[f"searches/baseline_{puzzle}"] = {**machine, **protocol}
    for name, partition in asked.pattern_databases.items():
        parts[f"pattern_databases/{name}"] = {**common, "partition": partition}
    if asked.optima is not None:
        parts[f"optima/{puzzle}"] = {**common, "threads": asked.threads, "optima": dumped["optima"]}
    if asked.two_phase is not None:
        parts[f"two_phase/{puzzle}"] = {**common, "two_phase": dumped["two_phase"]}
    for name in asked.baselines:
        parts[f"baselines/{name}"] = {**common, "heuristic": name, "searches": grids}
    if asked.baselines:
        heuristics = {"models": list(asked.models), "baselines": asked.baselines}
        heuristics |= {} if asked.one_goal else {"boxes": asked.exact.boxes}
        parts[f"footprints/{puzzle}"] = {**machine, **heuristics, "seed": derive_seed(asked.seed, "footprints", puzzle)}
    for name, model in asked.models.items():
        own = {**machine, "model": name}
        start = {} if model.starts_from is None else {"starts_from": model.starts_from}
        parts[f"models/{name}"] = {**own, "training": model.model_dump(exclude={"starts_from"}), **start}
        parts[f"audits/{name}"] = {**own, "seed": derive_seed(asked.seed, "audits", name), "audit": dumped["audit"]}
        if protocol or grids:
            parts[f"searches/{name}"] = {**own, **(protocol or {"searches": grids, **goal_alone})}
        for group, searches in asked.searches_over(name).items():
            listed = [search.model_dump() for search in searches]
            parts[f"{group}/{name}"] = {**own, group: listed, "max_nodes": asked.max_nodes, **goal_alone}
        if asked.external is not None:
            limits = {"max_nodes": asked.max_nodes, **goal_alone}
            external = asked.external.model_dump(exclude_none=True)
            parts[f"external/{name}"] = {**own, "external": external, **limits}
    if asked.local_vi is not None:
        parts |= _of_local_vi(asked, dumped["local_vi"], common)
    return parts


def _of_local_vi(asked: PuzzleStudy, dumped: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """Those of local value iteration."""
    puzzle = asked.puzzle
    own = {name: dumped[name] for name in ("boards", "sizes", "larger")}
    parts = {f"local_vi/{puzzle}": {**common, "seed": derive_seed(asked.seed, "local_vi", puzzle), **own}}
    if asked.local_vi.compared is not None:
        own = {"threads": asked.threads, "sizes": dumped["sizes"], "compared": dumped["compared"]}
        own |= {} if asked.device == "cpu" else {"device": asked.device}
        parts[f"compared/{puzzle}"] = {**common, "seed": derive_seed(asked.seed, "compared", puzzle), **own}
    return parts
