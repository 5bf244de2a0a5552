"""A law that does not hold, and what shows it."""

from __future__ import annotations

from typing import Any

__all__ = ["LawViolation"]


class LawViolation(AssertionError):
    """A law does not hold.

    Attributes
    ----------
    law : str
        Name of the law.
    evidence : dict
        What shows it: the values that should have agreed, the data, the relabelling.
    """

    def __init__(self, law: str, sentence: str, **evidence: Any) -> None:
        self.law = law
        self.evidence = evidence
        super().__init__(f"{law}: {sentence}")
