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
        click.echo(json.dumps(entries, indent=1))
        return
    from calibtest.cli.screen import Screen

    screen = Screen()
    for place, entry in enumerate(entries):
        if place:
            screen.line()
        screen.title(f"{entry['name']}: {entry['summary']}")
        options = ", ".join(_option(option) for option in entry["options"]) or "none"
        low, high = (_end(end) for end in entry["range"])
        facts = {
            "options": options,
            "range": f"{low} to {high}"
            + ("" if entry["larger_is_more_similar"] else ", smaller is more similar")
            + (", symmetric" if entry["symmetric"] else ", not symmetric"),
            "invariant": ", ".join(entry["invariant"]) or "to nothing",
            "form": entry["form"],
            "cost": entry["cost"],
            "takes": ", ".join(entry["accepts"]) + f"; at least {entry['least_items']} items",
        }
        for label, text in facts.items():
            screen.paragraph(text, label, label_width=12)


def _entry(metric: type[Metric]) -> dict[str, Any]:
    from calibtest.cli.metric_options import described_fields

    claims = metric().claims
    return {
        "name": metric.name,
        "summary": metric.summary,
        "options": [
            {"name": field.name, "default": default, "choices": list(choices)}
            for field, choices, default in described_fields(metric)
        ],
        "form": type(metric.form).__name__,
        "cost": metric.cost,
        "accepts": sorted(metric.accepts),
        "least_items": metric.least_items,
        "range": [end if math.isfinite(end) else None for end in claims.range],
        "symmetric": claims.symmetric,
        "self_value": claims.self_value,
        "larger_is_more_similar": claims.larger_is_more_similar,
        "invariant": [name for name in claims.known if name in claims.invariant],
        "sensitive": [name for name in claims.known if name in claims.sensitive],
    }


def _option(option: dict[str, Any]) -> str:
    choices = f" ({' | '.join(option['choices'])})" if option["choices"] else ""
    return f"--{option['name'].replace('_', '-')} {option['default']}{choices}"


def _end(end: float | None) -> str:
    return "unbounded" if end is None else f"{end:g}"
