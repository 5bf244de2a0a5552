"""From a name (and groups) to a scheme."""

from __future__ import annotations

from typing import Any

from calibtest.errors import InputError
from calibtest.schemes.circular import Circular
from calibtest.schemes.exchangeable import Exchangeable
from calibtest.schemes.groups import WholeGroups, WithinGroups
from calibtest.schemes.protocol import Scheme

__all__ = ["SCHEMES", "resolve_scheme"]

SCHEMES = ("exchangeable", "within_groups", "whole_groups", "circular")


def resolve_scheme(scheme: str | Scheme | None, groups: Any = None) -> Scheme:
    """Scheme meant by a name, a scheme object, or nothing (free exchange)."""
    if isinstance(scheme, str):
        if scheme in ("within_groups", "whole_groups"):
            if groups is None:
                raise InputError(f"groups must be given with scheme {scheme!r}: one label an item")
            return WithinGroups(groups) if scheme == "within_groups" else WholeGroups(groups)
        if scheme not in SCHEMES:
            raise InputError(f"scheme must be one of {', '.join(SCHEMES)} or a scheme object, got {scheme!r}")
        resolved: Scheme = Exchangeable() if scheme == "exchangeable" else Circular()
    elif scheme is None:
        resolved = Exchangeable()
    elif isinstance(scheme, Scheme) and not isinstance(scheme, type):
        resolved = scheme
    else:
        raise InputError(f"scheme must be one of {', '.join(SCHEMES)} or a scheme object, got {scheme!r}")
    if groups is not None:
        raise InputError(
            f"groups were given, but the scheme {resolved.name!r} does not use them; choose scheme='within_groups' or "
            "'whole_groups'"
        )
    return resolved
