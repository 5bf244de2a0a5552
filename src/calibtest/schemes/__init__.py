"""Schemes: which relabellings of the items the null hypothesis makes equally likely.

A test of alignment asks whether the *pairing* of the items carries information. Under the null hypothesis some
relabellings of one side would have been as likely as the one observed; a scheme says which, in one sentence that every
report repeats, and draws them:

============== ========================================== ===========================================================
scheme         what is exchangeable                        use it for
============== ========================================== ===========================================================
exchangeable   all items                                   one row per independent item
within_groups  the items of a group                        alignment beyond the groups (categories)
whole_groups   groups of equal size, as blocks             captions of one image, clips of one video, runs
circular       the starting point of a series              time series (approximate)
explicit       what the caller lists                       designs of one's own
============== ========================================== ===========================================================

Permuting too freely is the commonest way to a false discovery: with five captions an image, free exchange of rows
rejects nearly always.
"""

from calibtest.schemes.circular import Circular
from calibtest.schemes.exchangeable import Exchangeable
from calibtest.schemes.explicit import ExplicitRelabellings
from calibtest.schemes.groups import WholeGroups, WithinGroups
from calibtest.schemes.protocol import Scheme
from calibtest.schemes.relabellings import Cosets, Explicit, Relabellings
from calibtest.schemes.resolve import SCHEMES, resolve_scheme

__all__ = [
    "SCHEMES",
    "Circular",
    "Cosets",
    "Exchangeable",
    "Explicit",
    "ExplicitRelabellings",
    "Relabellings",
    "Scheme",
    "WholeGroups",
    "WithinGroups",
    "resolve_scheme",
]
