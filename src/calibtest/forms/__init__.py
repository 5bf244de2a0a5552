"""Forms: how a left-hand and a right-hand state meet under a relabelling.

======== ======================================= ==============================================================
form     value under a relabelling ``pi``         metrics
======== ======================================= ==============================================================
Matching ``sum_ij A[i, j] B[pi[i], pi[j]]``       CKA, RV, RSA: dense relations
Overlap  the same sum over neighbour lists        mutual k-nearest neighbours
Direct   ``f(x, y[pi])``, called again            any callable
======== ======================================= ==============================================================

A form evaluates whole grids: every left-hand with every right-hand state under every relabelling, the identity among
them, on one code path, so that values that are equal in exact arithmetic can be told apart from values that are not.
"""
