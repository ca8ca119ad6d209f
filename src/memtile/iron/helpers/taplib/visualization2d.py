"""``aie.helpers.taplib.visualization2d``: pictures of access patterns, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np


def visualize_from_accesses(
    access_order: np.ndarray[Any, Any],
    access_count: np.ndarray[Any, Any] | None,
    title: str = "",
    show_arrows: bool | None = None,
    file_path: str | None = None,
    show_plot: bool = True,
    **_: Any,
) -> None:
    """Draw when, and how often, each element is accessed."""
    import matplotlib.pyplot as plt

    shown = [("order", access_order)] + ([("count", access_count)] if access_count is not None else [])
    figure, axes = plt.subplots(1, len(shown), squeeze=False)
    figure.suptitle(title)
    for axis, (name, values) in zip(axes[0], shown, strict=True):
        axis.set_title(name)
        axis.imshow(values)
        if values.size <= 1024:
            for (row, col), value in np.ndenumerate(values):
                axis.text(col, row, str(value), ha="center", va="center", fontsize=6)
    if file_path is not None:
        figure.savefig(file_path)
    if show_plot:
        plt.show()
    plt.close(figure)
