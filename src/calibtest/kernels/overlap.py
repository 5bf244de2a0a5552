"""Loops of the overlap form: whole cosets by histograms of shifts, and listed relabellings by look-up.

Cosets. Lay the items out on rings and say where both ends of an edge stand: the pair of rings and the distance along
them are its *key*, the place of its tail its *place*. A shift moves the place and keeps the key. An edge of the left
graph and one of the right graph with the same key therefore meet under exactly one shift, the difference of their
places, and one pass over all such pairs gives the value under every shift at once.

Listed relabellings. The right-hand lists of an item, of up to 64 layers, are spread over one row of words: bit ``b`` of
word ``j`` says that ``j`` is a neighbour in layer ``b``. A look-up then serves all the layers, and the words are
added up in bit-sliced counters: plane ``p`` holds the bits of weight ``2**p`` of 64 counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibtest.kernels import kernel

__all__ = [
    "Entries",
    "Lists",
    "Rings",
    "Words",
    "count_listed",
    "count_matches",
    "fill_slots",
    "find_slots",
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


class Lists(NamedTuple):
    """Neighbour lists of several layers: those of item i in layer l stand at ``starts[l, i] : starts[l, i + 1]``."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    weights: NDArray[np.float64]


class Words(NamedTuple):
    """Neighbours of an item in any of up to 64 layers, with a word that says in which."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    words: NDArray[np.uint64]


class Entries(NamedTuple):
    """Neighbours of an item in any layer; those of entry e are ``starts_of[e] : starts_of[e + 1]`` of the layers."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    entry_starts: NDArray[np.int64]
    layers: NDArray[np.int32]
    weights: NDArray[np.float64]


