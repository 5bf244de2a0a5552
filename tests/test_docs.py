"""The documentation runs: every ``>>>`` example of the docs is executed."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if ">>>" in page.read_text(encoding="utf-8"))


def test_there_are_pages_with_examples() -> None:
    assert {"tutorial.md", "explanation.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_a_page(page: Path) -> None:
    # a fence in front of an example is no output of it
    text = page.read_text(encoding="utf-8").replace("```python", "").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert test.examples
    assert not runner.failures, "".join(report)
