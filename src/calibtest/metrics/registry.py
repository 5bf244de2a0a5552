"""The registry: every metric of this folder, of other packages (entry points) and of the user."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, cast

from calibtest.errors import CalibtestWarning, InputError
from calibtest.metrics.base import Metric

__all__ = ["get_metric", "metrics", "register", "resolve_metric"]

_NOT_METRICS = {"base", "claims", "function", "registry"}
_registered: dict[str, type[Metric]] = {}


@cache
def _shipped() -> dict[str, type[Metric]]:
    package = importlib.import_module("calibtest.metrics")
    found: dict[str, type[Metric]] = {}
    for module in pkgutil.iter_modules(package.__path__):
        if module.name in _NOT_METRICS:
            continue
        contents = vars(importlib.import_module(f"calibtest.metrics.{module.name}"))
        for exported in contents["__all__"]:
            found[contents[exported].name] = contents[exported]
    return found


@cache
def _from_entry_points() -> dict[str, type[Metric]]:
    """Metrics that other packages bring; one that cannot be used is left out with a warning."""
    from importlib.metadata import entry_points

    found: dict[str, type[Metric]] = {}
    for point in entry_points(group="calibtest.metrics"):
        try:
            kind = point.load()
            _admit(kind, {**_shipped(), **found})
            found[kind.name] = kind
        except Exception as error:
            owner = point.dist.name if point.dist else "an installed package"
            warnings.warn(
                f"metric {point.name!r} of {owner} cannot be used ({error}); update or remove that package",
                CalibtestWarning,
                stacklevel=2,
            )
    return found


def _admit(metric: Any, known: dict[str, type[Metric]]) -> None:
    """Refuse what is no metric class, has no name, or would take the place of another."""
    if not (inspect.isclass(metric) and issubclass(metric, Metric)) or inspect.isabstract(metric):
        raise InputError(f"metric must be a concrete subclass of calibtest.Metric, got {metric!r}")
    for attribute in ("name", "summary", "cost"):
        if not isinstance(getattr(metric, attribute, None), str):
            raise InputError(f"metric {metric.__name__} must say its {attribute}: {attribute} = '...' in the class")
    if known.get(metric.name, metric) is not metric:
        raise InputError(f"metric name {metric.name!r} is taken; choose another name")


def _all() -> dict[str, type[Metric]]:
    known = {**_shipped(), **_from_entry_points(), **_registered}
    return dict(sorted(known.items()))


def metrics() -> dict[str, type[Metric]]:
    """Every known metric by name.

    Returns
    -------
    dict of str to type
        The classes; ``get_metric(name, **fields)`` makes one.

    Examples
    --------
    >>> import calibtest
    >>> "linear_cka" in calibtest.metrics()
    True
    """
    return _all()


def get_metric(name: str, **options: Any) -> Metric:
    """Metric by its name, with hyper-parameters.

    Parameters
    ----------
    name : str
        A key of `metrics()`.
    **options
        Fields of the metric, such as ``k=20``.

    Raises
    ------
    InputError
        When there is no such metric or no such field.

    Examples
    --------
    >>> import calibtest
    >>> calibtest.get_metric("mutual_knn", k=5)
    MutualKNN(k=5, distance='cosine')
    """
    known = _all()
    if not isinstance(name, str) or name not in known:
        raise InputError(f"metric must be one of {', '.join(known)} or a callable f(x, y), got {name!r}")
    kind = known[name]
    allowed = [f.name for f in fields(kind)]
    missing = [f.name for f in fields(kind) if f.default is MISSING and f.name not in options]
    if missing:
        raise InputError(f"metric {name} needs the option {missing[0]!r}; pass it as {missing[0]}=...")
    unknown = [option for option in options if option not in allowed]
    if unknown:
        raise InputError(f"metric {name} has no option {unknown[0]!r}; its options are {', '.join(allowed) or 'none'}")
    return kind(**options)


def register(metric: type[Metric]) -> type[Metric]:
    """Add a metric class to the registry for this process; usable as a decorator.

    Raises
    ------
    InputError
        When `metric` is not a subclass of `Metric` that can be used, or the name is taken.
    """
    _admit(metric, _all())
    _registered[metric.name] = metric
    return metric


def resolve_metric(metric: str | Metric | Callable[[Any, Any], float]) -> Metric:
    """Metric meant by a name, a metric object or a callable."""
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        return get_metric(metric)
    if isinstance(metric, type) and issubclass(metric, Metric):
        if inspect.isabstract(metric) or any(f.default is MISSING for f in fields(metric)):
            raise InputError(f"metric must be a metric object, got the class {metric.__name__}; make one first")
        return metric()
    if callable(metric):
        from calibtest.metrics.function import FunctionMetric

        return FunctionMetric(cast(Callable[[Any, Any], float], metric))
    raise InputError(f"metric must be a name, a metric object or a callable f(x, y), got {type(metric).__name__}")
