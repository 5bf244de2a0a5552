"""The data that ships with the package: 500 emoji as an image model and as a text model see them.

Rows are emoji. The image side holds eight stages of EfficientNet-Lite0 over the Noto Color Emoji drawings (seven and
the head), 16 to 1,280 units wide; the text side holds the seven layers of MiniLM-L6 over the Unicode names, 384 units
each; the control is the last layer of a network of MiniLM's shape whose weights were drawn at random. ``NOTICE`` beside
this file says where everything comes from, and ``tools/cut_emoji.py`` in the repository made the file.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibtest.stacks import LayerStack

__all__ = ["demo_stacks"]

_SIDES = {"images": "EfficientNet-Lite0", "texts": "MiniLM", "control": "re-drawn MiniLM"}


def demo_stacks() -> tuple[LayerStack, LayerStack, LayerStack, NDArray[np.str_]]:
    """Stacks of the shipped data, and the group of every item.

    Returns
    -------
    images, texts, control : LayerStack
        500 items each, with ids such as ``"U+1F603"``, in the same order: 8 stages, 7 layers and 1 layer.
    groups : (500,) array of str
        Unicode group of every emoji (9 of them, such as ``"Food & Drink"``).

    Examples
    --------
    >>> from calibtest.data import demo_stacks
    >>> images, texts, control, groups = demo_stacks()
    >>> images.widths
    (16, 24, 40, 80, 112, 192, 320, 1280)
    """
    with (files(__name__) / "emoji.npz").open("rb") as opened, np.load(opened, allow_pickle=False) as held:
        ids, groups = held["ids"].tolist(), held["groups"]
        layers: dict[str, dict[str, NDArray[Any]]] = {side: {} for side in _SIDES}
        for key in held.files:
            side, _, layer = key.partition("/")
            if layer:
                layers[side][layer] = held[key]
    images, texts, control = (LayerStack.build(layers[side], name=name, ids=ids) for side, name in _SIDES.items())
    return images, texts, control, groups
