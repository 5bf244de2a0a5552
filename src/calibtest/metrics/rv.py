"""The RV coefficient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibtest.metrics.linear_cka import LinearCKA

__all__ = ["RV"]

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class RV(LinearCKA):
    """RV coefficient: the same number as linear CKA, under its older name and definition.

    ``tr(S_xy S_yx) / sqrt(tr(S_xx^2) tr(S_yy^2))`` with covariance matrices ``S`` (Robert and Escoufier 1976).
    """

    name = "rv"
    summary = "RV coefficient (equal to linear CKA)"

    def define(self, x: Matrix, y: Matrix) -> float:
        covariance = np.cov(np.hstack([x, y]), rowvar=False).reshape(x.shape[1] + y.shape[1], -1)
        xx, xy, yy = (
            covariance[: x.shape[1], : x.shape[1]],
            covariance[: x.shape[1], x.shape[1] :],
            covariance[x.shape[1] :, x.shape[1] :],
        )
        return float(np.trace(xy @ xy.T) / np.sqrt(np.trace(xx @ xx) * np.trace(yy @ yy)))
