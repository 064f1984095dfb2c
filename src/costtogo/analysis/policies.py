"""What a policy does in every state of a puzzle whose states are all listed."""

import numpy as np
import pandas as pd

from costtogo.compiled import njit
from costtogo.types import NO_STATE, CostToGo, Neighbours

UNKNOWN, ON_THE_WAY, ENDLESS, SOLVED = 0, 1, 2, 3  # how the greedy walk from a state ends


def audit_policy(
    prior: np.ndarray, values: CostToGo, distance: np.ndarray, neighbours: Neighbours
) -> tuple[pd.DataFrame, dict[str, float]]:
    """A row for each distance but 0, and the means over all states but the goal.

    prior: float32 [S, A], the probability of each action, 0 where it is not legal.  values: float32 [S], the
    cost-to-go of the same network.  distance: [S].  neighbours: int32 [S, A].
    optimal_percent: states whose most probable action, the first of equal ones, leads nearer the goal.
    optimal_probability: the mean probability of all actions that do.  entropy: in nats.
    solved_percent: states from which the most probable action, taken again and again, leads to the goal.
    value_…: the same of the action whose child has the least cost-to-go.
    """
    nearer = leads_nearer(distance, neighbours)
    by_policy, by_value = prior.argmax(axis=1), least_child(values, neighbours)
    states, goal = np.arange(len(distance)), int(np.flatnonzero(distance == 0)[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(prior > 0, prior * np.log(prior), 0).sum(axis=1, dtype=np.float64)
    found = pd.DataFrame(
        {
            "distance": distance.astype(np.int64),
            "optimal_percent": 100.0 * nearer[states, by_policy],
            "optimal_probability": np.where(nearer, prior, 0).sum(axis=1, dtype=np.float64),
            "entropy": entropy,
            "solved_percent": 100.0 * reaches(neighbours[states, by_policy], goal),
            "value_optimal_percent": 100.0 * nearer[states, by_value],
            "value_solved_percent": 100.0 * reaches(neighbours[states, by_value], goal),
        }
    )
    found = found[found["distance"] > 0]
    rows = found.groupby("distance", as_index=False).mean()
    rows.insert(1, "states", found.groupby("distance").size().to_numpy())
    return rows, found.drop(columns="distance").mean().to_dict()


@njit(cache=True)
def leads_nearer(distance, neighbours):
    """Which actions lead nearer the goal, bool [S, A]."""
    nearer = np.zeros(neighbours.shape, dtype=np.bool_)
    for state in range(neighbours.shape[0]):
        for action in range(neighbours.shape[1]):
            reached = neighbours[state, action]
            nearer[state, action] = reached != NO_STATE and distance[reached] < distance[state]
    return nearer


@njit(cache=True)
def least_child(values, neighbours):
    """The legal action whose child has the least value, the first of equal ones: int64 [S]."""
    actions = np.zeros(neighbours.shape[0], dtype=np.int64)
    for state in range(neighbours.shape[0]):
        least = np.inf
        for action in range(neighbours.shape[1]):
            reached = neighbours[state, action]
            if reached != NO_STATE and values[reached] < least:
                least, actions[state] = values[reached], action
    return actions


@njit(cache=True)
def reaches(onward, goal):
    """From which states the way that goes on to onward[state], int32 [S], comes to the goal: bool [S]."""
    known = np.zeros(len(onward), dtype=np.uint8)
    known[goal] = SOLVED
    for start in range(len(onward)):
        # Go on to a state of which the end is known, or that this way has come through.
        state = start
        while known[state] == UNKNOWN:
            known[state] = ON_THE_WAY
            state = onward[state]
        end = SOLVED if known[state] == SOLVED else ENDLESS
        # All states on the way have the same end.
        state = start
        while known[state] == ON_THE_WAY:
            known[state] = end
            state = onward[state]
    return known == SOLVED