# ----------------------------------------------------------------------------------------------------------- cosets
@kernel
def place_edges(
    tails: NDArray[np.int32],
    heads: NDArray[np.int32],
    positions: NDArray[np.int32],
    rings: Rings,
    out: NDArray[np.integer],
) -> None:
    """Key and place of every edge under every layout.

    ``positions[r, item]`` is the item's ring and place; a fixed item has ring ``tracks + number`` and place 0. An edge
    between two fixed items has the place `period`, which no ring has.
    """
    tracks, period, fixed = rings
    to_fixed = tracks * tracks * period
    from_fixed = to_fixed + tracks * fixed
    both_fixed = from_fixed + fixed * tracks
    for r in range(positions.shape[0]):
        for e in range(tails.shape[0]):
            ring = np.int64(positions[r, tails[e], 0])
            place = positions[r, tails[e], 1]
            other_ring = np.int64(positions[r, heads[e], 0])
            other_place = positions[r, heads[e], 1]
            if ring < tracks and other_ring < tracks:
                distance = np.int64(other_place) - place
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
def sort_by_key(placed: NDArray[np.integer], starts: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """Counting sort: the edges of key q are ``out[starts[q] : starts[q + 1]]``; `starts` comes filled with zeros."""
    n_edges = placed.shape[0]
    for e in range(n_edges):
        starts[placed[e, 0]] += 1
    total = 0
    for q in range(starts.shape[0]):
        total += starts[q]
        starts[q] = total
    for e in range(n_edges - 1, -1, -1):
        q = placed[e, 0]
        starts[q] -= 1
        out[starts[q]] = e


@kernel
def _slot(key: int, n_slots: int) -> int:
    """First slot to look at for a key; the number of slots is a power of two."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed & np.uint64(n_slots - 1))


@kernel
def fill_slots(keys: NDArray[np.integer], slots: NDArray[np.int32]) -> None:
    """Hash table of distinct keys: a slot holds the number of a key, or -1. There are more slots than keys."""
    n_slots = slots.shape[0]
    for number in range(keys.shape[0]):
        at = _slot(keys[number], n_slots)
        while slots[at] >= 0:
            at = (at + 1) & (n_slots - 1)
        slots[at] = number


@kernel
def find_slots(
    placed: NDArray[np.integer], keys: NDArray[np.integer], slots: NDArray[np.int32], out: NDArray[np.int32]
) -> None:
    """Placed edges with every key replaced by its number in the table, or by the number of keys where it is absent."""
    n_slots = slots.shape[0]
    for r in range(placed.shape[0]):
        for e in range(placed.shape[1]):
            key = placed[r, e, 0]
            at = _slot(key, n_slots)
            while slots[at] >= 0 and keys[slots[at]] != key:
                at = (at + 1) & (n_slots - 1)
            out[r, e, 0] = slots[at] if slots[at] >= 0 else keys.shape[0]
            out[r, e, 1] = placed[r, e, 1]


@kernel
def count_matches(
    starts: NDArray[np.int32], places: NDArray[np.int32], placed: NDArray[np.integer], out: NDArray[np.int64]
) -> None:
    """Histogram of place differences: right edges `placed` against the left edges of the same key.

    The bin of a pair is its difference plus the period, so that shift s is found in bins s and s + period; pairs
    of edges that no shift moves have their own last bin (their left place is 0, their right place the period).
    """
    period = (out.shape[1] - 1) // 2
    for r in range(placed.shape[0]):
        bins = out[r]
        for e in range(placed.shape[1]):
            key = placed[r, e, 0]
            place = np.int64(placed[r, e, 1]) + period
            for at in range(starts[key], starts[key + 1]):
                bins[place - places[at]] += 1


@kernel
def weigh_matches(
    starts: NDArray[np.int32],
    places: NDArray[np.int32],
    left_weights: NDArray[np.float64],
    placed: NDArray[np.integer],
    right_weights: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """As `count_matches`, adding the product of the two weights."""
    period = (out.shape[1] - 1) // 2
    for r in range(placed.shape[0]):
        bins = out[r]
        for e in range(placed.shape[1]):
            key = placed[r, e, 0]
            place = np.int64(placed[r, e, 1]) + period
            weight = right_weights[e]
            for at in range(starts[key], starts[key + 1]):
                bins[place - places[at]] += weight * left_weights[at]


# ----------------------------------------------------------------------------------------------- listed relabellings
@kernel
def count_listed(left: Lists, right: Words, relabellings: NDArray[np.integer], out: NDArray[np.int64]) -> None:
    """``out[m, l, b]``: edges of left layer l that relabelling m maps to edges of the right layer of bit b."""
    n = relabellings.shape[1]
    n_layers = left.starts.shape[0]
    n_planes = 4
    while (np.int64(1) << n_planes) <= left.columns.shape[0]:
        n_planes += 1
    planes = np.zeros((n_layers, n_planes), dtype=np.uint64)
    row = np.zeros(n, dtype=np.uint64)
    none = np.uint64(0)
    for m in range(relabellings.shape[0]):
        pi = relabellings[m]
        planes[:] = none
        for i in range(n):
            low = right.starts[pi[i]]
            high = right.starts[pi[i] + 1]
            for e in range(low, high):
                row[right.columns[e]] = right.words[e]
            for l in range(n_layers):
                ones = planes[l, 0]
                twos = planes[l, 1]
                fours = planes[l, 2]
                at = left.starts[l, i]
                end = left.starts[l, i + 1]
                while at + 8 <= end:  # a carry-save tree adds eight words at a time
                    a = row[pi[left.columns[at]]]
                    b = row[pi[left.columns[at + 1]]]
                    half = ones ^ a
                    two_a = (ones & a) | (half & b)
                    ones = half ^ b
                    a = row[pi[left.columns[at + 2]]]
                    b = row[pi[left.columns[at + 3]]]
                    half = ones ^ a
                    two_b = (ones & a) | (half & b)
                    ones = half ^ b
                    half = twos ^ two_a
                    four_a = (twos & two_a) | (half & two_b)
                    twos = half ^ two_b
                    a = row[pi[left.columns[at + 4]]]
                    b = row[pi[left.columns[at + 5]]]
                    half = ones ^ a
                    two_a = (ones & a) | (half & b)
                    ones = half ^ b
                    a = row[pi[left.columns[at + 6]]]
                    b = row[pi[left.columns[at + 7]]]
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
                    at += 8
                while at < end:
                    a = row[pi[left.columns[at]]]
                    b = none
                    if at + 1 < end:
                        b = row[pi[left.columns[at + 1]]]
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
                    at += 2
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
def weigh_listed(left: Lists, right: Entries, relabellings: NDArray[np.integer], out: NDArray[np.float64]) -> None:
    """``out[m, l, b]``: sum over edges of left layer l and their images in right layer b of the product of weights."""
    n = relabellings.shape[1]
    row = np.zeros(n, dtype=np.int64)  # one more than the entry that stands for the item, 0 where there is none
    for m in range(relabellings.shape[0]):
        pi = relabellings[m]
        out[m] = 0.0
        for i in range(n):
            low = right.starts[pi[i]]
            high = right.starts[pi[i] + 1]
            for e in range(low, high):
                row[right.columns[e]] = e + 1
            for l in range(left.starts.shape[0]):
                for at in range(left.starts[l, i], left.starts[l, i + 1]):
                    e = row[pi[left.columns[at]]]
                    if e > 0:
                        for t in range(right.entry_starts[e - 1], right.entry_starts[e]):
                            out[m, l, right.layers[t]] += left.weights[at] * right.weights[t]
            for e in range(low, high):
                row[right.columns[e]] = 0
