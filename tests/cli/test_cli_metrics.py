"""``calibtest metrics``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

import calibtest


def test_registry_is_listed(run) -> None:
    result = run("metrics")
    assert result.exit_code == 0
    for name, metric in calibtest.metrics().items():
        assert f"{name}: {metric.summary}" in result.stdout
    assert "--k 10, --distance cosine (cosine | euclidean)" in result.stdout


def test_json_holds_claims_form_and_cost(run) -> None:
    entries = {entry["name"]: entry for entry in json.loads(run("metrics", "--json").stdout)}
    assert set(entries) == set(calibtest.metrics())
    for name, entry in entries.items():
        claims = calibtest.get_metric(name).claims
        assert set(entry["invariant"]) == claims.invariant
        assert set(entry["sensitive"]) == claims.sensitive
        assert entry["cost"]
        assert entry["form"]
    assert entries["mutual_knn"]["options"][0] == {"name": "k", "default": 10, "choices": []}
    assert entries["mutual_knn"]["form"] == "Overlap"


def test_metric_with_a_required_option_is_listed_too(run, monkeypatch: pytest.MonkeyPatch) -> None:
    from calibtest.metrics import registry
    from calibtest.metrics.linear_cka import LinearCKA

    @dataclass(frozen=True)
    class Shifted(LinearCKA):
        name: ClassVar[str] = "shifted"
        offset: float
        limit: float = float("inf")

    monkeypatch.setitem(registry._registered, "shifted", Shifted)
    entries = {entry["name"]: entry for entry in json.loads(run("metrics", "--json").stdout)}
    assert entries["shifted"]["options"] == [
        {"name": "offset", "default": None, "choices": [], "required": True},
        {"name": "limit", "default": None, "choices": []},
    ]
    assert "range" not in entries["shifted"]
    assert "--offset VALUE, required" in run("metrics").stdout
