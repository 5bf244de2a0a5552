"""What a metric claims about itself.

A claim is either an invariance (the score does not move under a transform) or a sensitivity (there is data on which
it does). Silence is an error: every known transform must be named on one side or the other.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TRANSFORMS", "Claims"]

TRANSFORMS: dict[str, str] = {
    "item_permutation": "the same reordering of the items on both sides",
    "unit_permutation": "a reordering of the units of one side",
    "rotation": "an orthogonal map of one side (rotations and reflections)",
    "isotropic_scale": "one positive factor on all activations of one side",
    "translation": "one constant vector added to all items of one side",
    "invertible_linear": "an invertible linear map of one side",
    "unit_scale": "a positive factor for each unit of one side",
    "duplicated_units": "the same number of copies of every unit of one side",
    "zero_padding": "units that are always zero added to one side",
    "item_scale": "a positive factor for each item of one side",
    "monotone_distances": "a strictly increasing function of all Euclidean distances between the items of one side",
}

# a claim on a group of transforms implies the claim on its subgroups
_IMPLIES: dict[str, tuple[str, ...]] = {
    "rotation": ("unit_permutation",),
    "invertible_linear": ("rotation", "unit_permutation", "isotropic_scale", "unit_scale"),
    "item_scale": ("isotropic_scale",),
    "unit_scale": ("isotropic_scale",),
    "monotone_distances": (
        "rotation", "unit_permutation", "isotropic_scale", "translation", "duplicated_units", "zero_padding",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Claims:
    """Claims of one metric.

    Parameters
    ----------
    invariant, sensitive : frozenset of str
        Names from `TRANSFORMS`; together they cover all of them, and no name is in both.
    range : (float, float)
        Least and greatest value that the score can take.
    symmetric : bool
        True when ``score(x, y) == score(y, x)``.
    self_value : float or None
        Score of a representation with itself, if it is always the same.
    larger_is_more_similar : bool
        False for distances.
    """

    invariant: frozenset[str]
    sensitive: frozenset[str]
    range: tuple[float, float]
    symmetric: bool = True
    self_value: float | None = 1.0
    larger_is_more_similar: bool = True

    def __post_init__(self) -> None:
        both = self.invariant & self.sensitive
        silent = set(TRANSFORMS) - self.invariant - self.sensitive
        unknown = (self.invariant | self.sensitive) - set(TRANSFORMS)
        if both or silent or unknown:
            raise ValueError(
                f"claims must name every transform once: in both {sorted(both)}, missing {sorted(silent)}, "
                f"unknown {sorted(unknown)}"
            )
        for group, subgroups in _IMPLIES.items():
            broken = [s for s in subgroups if group in self.invariant and s in self.sensitive]
            if broken:
                raise ValueError(f"invariance to {group} implies invariance to {', '.join(broken)}")

    @property
    def sign(self) -> int:
        """+1 when larger scores are more similar, -1 for distances."""
        return 1 if self.larger_is_more_similar else -1

    @classmethod
    def invariant_to(
        cls,
        *invariant: str,
        range: tuple[float, float],  # noqa: A002 - the field's name
        symmetric: bool = True,
        self_value: float | None = 1.0,
        larger_is_more_similar: bool = True,
    ) -> Claims:
        """Claims with the named invariances; everything else is declared sensitive."""
        return cls(
            frozenset(invariant),
            frozenset(TRANSFORMS) - frozenset(invariant),
            range,
            symmetric=symmetric,
            self_value=self_value,
            larger_is_more_similar=larger_is_more_similar,
        )
