"""Files in, stacks of layers out.

Every reader answers the same question: which arrays does this file hold, in which order, and under which names?

===================  ============================================================================================
what                 becomes
===================  ============================================================================================
``.npy``             ``(n, d)``: one layer; ``(n, L, d)``: L layers, unless `pool` says that axis 1 is tokens
``.npz``             one layer an array, in natural order (layer_2 before layer_10)
``.pt``, ``.pth``    a tensor, a list of tensors or a flat dict of tensors, in the file's order
``.safetensors``     one layer a tensor, in natural order; read without any further package
``.h5``, ``.hdf5``   one layer a dataset, named by its path, in natural order
``.parquet``         one layer a list column, or all numeric columns together as one layer
``.csv``             all numeric columns together as one layer
a folder             one layer a file, in natural order of the names
===================  ============================================================================================

An entry called ``ids`` names the items. Entries called ``group(s)`` or ``label(s)`` are set aside, and scalars are too;
the stack's notes say so. Everything else that is not a layer is an error, because a guess would be silent.

Files are data and nothing else: no reader unpickles objects, follows a link out of the file or executes anything.
"""

from calibtest.io.groups import load_groups
from calibtest.io.loading import load
from calibtest.io.nulls import NullDraws, load_null
from calibtest.io.tables import WideNull, load_wide_null

__all__ = ["NullDraws", "WideNull", "load", "load_groups", "load_null", "load_wide_null"]
