"""Pictures for examples: feature maps that a person recognises, so that a wrong word is seen."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def feature_map(size: int, channels: int, step: int = 0) -> npt.NDArray[np.int8]:
    """A disc with spokes that turns with ``step``, in a frame, over a slope.

    Args:
        size: pixels per side.
        channels: each channel shows the same picture, a little dimmer and turned further.
        step: number in a sequence of pictures.

    Returns:
        int8[size, size, channels], nowhere zero, so that padding stands out.
    """
    y, x = np.mgrid[0:size, 0:size] / (size - 1) * 2 - 1
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    layers = [_layer(radius, angle, x, y, step + channel / channels) for channel in range(channels)]
    dim = 1 - np.arange(channels) / (2 * channels)
    scaled = np.stack(layers, axis=-1) * dim
    return np.where(scaled >= 0, scaled + 1, scaled - 1).astype(np.int8)


def _layer(
    radius: npt.NDArray[np.float64],
    angle: npt.NDArray[np.float64],
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    turn: float,
) -> npt.NDArray[np.float64]:
    slope = 40 * (x + y) / 2
    spokes = np.where((radius < 0.7) & (np.cos(6 * angle + turn) > 0), 100.0, slope)
    hub = np.where(radius < 0.2, -100.0, spokes)
    border = np.maximum(abs(x), abs(y)) > 0.9
    return np.where(border, 120.0, hub)
