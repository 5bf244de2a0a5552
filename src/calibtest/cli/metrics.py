"""``calibtest metrics``: the registry."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from calibtest.metrics.base import Metric

__all__ = ["metrics"]


@click.command(
    short_help="List the metrics, their options, claims and cost.", epilog="Example: calibtest metrics --json"
)
@click.option("--json", "as_json", is_flag=True, help="Print the registry as JSON, and nothing else, on stdout.")
def metrics(as_json: bool) -> None:
    """List the metrics: what they compute, their options, their claims and what they cost.

    An invariance that a metric claims is checked by machine; everything else it is sensitive to.
    """
    from calibtest.metrics.registry import metrics as registered

    entries = [_entry(metric) for metric in registered().values()]
    if as_json:
        click.echo(json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False, default=str))
        return
    from calibtest.cli.screen import Screen

    screen = Screen()
    for place, entry in enumerate(entries):
        if place:
            screen.line()
        screen.title(f"{entry['name']}: {entry['summary']}")
        for label, text in _facts(entry).items():
            screen.paragraph(text, label, label_width=12)


def _facts(entry: dict[str, Any]) -> dict[str, str]:
    """What is printed of an entry: labels and texts."""
    facts = {"options": ", ".join(_option(option) for option in entry["options"]) or "none"}
    if "range" in entry:
        low, high = ("unbounded" if end is None else f"{end:g}" for end in entry["range"])
        direction = "" if entry["larger_is_more_similar"] else ", smaller is more similar"
        facts["range"] = f"{low} to {high}{direction}, {'' if entry['symmetric'] else 'not '}symmetric"
        facts["invariant"] = ", ".join(entry["invariant"]) or "to nothing"
        facts["form"] = entry["form"]
    facts["cost"] = entry["cost"]
    facts["takes"] = ", ".join(entry["accepts"]) + f"; at least {entry['least_items']} items"
    return facts


def _entry(metric: type[Metric]) -> dict[str, Any]:
    from calibtest.cli.metric_options import described_fields, is_required

    described = described_fields(metric)
    entry: dict[str, Any] = {
        "name": metric.name,
        "summary": metric.summary,
        "options": [
            {"name": field.name, "default": _finite(default), "choices": list(choices)}
            | ({"required": True} if is_required(field) else {})
            for field, choices, default in described
        ],
        "cost": metric.cost,
        "accepts": sorted(metric.accepts),
        "least_items": metric.least_items,
    }
    # What a metric claims depends on its options, so there is nothing to say before a required one is given.
    return entry if any(is_required(field) for field, *_ in described) else entry | _claims(metric())


def _claims(metric: Metric) -> dict[str, Any]:
    from calibtest.metrics.claims import TRANSFORMS

    claims = metric.claims
    return {
        "form": type(metric.engine).__name__,
        "range": [_finite(end) for end in claims.range],
        "symmetric": claims.symmetric,
        "self_value": _finite(claims.self_value),
        "larger_is_more_similar": claims.larger_is_more_similar,
        "invariant": [name for name in TRANSFORMS if name in claims.invariant],
        "sensitive": [name for name in TRANSFORMS if name in claims.sensitive],
    }


def _finite(value: Any) -> Any:
    """JSON knows no infinity: null stands for it."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _option(option: dict[str, Any]) -> str:
    flag = f"--{option['name'].replace('_', '-')}"
    choices = f" ({' | '.join(option['choices'])})" if option["choices"] else ""
    return f"{flag} {'VALUE, required' if option.get('required') else option['default']}{choices}"
