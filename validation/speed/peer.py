"""Time the package calibrated-similarity on CPU; run by record.py with the interpreter of an environment that has it.

    python peer.py FILE LAYERS ITEMS WIDTH PERMUTATIONS FUNCTION [FUNCTION ...]

FILE holds 2 * LAYERS arrays of ITEMS x WIDTH float32 numbers, one after the other. The package takes the similarity as
a callable: ``cka_documented`` is the example of its documentation, ``cka_features`` the faster formula for more items
than units, ``mutual_knn`` a plain top-k in torch. Prints one JSON object: seconds a call of `calibrate_layers`.
"""

from __future__ import annotations

import json
import sys
import time

import torch
from calibrated_similarity import __version__, calibrate_layers


def cka_documented(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x, y = x - x.mean(0), y - y.mean(0)
    return (x @ x.T * (y @ y.T)).sum() / (x @ x.T).norm() / (y @ y.T).norm()


def cka_features(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x, y = x - x.mean(0), y - y.mean(0)
    return (x.T @ y).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm())


def mutual_knn(x: torch.Tensor, y: torch.Tensor, k: int = 10) -> torch.Tensor:
    listed = []
    for side in (x, y):
        side = side / side.norm(dim=1, keepdim=True)
        similarity = side @ side.T
        similarity.fill_diagonal_(-2.0)
        listed.append(similarity.topk(k, dim=1).indices)
    member = torch.zeros(len(x), len(x), dtype=torch.bool).scatter_(1, listed[0], True)
    return member.gather(1, listed[1]).float().mean()


def main() -> None:
    path, n_layers, n, d, n_permutations = sys.argv[1], *(int(v) for v in sys.argv[2:6])
    values = torch.from_file(path, size=2 * n_layers * n * d, dtype=torch.float32).clone().reshape(2, n_layers, n, d)
    left, right = (list(side) for side in values)
    seconds: dict[str, float] = {}
    for name in sys.argv[6:]:
        function = globals()[name]
        function(left[0], right[0])
        began = time.perf_counter()
        calibrate_layers(left, right, function, K=n_permutations)
        seconds[name] = time.perf_counter() - began
    versions = {"calibrated-similarity": __version__, "torch": torch.__version__}
    print(json.dumps({"seconds": seconds, "versions": versions, "threads": torch.get_num_threads()}))


if __name__ == "__main__":
    main()
