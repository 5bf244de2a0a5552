"""Schemes: what they allow, what they refuse, and how many relabellings they give."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from calibtest.errors import InputError
from calibtest.schemes import (
    SCHEMES,
    Circular,
    Cosets,
    Exchangeable,
    Explicit,
    ExplicitRelabellings,
    Scheme,
    WholeGroups,
    WithinGroups,
    resolve_scheme,
)

RNG = np.random.default_rng


def rows(drawn) -> set[tuple[int, ...]]:
    return {tuple(row) for row in drawn.explicit().tolist()}


# ------------------------------------------------------------------------------------------------------ numbers
@pytest.mark.parametrize(
    ("n", "asked", "used"), [(20, 19, 20), (20, 20, 40), (20, 99, 100), (50, 9999, 10000), (7, 99, 105)]
)
def test_cosets_come_in_multiples_of_n(n: int, asked: int, used: int) -> None:
    drawn = Exchangeable().draw(n, asked, RNG(0), cosets=True)
    assert isinstance(drawn, Cosets)
    assert (drawn.tracks, drawn.period, len(drawn)) == (1, n, used)
    assert drawn.n_cosets == math.ceil((asked + 1) / n)


def test_independent_draws_are_as_many_as_asked_for() -> None:
    drawn = Exchangeable().draw(20, 37, RNG(0), cosets=False)
    assert isinstance(drawn, Explicit)
    assert len(drawn) == 38
    assert not drawn.exhaustive


@pytest.mark.parametrize("as_cosets", [True, False])
def test_few_relabellings_are_enumerated(as_cosets: bool) -> None:
    drawn = Exchangeable().draw(4, 23, RNG(0), cosets=as_cosets)
    assert drawn.exhaustive
    assert rows(drawn) == set(permutations(range(4)))
    assert not Exchangeable().draw(4, 22, RNG(0), cosets=as_cosets).exhaustive


def test_enumeration_within_and_of_groups() -> None:
    within = WithinGroups(list("abab")).draw(4, 99, RNG(0))
    assert rows(within) == {(0, 1, 2, 3), (2, 1, 0, 3), (0, 3, 2, 1), (2, 3, 0, 1)}
    whole = WholeGroups(list("aabbc")).draw(5, 99, RNG(0))
    assert rows(whole) == {(0, 1, 2, 3, 4), (2, 3, 0, 1, 4)}
    assert within.exhaustive
    assert whole.exhaustive


@pytest.mark.parametrize(
    ("scheme", "n", "order"),
    [
        (Exchangeable(), 6, 720),
        (WithinGroups(list("aaabbc")), 6, 12),
        (WholeGroups(list("aabbcde")), 7, 12),
        (WholeGroups(np.repeat([0, 1, 2], 4)), 12, 6),
        (Circular(), 9, 9),
    ],
)
def test_order(scheme: Scheme, n: int, order: int) -> None:
    assert scheme.order(n) == order
    assert isinstance(scheme, Scheme)


def test_order_of_large_designs_is_exact() -> None:
    assert Exchangeable().order(200) == math.factorial(200)


def test_the_same_seed_draws_the_same_set() -> None:
    for scheme in (Exchangeable(), WithinGroups(np.repeat([0, 1], 12)), WholeGroups(np.repeat(np.arange(12), 2))):
        for as_cosets in (True, False):
            one, two = (scheme.draw(24, 30, RNG(5), cosets=as_cosets).explicit() for _ in range(2))
            assert np.array_equal(one, two)
            assert not np.array_equal(one, scheme.draw(24, 30, RNG(6), cosets=as_cosets).explicit())


# ------------------------------------------------------------------------------------------------------ layouts
@pytest.mark.parametrize(
    ("sizes", "tracks", "period"),
    [
        ([8, 8, 8], 3, 8),  # equal strata: one ring each
        ([30], 1, 30),
        ([8, 9], 2, 8),  # nearly equal: one item is left where it is
        ([12, 6], 3, 6),  # a stratum may hold several rings
    ],
)
def test_strata_share_rings(sizes: list[int], tracks: int, period: int) -> None:
    drawn = WithinGroups(np.repeat(np.arange(len(sizes)), sizes)).draw(sum(sizes), 50, RNG(0))
    assert isinstance(drawn, Cosets)
    assert (drawn.tracks, drawn.period) == (tracks, period)
    assert len(drawn) >= 51


def test_whole_groups_are_rings_of_blocks() -> None:
    drawn = WholeGroups(np.repeat(np.arange(7), 3)).draw(21, 50, RNG(0))
    assert isinstance(drawn, Cosets)
    assert (drawn.tracks, drawn.period) == (3, 7)


def test_strata_without_a_common_ring_are_drawn_one_by_one() -> None:
    """Shifts that leave many items where they are would make the relabellings of a coset too much alike."""
    drawn = WithinGroups(np.repeat(np.arange(4), [2, 3, 5, 7])).draw(17, 50, RNG(0))
    assert isinstance(drawn, Explicit)
    assert len(drawn) == 51


def test_file_order_is_not_the_ring_order() -> None:
    """Sorted files are common, so the ring is laid in random order; only the circular scheme keeps it."""
    drawn = Exchangeable().draw(30, 29, RNG(0))
    assert not np.array_equal(drawn.order, np.arange(30))
    circular = Circular().draw(30, 5, RNG(0))
    assert np.array_equal(circular.order, np.arange(30))
    assert len(circular) == 30


# ------------------------------------------------------------------------------------------------------ explicit
def test_the_identity_is_added_to_a_list_without_it() -> None:
    listed = ExplicitRelabellings(np.array([[1, 0, 2], [2, 1, 0]])).draw(3, 5, RNG(0))
    assert listed.explicit().tolist() == [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    again = ExplicitRelabellings(listed.explicit(), exhaustive=False).draw(3, 5, RNG(0))
    assert again.explicit().tolist() == listed.explicit().tolist()


def test_a_function_draws_as_many_as_asked_for() -> None:
    scheme = ExplicitRelabellings(lambda rng, n: rng.permutation(n), null="any order")
    drawn = scheme.draw(9, 12, RNG(0))
    assert drawn.explicit().shape == (13, 9)
    assert drawn.explicit()[0].tolist() == list(range(9))
    assert scheme.null == "any order"


BAD = [
    (lambda: ExplicitRelabellings(np.array([[0, 0, 2]])).draw(3, 5, RNG(0)), "permutation of 0..2"),
    (lambda: ExplicitRelabellings(np.array([[0, 1]])).draw(3, 5, RNG(0)), r"shape \(m, 3\)"),
    (lambda: ExplicitRelabellings(np.array([[0.0, 1.0, 2.0]])).draw(3, 5, RNG(0)), "whole numbers"),
    (lambda: ExplicitRelabellings(lambda rng, n: np.arange(n + 1)).draw(3, 5, RNG(0)), r"shape \(3,\)"),
    (lambda: WithinGroups(list("abc")).order(3), "nothing can change places"),
    (lambda: WithinGroups(list("ab")).order(3), "2 labels for 3 items"),
    (lambda: WithinGroups("abc").order(3), "one label an item"),
    (lambda: WithinGroups([1.0, np.nan, 1.0]).order(3), "for 1 of 3 items"),
    (lambda: WithinGroups([1, None, 1]).order(3), "first for item 1"),
    (lambda: WithinGroups([[1], [1], [2]]).order(3), "plain labels"),
    (lambda: WholeGroups(list("aab")).order(3), "no two groups of the same size"),
    (lambda: resolve_scheme("within_groups"), "groups must be given"),
    (lambda: resolve_scheme("exchangeable", list("aab")), "does not use them"),
    (lambda: resolve_scheme("free"), "must be one of exchangeable"),
    (lambda: resolve_scheme(3), "must be one of exchangeable"),
]


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_calls(call, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_names_resolve() -> None:
    groups = list("aabb")
    for name in SCHEMES:
        scheme = resolve_scheme(name, groups if "groups" in name else None)
        assert scheme.name == name
        assert scheme.null.endswith(("likely", ")"))
    assert resolve_scheme(None).name == "exchangeable"
    own = ExplicitRelabellings(np.array([[1, 0]]))
    assert resolve_scheme(own) is own


def test_only_free_exchange_is_free() -> None:
    """Closed-form moments are over all permutations, so a scheme that allows fewer may not use them."""
    assert Exchangeable().free
    assert not any(
        s.free for s in (WithinGroups("ab"), WholeGroups("ab"), Circular(), ExplicitRelabellings(np.eye(2, dtype=int)))
    )


@pytest.mark.parametrize("cosets", [True, False])
@pytest.mark.parametrize(
    "scheme",
    [
        Exchangeable(),
        WithinGroups(np.repeat([0, 1, 2], [7, 8, 9])),
        WholeGroups(np.repeat(np.arange(8), 3)),
        WholeGroups(np.repeat(np.arange(9), [2, 2, 2, 2, 2, 2, 4, 4, 4])),
        Circular(),
    ],
    ids=lambda scheme: type(scheme).__name__,
)
def test_row_zero_is_the_identity_and_whole_groups_stay_whole(scheme: Any, cosets: bool) -> None:
    listed = scheme.draw(24, 60, np.random.default_rng(0), cosets=cosets).explicit()
    assert (listed[0] == np.arange(24)).all()
    assert (np.sort(listed, axis=1) == np.arange(24)).all()
    if isinstance(scheme, WithinGroups):
        assert (np.asarray(scheme.groups)[listed] == scheme.groups).all()
    if isinstance(scheme, WholeGroups):
        groups = np.asarray(scheme.groups)
        for label in np.unique(groups):  # a group moves as a block, in its own order, to a group of its size
            moved = listed[:, groups == label]
            assert (np.diff(moved, axis=1) == 1).all()
            assert (groups[moved] == groups[moved[:, :1]]).all()
