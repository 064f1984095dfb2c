"""The searches and checkpoints that a figure shows if it cannot show all."""

import numpy as np
import pandas as pd


def selected_iteration(selection: pd.DataFrame) -> int:
    """The iteration of the checkpoint that the searches of a model use; selection: iteration, selected (bool)."""
    return int(selection.loc[selection["selected"], "iteration"].iloc[0])


def shown_iteration(selection: pd.DataFrame, audited) -> int:
    """The selected checkpoint's iteration, or the last audited one where the selected one was not audited."""
    selected = selected_iteration(selection)
    return selected if selected in set(audited) else int(max(audited))


def network_error(values: dict[str, np.ndarray], selection: pd.DataFrame, distance: np.ndarray) -> np.ndarray:
    """The network's value minus the distance of every state, float [S]; values: iteration [C], value [C, S]."""
    row = int(np.flatnonzero(values["iteration"] == shown_iteration(selection, values["iteration"]))[0])
    return values["value"][row] - distance


def telling_cell(shares: pd.DataFrame, cell: dict) -> dict:
    """The headline cell; if its set has one instance, the largest set searched with the same λ and N instead."""
    alike = shares[in_cell(shares, cell | {"set": shares["set"]})]
    sizes = alike.groupby("set", sort=False)["instances"].sum()
    return cell if sizes[cell["set"]] > 1 else cell | {"set": sizes.idxmax()}


def in_cell(frame: pd.DataFrame, cell: dict) -> pd.Series:
    """True for the rows of a cell of set, path_weight and batch_size, bool [rows]."""
    same_weight = np.isclose(frame["path_weight"], cell["path_weight"])
    return (frame["set"] == cell["set"]) & same_weight & (frame["batch_size"] == cell["batch_size"])


def weight_text(cell) -> str:
    """The settings of a search in the literature's letters: "λ = 0.7, N = 5"."""
    return f"λ = {cell['path_weight']:g}, N = {cell['batch_size']}"


def of_widest_set(cells: pd.DataFrame, by: pd.DataFrame | None = None) -> pd.DataFrame:
    """The cells of the set searched with the most (λ, N); of several such sets, the one with the most instances.

    by: the cells that decide, if not these.
    """
    sizes = (cells if by is None else by).groupby("set", sort=False)["instances"].agg(["size", "max"])
    return cells[cells["set"] == sizes.sort_values(["size", "max"], kind="stable").index[-1]]
