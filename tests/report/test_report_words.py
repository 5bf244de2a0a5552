"""Sentences and numbers of reports."""

from __future__ import annotations

import math

import pytest

from calibtest.report import words


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.36, 0.0012, -0.0000001], ["0.3600", "0.0012", "0.0000"]),
        ([93.704, 5.0], ["93.70", "5.00"]),
        ([12345.6, 1.0], ["12346", "1"]),
        ([1e-9, 2e-12], ["1e-09", "2e-12"]),
        ([1e9, 3.0], ["1e+09", "3"]),
        ([math.nan, 0.5], ["–", "0.5000"]),
        ([0.0, 0.0], ["0.000", "0.000"]),
        ([math.inf, 1.0], ["inf", "1.000"]),
        ([], []),
    ],
)
def test_column_keeps_one_number_of_decimals(values: list[float], texts: list[str]) -> None:
    assert words.column(values) == texts


def test_p_is_never_printed_as_zero() -> None:
    assert words.probability(1 / 10_000) == "0.0001"
    assert words.probability(1 / 10_001) == "0.0001"
    assert float(words.probability(1e-9)) > 0


def test_table_is_aligned() -> None:
    lines = words.plain_table(("name", "n"), [("a", "1"), ("longer", "100")], left=1)
    assert lines == ["  name      n", "  a         1", "  longer  100"]


@pytest.mark.parametrize(
    ("alternative", "asked", "found", "missed"),
    [
        ("greater", "more alike than chance", "agree beyond chance", "No alignment beyond chance"),
        ("less", "less alike than chance", "agree less than chance", "No alignment below chance"),
        ("two-sided", "more or less alike", "agree more or less than chance", "No departure from chance"),
    ],
)
def test_answer_follows_the_alternative(grid, alternative: str, asked: str, found: str, missed: str) -> None:
    from dataclasses import replace

    turned = replace(grid, alternative=alternative)
    assert asked in words.question(turned)
    assert found in words.answer(turned)
    assert missed in words.answer(replace(turned, alpha=1e-6))


def test_answer_says_what_was_searched(grid, pair) -> None:
    assert words.answer(grid) == "left and right agree beyond chance: p = 0.005 after searching 6 pairs of layers."
    assert "searching" not in words.answer(pair.grid)
