"""Metrics of representation alignment: one file, one metric.

A metric is a frozen dataclass whose fields are its hyper-parameters. It carries its textbook definition
(``define``), its claims (``claims``) and a decomposition (``prepare``, ``engine``) that makes its null distribution
cheap: every layer is prepared once, and a relabelling acts on prepared states only. The registry walks this folder,
so adding a metric is adding a file.

The folder and the public function that lists it share a name: ``calibtest.metrics()`` calls this module, which hands
the call to ``calibtest.metrics.registry.metrics``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibtest.metrics.base import Metric


class _ListsItsMetrics(ModuleType):
    def __call__(self) -> dict[str, type[Metric]]:
        """Every known metric by name; see `calibtest.metrics.registry.metrics`."""
        from calibtest.metrics.registry import metrics

        return metrics()


sys.modules[__name__].__class__ = _ListsItsMetrics
