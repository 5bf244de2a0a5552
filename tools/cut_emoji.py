"""Cut the emoji set that ships with the package out of the full set it comes from.

    python tools/cut_emoji.py SOURCE [--out src/calibtest/data/emoji.npz] [--items 500] [--seed 0]

SOURCE is a folder with ``items.npz`` (group, group_names, codepoint), ``img_effnet_lite0.npz`` (one array a stage),
``txt_minilm_l6.npz`` (feats: items, layers, units) and ``txt_random_bert_s0.npz`` (the same network with re-drawn
weights). Row i is the same emoji in all of them.

The cut is stratified: each Unicode group keeps its share of the items (largest remainders, ties to the earlier group),
and within a group items are drawn without replacement by NumPy's PCG64 from the seed. Rows stay in the order of the
source and numbers keep the precision of the source (float16), so the same source gives the same file, byte for byte.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LIMIT_BYTES = 5_000_000


def quotas(sizes: NDArray[np.int64], n_items: int) -> NDArray[np.int64]:
    """Number of items of each group, in proportion to `sizes`, summing to `n_items`."""
    shares = sizes * n_items / sizes.sum()
    taken = np.floor(shares).astype(np.int64)
    by_remainder = np.argsort(-(shares - taken), kind="stable")
    taken[by_remainder[: n_items - int(taken.sum())]] += 1
    return taken


def chosen_rows(group: NDArray[np.int64], n_items: int, seed: int) -> NDArray[np.int64]:
    """Rows of the cut, in the order of the source."""
    labels, sizes = np.unique(group, return_counts=True)
    rng = np.random.default_rng(seed)
    parts = [
        rng.permutation(np.flatnonzero(group == label))[:quota]
        for label, quota in zip(labels, quotas(sizes, n_items), strict=True)
    ]
    return np.sort(np.concatenate(parts))


def cut(source: Path, n_items: int, seed: int) -> dict[str, NDArray[np.generic]]:
    """Arrays of the shipped file by name: ``side/layer`` for activations, ``ids`` and ``groups`` for the items."""
    items = np.load(source / "items.npz", allow_pickle=False)
    rows = chosen_rows(items["group"].astype(np.int64), n_items, seed)
    arrays: dict[str, NDArray[np.generic]] = {
        "ids": np.array([f"U+{codepoint:04X}" for codepoint in items["codepoint"][rows].tolist()]),
        "groups": items["group_names"][items["group"][rows]],
    }
    stages = np.load(source / "img_effnet_lite0.npz", allow_pickle=False)
    for stage in sorted(stages.files, key=lambda key: int(key.removeprefix("stage"))):
        features = stages[stage]
        arrays[f"images/{stage}_{features.shape[1]}"] = np.ascontiguousarray(features[rows])
    texts = np.load(source / "txt_minilm_l6.npz", allow_pickle=False)["feats"]
    for layer in range(texts.shape[1]):
        arrays[f"texts/layer{layer}"] = np.ascontiguousarray(texts[rows, layer])
    redrawn = np.load(source / "txt_random_bert_s0.npz", allow_pickle=False)["feats"]
    arrays[f"control/layer{texts.shape[1] - 1}"] = np.ascontiguousarray(redrawn[rows, -1])
    return arrays


def main() -> None:
    """Cut, check and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path, default=Path("src/calibtest/data/emoji.npz"))
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    arrays = cut(given.source, given.items, given.seed)
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise SystemExit(f"{name} holds values that are not finite")
    np.savez_compressed(given.out, allow_pickle=False, **arrays)
    size = given.out.stat().st_size
    if size > LIMIT_BYTES:
        raise SystemExit(f"{given.out} has {size:,} bytes, more than {LIMIT_BYTES:,}; ask for fewer items")
    print(f"{given.out}: {len(arrays['ids'])} items, {len(arrays) - 2} layers, {size:,} bytes")


if __name__ == "__main__":
    main()
