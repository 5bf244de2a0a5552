"""The registry: what ships, options, metrics of the user's own and of other packages."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path

import numpy as np
import pytest

import calibtest
from calibtest import InputError, Metric, alignment_test, get_metric, metrics, register
from calibtest.metrics import registry
from calibtest.metrics.registry import resolve_metric

SHIPPED = ("debiased_cka", "linear_cka", "mutual_knn", "rbf_cka", "rsa", "rv")


@pytest.fixture(autouse=True)
def _own_registrations_end_with_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})


def test_every_file_is_in_the_registry_under_its_own_name() -> None:
    known = metrics()
    assert tuple(known) == SHIPPED
    assert {name: kind.name for name, kind in known.items()} == {name: name for name in SHIPPED}
    for name, kind in known.items():
        assert kind.__module__ == f"calibtest.metrics.{name}"
        assert kind.summary
        assert kind.cost
        assert "define" in vars(kind)


@pytest.mark.parametrize("first", ["calibtest.get_metric", "calibtest.metrics.rsa"])
def test_public_name_means_the_same_whatever_was_imported_before(first: str) -> None:
    load = f"import {first}" if first == "calibtest.metrics.rsa" else f"import calibtest; {first}"
    script = f"{load}; from calibtest import metrics; print(*metrics()); print(*calibtest.metrics())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(Path(calibtest.__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [" ".join(SHIPPED)] * 2


def test_changing_the_returned_registry_changes_nothing() -> None:
    metrics().clear()
    assert tuple(metrics()) == SHIPPED


def test_metric_is_a_value() -> None:
    assert get_metric("mutual_knn", k=5) == get_metric("mutual_knn", k=5)
    assert get_metric("mutual_knn", k=5) != get_metric("mutual_knn", k=6)
    assert len({get_metric("rsa"), get_metric("rsa"), get_metric("rsa", distance="cosine")}) == 2
    with pytest.raises(FrozenInstanceError):
        get_metric("mutual_knn").k = 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "options", "text", "shown"),
    [
        ("linear_cka", {}, "linear_cka", "LinearCKA()"),
        ("mutual_knn", {}, "mutual_knn", "MutualKNN(k=10, distance='cosine')"),
        ("mutual_knn", {"k": 5}, "mutual_knn(k=5)", "MutualKNN(k=5, distance='cosine')"),
        ("rsa", {"distance": "cosine"}, "rsa(distance='cosine')", "RSA(distance='cosine', comparison='spearman')"),
        ("rbf_cka", {"bandwidth": 2.0}, "rbf_cka(bandwidth=2.0)", "RBFCKA(bandwidth=2.0, fraction=1.0)"),
    ],
)
def test_text_names_what_differs_from_the_default(name: str, options: dict, text: str, shown: str) -> None:
    metric = get_metric(name, **options)
    assert str(metric) == text
    assert repr(metric) == shown
    assert options.items() <= metric.options().items()


def test_whatever_names_a_metric_is_understood() -> None:
    metric = get_metric("mutual_knn", k=3)
    assert resolve_metric(metric) is metric
    assert resolve_metric("rsa") == get_metric("rsa")
    assert resolve_metric(type(metric)) == get_metric("mutual_knn")  # a class stands for its defaults
    assert resolve_metric(max).name == "max"


def test_registered_metric_is_used_by_name() -> None:
    linear = type(get_metric("linear_cka"))

    @register
    @dataclass(frozen=True)
    class Squared(linear):  # type: ignore[misc, valid-type]
        """Linear CKA of squared activations."""

        power: int = 2
        name = "squared_cka"
        summary = "linear CKA of powers"

        def define(self, x: np.ndarray, y: np.ndarray) -> float:
            return float(linear().define(x**self.power, y**self.power))

        def prepare(self, x, name, *, kind="activations", dtype=np.float64):  # type: ignore[no-untyped-def]
            return super().prepare(x**self.power, name, kind=kind, dtype=dtype)

    assert tuple(metrics()) == tuple(sorted((*SHIPPED, "squared_cka")))
    assert get_metric("squared_cka", power=3).options() == {"power": 3}
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((30, 4)), rng.standard_normal((30, 3))
    here = alignment_test(x, y, metric="squared_cka", n_resamples=99, rng=0)
    there = alignment_test(x**2, y**2, metric="linear_cka", n_resamples=99, rng=0)
    np.testing.assert_array_equal(here.null_distribution, there.null_distribution)
    assert here.provenance.metric == "squared_cka"
    with pytest.raises(InputError, match="'squared_cka' is taken"):
        register(dataclass(frozen=True)(type("Other", (linear,), {"name": "squared_cka", "define": linear.define})))


def test_shipped_names_are_taken() -> None:
    linear = type(get_metric("linear_cka"))
    with pytest.raises(InputError, match="'rsa' is taken"):
        register(dataclass(frozen=True)(type("Mine", (linear,), {"name": "rsa"})))
    assert register(linear) is linear  # the same class again is no conflict


@pytest.mark.parametrize("thing", [int, Metric, get_metric("rsa"), lambda x, y: 0.0])
def test_only_concrete_metric_classes_are_registered(thing: object) -> None:
    with pytest.raises(InputError, match="concrete subclass"):
        register(thing)  # type: ignore[type-var]


def test_metrics_of_other_packages_come_through_entry_points(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text(
        textwrap.dedent(
            """
            from dataclasses import dataclass
            from calibtest.metrics.linear_cka import LinearCKA

            @dataclass(frozen=True)
            class Foreign(LinearCKA):
                name = "foreign_cka"
            """
        )
    )
    info = tmp_path / "elsewhere-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[calibtest.metrics]\nforeign_cka = elsewhere:Foreign\n")
    package = Path(calibtest.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", "import calibtest; print(*calibtest.metrics(), calibtest.get_metric('foreign_cka'))"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{package}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [*sorted((*SHIPPED, "foreign_cka")), "foreign_cka"]
