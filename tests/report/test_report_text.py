"""Results as text."""

from __future__ import annotations

from calibtest.report.text import layers_text, scores_text


def test_repr_tells_question_null_and_answer(grid) -> None:
    text = repr(grid)
    for part in (
        "Which layers of left and right",
        "the pairing of the items carries no information",
        "linear_cka, 40 items, 2 x 3 layers, exchangeable: 199 relabellings (5 cosets of 40 shifts), seed 0",
        "left and right agree beyond chance: p = 0.005",
        "the least that could come out is 0.005",
        "best pair   second and two",
        "adjusted p",
    ):
        assert part in " ".join(text.split("\n              ")), part


def test_strongest_pairs_come_first_and_top_limits_them(grid) -> None:
    lines = layers_text(grid, top=2).splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("  layer of A"))
    assert lines[start - 1] == "  the 2 strongest of 6 pairs, by z:"
    assert lines[start + 1].split()[:2] == ["second", "two"]
    assert len(lines) == start + 3


def test_no_line_is_wider_than_a_page(grid) -> None:
    assert max(map(len, repr(grid).splitlines())) <= 116


def test_pair_tells_chance_and_threshold(pair) -> None:
    text = repr(pair)
    assert text.startswith("Are left and right more alike than chance makes them?")
    for part in ("chance", "z ", "threshold", "chance-corrected", "1 x 1"):
        assert part in text, part


def test_notes_are_printed(grid) -> None:
    from dataclasses import replace

    assert "note: look at this" in repr(replace(grid, notes=("look at this",)))


def test_scores_say_that_nothing_was_tested(scores) -> None:
    text = repr(scores)
    assert "nothing was tested" in text
    assert text.splitlines()[2].split()[:2] == ["second", "two"]
    assert "the 1 most similar of 6 pairs" in scores_text(scores, top=1)
