"""Flags for the hyper-parameters of the metrics, made from the fields of their dataclasses."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from calibtest.cli.callables import is_reference, load_object
from calibtest.errors import InputError

if TYPE_CHECKING:
    from calibtest.metrics.base import Metric

__all__ = ["MetricCommand", "chosen_metric", "described_fields", "is_required"]

_PREFIX = "metric_field_"
_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


class MetricCommand(click.Command):
    """A command with one more flag for every hyper-parameter of every registered metric.

    The registry is read when the flags are needed, not when the program starts.
    """

    _made: list[click.Parameter] | None = None

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, those of the metrics, and ``--help`` at the end."""
        own = super().get_params(ctx)
        if self._made is None:
            taken = {flag for parameter in own for flag in parameter.opts}
            self._made = _flags(taken)
        return [*own[:-1], *self._made, own[-1]]


def _flags(taken: set[str]) -> list[click.Parameter]:
    from calibtest.metrics.registry import metrics

    users: dict[str, list[str]] = {}
    for metric in metrics().values():
        for field, choices, default in described_fields(metric):
            shown = f" = {default}" if default is not None else ""
            meaning = f"{metric.name} ({' | '.join(choices) if choices else field.name}{shown})"
            users.setdefault(field.name, []).append(meaning)
    made: list[click.Parameter] = []
    for name, meanings in users.items():
        flag = "--" + name.replace("_", "-")
        if flag in taken:  # a field may share its name with a flag of the command
            flag = "--metric-" + name.replace("_", "-")
        made.append(click.Option([_PREFIX + name, flag], metavar="VALUE", help=f"Option of {'; '.join(meanings)}."))
    return made


def described_fields(metric: type[Metric]) -> list[tuple[Field[Any], tuple[str, ...], Any]]:
    """Every hyper-parameter of a metric: its field, the values it may take (empty: any), and its default."""
    hints = get_type_hints(metric)
    described = []
    for field in fields(metric):
        choices = tuple(str(value) for value in get_args(hints[field.name])) if _is_literal(hints[field.name]) else ()
        described.append((field, choices, None if field.default is MISSING else field.default))
    return described


def is_required(field: Field[Any]) -> bool:
    """Whether a hyper-parameter has no default."""
    return field.default is MISSING and field.default_factory is MISSING


def chosen_metric(name: str, given: Mapping[str, Any], *, smaller_is_more_similar: bool = False) -> Metric:
    """The metric that ``--metric`` and the flags of its hyper-parameters mean.

    Parameters
    ----------
    name : str
        A registered name, or a reference to a function of the user's own.
    given : mapping
        Parameters of the command, those of hyper-parameters among them.
    smaller_is_more_similar : bool
        For a function: whether it is a distance.

    Raises
    ------
    InputError
        When the metric does not exist or does not have a hyper-parameter that was given.
    """
    from calibtest.metrics.function import FunctionMetric
    from calibtest.metrics.registry import get_metric, metrics, resolve_metric

    asked = {
        key.removeprefix(_PREFIX): value
        for key, value in given.items()
        if key.startswith(_PREFIX) and value is not None
    }
    if is_reference(name):
        metric = resolve_metric(load_object(name, "--metric"))
        if asked:
            raise InputError(
                f"--{_flag(next(iter(asked)))} is an option of registered metrics, but --metric is {name}; drop it"
            )
        if not isinstance(metric, FunctionMetric):
            _refuse_direction(name, smaller_is_more_similar)
            return metric
        return FunctionMetric(metric.function, larger_is_more_similar=not smaller_is_more_similar)
    _refuse_direction(name, smaller_is_more_similar)
    known = metrics().get(name)
    if known is None:
        return get_metric(name)  # which says what there is
    hints = get_type_hints(known)
    allowed = [field.name for field in fields(known)]
    for field in asked:
        if field not in allowed:
            has = ", ".join(f"--{_flag(own)}" for own in allowed) or "none"
            raise InputError(f"--{_flag(field)} is no option of the metric {name}; its options are {has}")
    return get_metric(name, **{field: _converted(text, hints[field], field) for field, text in asked.items()})


def _refuse_direction(name: str, smaller_is_more_similar: bool) -> None:
    if smaller_is_more_similar:
        raise InputError(
            f"--smaller-is-more-similar is for a function of your own, but the metric {name} knows its direction; drop the flag"
        )


def _flag(field: str) -> str:
    return field.replace("_", "-")


def _is_literal(hint: Any) -> bool:
    return get_origin(hint) is Literal


def _converted(text: str, hint: Any, field: str) -> Any:
    """`text` as the type of the field; what else a field demands, the metric itself checks."""
    if get_origin(hint) in (Union, types.UnionType):
        inner = [kind for kind in get_args(hint) if kind is not type(None)]
        if len(inner) < len(get_args(hint)) and text.lower() == "none":
            return None
        hint = inner[0]
    if hint is bool:
        if text.lower() in ("true", "yes", "1", "false", "no", "0"):
            return text.lower() in ("true", "yes", "1")
        raise InputError(f"--{_flag(field)} must be {_WORDS[bool]}, got {text!r}")
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            raise InputError(f"--{_flag(field)} must be {_WORDS[hint]}, got {text!r}") from None
    return text
