"""Loops of the overlap form: whole cosets by histograms of shifts, and listed relabellings by look-up.

Cosets. Lay the items out on rings and say where both ends of an edge stand: the pair of rings and the distance along
them are its *key*, the place of its tail its *place*. A shift moves the place and keeps the key. An edge of the left
graph and one of the right graph with the same key therefore meet under exactly one shift, the difference of their
places, and one pass over all such pairs gives the value under every shift at once.

Listed relabellings. The right-hand lists of an item, of up to 64 layers, are spread over one row of words: bit ``b`` of
word ``j`` says that ``j`` is a neighbour in layer ``b``. A look-up then serves all the layers, and the words are
added up in bit-sliced counters: plane ``p`` holds the bits of weight ``2**p`` of 64 counts.

Indices are unsigned throughout: a signed index may count from the end, and the test for that costs half the speed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibtest.kernels import kernel

__all__ = [
    "Entries",
    "Keyed",
    "Lists",
    "Rings",
    "Words",
    "count_listed",
    "count_matches",
    "fill_slots",
    "number_keys",
    "place_edges",
    "sort_by_key",
    "weigh_listed",
    "weigh_matches",
]


class Rings(NamedTuple):
    """Layout of the positions: `tracks` rings of `period` places, and `fixed` places that no shift moves."""

    tracks: int
    period: int
    fixed: int


class Keyed(NamedTuple):
    """Edges under several layouts, sorted by key: those of key q stand at ``starts[r, q] : starts[r, q + 1]``."""

    starts: NDArray[np.uint32]
    places: NDArray[np.uint32]
    weights: NDArray[np.float64]


class Lists(NamedTuple):
    """Neighbour lists of L layers: those of item i in layer l stand at ``starts[i L + l] : starts[i L + l + 1]``."""

    starts: NDArray[np.uint32]
    columns: NDArray[np.uint32]
    weights: NDArray[np.float64]


class Words(NamedTuple):
    """Neighbours of an item in any of up to 64 layers, with a word that says in which."""

    starts: NDArray[np.uint32]
    columns: NDArray[np.uint32]
    words: NDArray[np.uint64]


class Entries(NamedTuple):
    """Neighbours of an item in any layer; the layers of entry e stand at ``entry_starts[e] : entry_starts[e + 1]``."""

    starts: NDArray[np.uint32]
    columns: NDArray[np.uint32]
    entry_starts: NDArray[np.uint32]
    layers: NDArray[np.uint32]
    weights: NDArray[np.float64]


# ----------------------------------------------------------------------------------------------------------- cosets
@kernel
def place_edges(
    tails: NDArray[np.uint32],
    heads: NDArray[np.uint32],
    positions: NDArray[np.uint32],
    rings: Rings,
    out: NDArray[np.unsignedinteger],
) -> None:
    """``out[r, e]``: key and place of edge e under layout r.

    ``positions[r, item]`` is the item's ring and place; a fixed item has ring ``tracks + number`` and place 0. An edge
    between two fixed items has the place `period`, which no ring has.
    """
    tracks = np.int64(rings.tracks)
    period = np.int64(rings.period)
    fixed = np.int64(rings.fixed)
    to_fixed = tracks * tracks * period
    from_fixed = to_fixed + tracks * fixed
    both_fixed = from_fixed + fixed * tracks
    for r in range(positions.shape[0]):
        for e in range(tails.shape[0]):
            ring = np.int64(positions[r, tails[e], 0])
            place = np.int64(positions[r, tails[e], 1])
            other_ring = np.int64(positions[r, heads[e], 0])
            other_place = np.int64(positions[r, heads[e], 1])
            if ring < tracks and other_ring < tracks:
                distance = other_place - place
                if distance < 0:
                    distance += period
                out[r, e, 0] = (ring * tracks + other_ring) * period + distance
                out[r, e, 1] = place
            elif ring < tracks:
                out[r, e, 0] = to_fixed + ring * fixed + (other_ring - tracks)
                out[r, e, 1] = place
            elif other_ring < tracks:
                out[r, e, 0] = from_fixed + (ring - tracks) * tracks + other_ring
                out[r, e, 1] = other_place
            else:
                out[r, e, 0] = both_fixed + (ring - tracks) * fixed + (other_ring - tracks)
                out[r, e, 1] = period


@kernel
def sort_by_key(
    placed: NDArray[np.unsignedinteger],
    starts: NDArray[np.uint32],
    order: NDArray[np.uint32],
    places: NDArray[np.uint32],
) -> None:
    """Counting sort for every layout: ``order[r, starts[r, q] : starts[r, q + 1]]`` are the edges of key q.

    `starts`, `order` and `places` (the places in that order) are written.
    """
    one = np.uint32(1)
    for r in range(placed.shape[0]):
        mine = starts[r]
        mine[:] = 0
        for e in range(placed.shape[1]):
            mine[placed[r, e, 0]] += one
        total = np.uint32(0)
        for q in range(mine.shape[0]):
            total += mine[q]
            mine[q] = total
        for e in range(placed.shape[1] - 1, -1, -1):
            key = placed[r, e, 0]
            mine[key] -= one
            at = mine[key]
            order[r, at] = e
            places[r, at] = placed[r, e, 1]


@kernel
def _slot(key: int, n_slots: int) -> np.uint64:
    """First slot to look at for a key; the number of slots is a power of two."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio spreads neighbouring keys
    mixed ^= mixed >> np.uint64(29)
    return mixed & np.uint64(n_slots - 1)


