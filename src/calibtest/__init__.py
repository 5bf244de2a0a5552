"""calibtest: calibrated hypothesis tests for representation alignment.

Scores of representation similarity grow with layer width, with the number of layers searched and with chance. This
package says how much of a score is more than that, which layers it is about, and how sure one can be after everything
that was searched.

>>> import numpy as np, calibtest
>>> rng = np.random.default_rng(0)
>>> x = rng.standard_normal((100, 20))
>>> y = x @ rng.standard_normal((20, 300)) + 3 * rng.standard_normal((100, 300))
>>> result = calibtest.alignment_test(x, y, metric="mutual_knn", n_resamples=999, rng=0)
>>> result.pvalue <= 0.001
True

Names are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_PUBLIC = {
    "AlignmentResult": "calibtest.procedures.alignment",
    "CalibrationResult": "calibtest.procedures.calibrate",
    "CalibtestError": "calibtest.errors",
    "CalibtestWarning": "calibtest.errors",
    "ChanceLevel": "calibtest.procedures.chance",
    "Circular": "calibtest.schemes",
    "Claims": "calibtest.metrics.claims",
    "Exchangeable": "calibtest.schemes",
    "ExplicitRelabellings": "calibtest.schemes",
    "FunctionMetric": "calibtest.metrics.function",
    "InputError": "calibtest.errors",
    "LayerStack": "calibtest.stacks",
    "LayersResult": "calibtest.procedures.layers",
    "Metric": "calibtest.metrics.base",
    "MissingDependencyError": "calibtest.errors",
    "ScoresResult": "calibtest.procedures.scores",
    "UndefinedScoreError": "calibtest.errors",
    "WholeGroups": "calibtest.schemes",
    "WithinGroups": "calibtest.schemes",
    "alignment_scores": "calibtest.procedures.scores",
    "alignment_test": "calibtest.procedures.alignment",
    "calibrate": "calibtest.procedures.calibrate",
    "chance_level": "calibtest.procedures.chance",
    "get_metric": "calibtest.metrics.registry",
    "layers_test": "calibtest.procedures.layers",
    "load": "calibtest.io",
    "register": "calibtest.metrics.registry",
}

__all__ = [*sorted([*_PUBLIC, "metrics"]), "__version__"]  # noqa: PLE0604 - names only
__version__ = "0.1.0"

if TYPE_CHECKING:
    from calibtest.errors import CalibtestError as CalibtestError
    from calibtest.errors import CalibtestWarning as CalibtestWarning
    from calibtest.errors import InputError as InputError
    from calibtest.errors import MissingDependencyError as MissingDependencyError
    from calibtest.errors import UndefinedScoreError as UndefinedScoreError
    from calibtest.io import load as load
    from calibtest.metrics.base import Metric as Metric
    from calibtest.metrics.claims import Claims as Claims
    from calibtest.metrics.function import FunctionMetric as FunctionMetric
    from calibtest.metrics.registry import get_metric as get_metric
    from calibtest.metrics.registry import metrics as metrics
    from calibtest.metrics.registry import register as register
    from calibtest.procedures.alignment import AlignmentResult as AlignmentResult
    from calibtest.procedures.alignment import alignment_test as alignment_test
    from calibtest.procedures.calibrate import CalibrationResult as CalibrationResult
    from calibtest.procedures.calibrate import calibrate as calibrate
    from calibtest.procedures.chance import ChanceLevel as ChanceLevel
    from calibtest.procedures.chance import chance_level as chance_level
    from calibtest.procedures.layers import LayersResult as LayersResult
    from calibtest.procedures.layers import layers_test as layers_test
    from calibtest.procedures.scores import ScoresResult as ScoresResult
    from calibtest.procedures.scores import alignment_scores as alignment_scores
    from calibtest.schemes import Circular as Circular
    from calibtest.schemes import Exchangeable as Exchangeable
    from calibtest.schemes import ExplicitRelabellings as ExplicitRelabellings
    from calibtest.schemes import WholeGroups as WholeGroups
    from calibtest.schemes import WithinGroups as WithinGroups
    from calibtest.stacks import LayerStack as LayerStack


def __getattr__(name: str) -> Any:
    if name == "metrics":  # the folder of metrics, which lists them when called
        return import_module("calibtest.metrics")
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'calibtest' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
