"""``calibtest metrics``."""

from __future__ import annotations

import json

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