@kernel
def fill_slots(keys: NDArray[np.unsignedinteger], slots: NDArray[np.int64]) -> None:
    """Hash table of distinct keys: a slot holds the number of a key, or -1. There are more slots than keys."""
    last = np.uint64(slots.shape[0] - 1)
    for number in range(keys.shape[0]):
        at = _slot(keys[number], slots.shape[0])
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & last
        slots[at] = number


@kernel
def number_keys(
    placed: NDArray[np.unsignedinteger],
    keys: NDArray[np.unsignedinteger],
    slots: NDArray[np.int64],
    out: NDArray[np.uint32],
) -> None:
    """Placed edges with every key replaced by its number in the table, or by the number of keys where it is absent."""
    last = np.uint64(slots.shape[0] - 1)
    for r in range(placed.shape[0]):
        for e in range(placed.shape[1]):
            key = placed[r, e, 0]
            at = _slot(key, slots.shape[0])
            while slots[at] >= 0 and keys[slots[at]] != key:
                at = (at + np.uint64(1)) & last
            out[r, e, 0] = slots[at] if slots[at] >= 0 else keys.shape[0]
            out[r, e, 1] = placed[r, e, 1]


@kernel
def count_matches(left: Keyed, right: Keyed, out: NDArray[np.uint32]) -> None:
    """``out[r]``: histogram of the place differences between right edges under layout r and left edges of equal key.

    The bin of a pair is its difference plus the period, so that shift s is found in bins s and s + period. Pairs
    of edges that no shift moves have the last bin to themselves (left place 0, right place the period).
    Four left edges at a time stay in registers while the right edges pass by.
    """
    period = np.uint32((out.shape[1] - 1) // 2)
    one = np.uint32(1)
    four = np.uint32(4)
    starts = left.starts[0]
    places = left.places[0]
    for r in range(out.shape[0]):
        bins = out[r]
        for key in range(starts.shape[0] - 1):
            low = right.starts[r, key]
            high = right.starts[r, key + 1]
            at = starts[key]
            end = starts[key + 1]
            while at + four <= end:
                a = np.uint32(period - places[at])
                b = np.uint32(period - places[at + one])
                c = np.uint32(period - places[at + np.uint32(2)])
                d = np.uint32(period - places[at + np.uint32(3)])
                for e in range(low, high):
                    place = right.places[r, e]
                    bins[np.uint32(a + place)] += one
                    bins[np.uint32(b + place)] += one
                    bins[np.uint32(c + place)] += one
                    bins[np.uint32(d + place)] += one
                at += four
            while at < end:
                a = np.uint32(period - places[at])
                for e in range(low, high):
                    bins[np.uint32(a + right.places[r, e])] += one
                at += one


@kernel
def weigh_matches(left: Keyed, right: Keyed, out: NDArray[np.float64]) -> None:
    """As `count_matches`, adding the product of the weights of a pair."""
    period = np.uint32((out.shape[1] - 1) // 2)
    starts = left.starts[0]
    for r in range(out.shape[0]):
        bins = out[r]
        for key in range(starts.shape[0] - 1):
            for at in range(starts[key], starts[key + 1]):
                a = np.uint32(period - left.places[0, at])
                weight = left.weights[0, at]
                for e in range(right.starts[r, key], right.starts[r, key + 1]):
                    bins[np.uint32(a + right.places[r, e])] += weight * right.weights[r, e]


# ----------------------------------------------------------------------------------------------- listed relabellings
@kernel
def count_listed(left: Lists, right: Words, relabellings: NDArray[np.uint32], out: NDArray[np.int64]) -> None:
    """``out[m, l, b]``: edges of left layer l that relabelling m maps to edges of the right layer of bit b."""
    n = relabellings.shape[1]
    n_layers = out.shape[1]
    columns = left.columns
    n_planes = 4
    while (np.int64(1) << n_planes) <= columns.shape[0]:
        n_planes += 1
    planes = np.zeros((n_layers, n_planes), dtype=np.uint64)
    row = np.zeros(n, dtype=np.uint64)
    none = np.uint64(0)
    one = np.uint32(1)
    eight = np.uint32(8)
    for m in range(relabellings.shape[0]):
        pi = relabellings[m]
        planes[:] = none
        for i in range(n):
            low = right.starts[pi[i]]
            high = right.starts[pi[i] + one]
            for e in range(low, high):
                row[right.columns[e]] = right.words[e]
            at = left.starts[i * n_layers]
            for l in range(n_layers):
                end = left.starts[i * n_layers + l + 1]
                ones = planes[l, 0]
                twos = planes[l, 1]
                fours = planes[l, 2]
                while at + eight <= end:  # a tree of carry-save adders takes eight words
                    a = row[pi[columns[at]]]
                    b = row[pi[columns[at + one]]]
                    half = ones ^ a
                    two_a = (ones & a) | (half & b)
                    ones = half ^ b
                    a = row[pi[columns[at + np.uint32(2)]]]
                    b = row[pi[columns[at + np.uint32(3)]]]
                    half = ones ^ a
                    two_b = (ones & a) | (half & b)
                    ones = half ^ b
                    half = twos ^ two_a
                    four_a = (twos & two_a) | (half & two_b)
                    twos = half ^ two_b
                    a = row[pi[columns[at + np.uint32(4)]]]
                    b = row[pi[columns[at + np.uint32(5)]]]
                    half = ones ^ a
                    two_a = (ones & a) | (half & b)
                    ones = half ^ b
                    a = row[pi[columns[at + np.uint32(6)]]]
                    b = row[pi[columns[at + np.uint32(7)]]]
                    half = ones ^ a
                    two_b = (ones & a) | (half & b)
                    ones = half ^ b
                    half = twos ^ two_a
                    four_b = (twos & two_a) | (half & two_b)
                    twos = half ^ two_b
                    half = fours ^ four_a
                    carry = (fours & four_a) | (half & four_b)
                    fours = half ^ four_b
                    plane = 3
                    while carry != none:
                        both = planes[l, plane] & carry
                        planes[l, plane] ^= carry
                        carry = both
                        plane += 1
                    at += eight
                while at < end:  # the rest, in pairs
                    a = row[pi[columns[at]]]
                    b = none
                    if at + one < end:
                        b = row[pi[columns[at + one]]]
                    half = ones ^ a
                    two_a = (ones & a) | (half & b)
                    ones = half ^ b
                    four_a = twos & two_a
                    twos ^= two_a
                    carry = fours & four_a
                    fours ^= four_a
                    plane = 3
                    while carry != none:
                        both = planes[l, plane] & carry
                        planes[l, plane] ^= carry
                        carry = both
                        plane += 1
                    at += np.uint32(2)
                at = end
                planes[l, 0] = ones
                planes[l, 1] = twos
                planes[l, 2] = fours
            for e in range(low, high):
                row[right.columns[e]] = none
        for l in range(n_layers):
            for b in range(out.shape[2]):
                count = np.int64(0)
                for plane in range(n_planes):
                    count += np.int64((planes[l, plane] >> np.uint64(b)) & np.uint64(1)) << plane
                out[m, l, b] = count


@kernel
def weigh_listed(left: Lists, right: Entries, relabellings: NDArray[np.uint32], out: NDArray[np.float64]) -> None:
    """``out[m, l, b]``: sum over edges of left layer l and their images in right layer b of the product of weights."""
    n = relabellings.shape[1]
    n_layers = out.shape[1]
    row = np.zeros(n, dtype=np.uint32)  # one more than the entry that stands for the item, 0 where there is none
    one = np.uint32(1)
    for m in range(relabellings.shape[0]):
        pi = relabellings[m]
        out[m] = 0.0
        for i in range(n):
            low = right.starts[pi[i]]
            high = right.starts[pi[i] + one]
            for e in range(low, high):
                row[right.columns[e]] = e + one
            for l in range(n_layers):
                for at in range(left.starts[i * n_layers + l], left.starts[i * n_layers + l + 1]):
                    e = row[pi[left.columns[at]]]
                    if e > 0:
                        weight = left.weights[at]
                        for t in range(right.entry_starts[e - one], right.entry_starts[e]):
                            out[m, l, right.layers[t]] += weight * right.weights[t]
            for e in range(low, high):
                row[right.columns[e]] = 0
