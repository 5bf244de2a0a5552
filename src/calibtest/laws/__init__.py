"""Laws: what must hold for the numbers of this package to mean what they say, as plain functions.

Every law is a function that returns nothing when it holds and raises :class:`~calibtest.laws.violation.LawViolation`,
with the evidence, when it does not. A law calls the code that ships and never derives the value under test a second
time; what it compares with is a definition, a symmetry or a probability.

=========== =============================================================================================
module      what it holds to account
=========== =============================================================================================
metric_laws a metric: its decomposition is its definition, a relabelling of the data is a relabelling of
            the states, its claims hold and its denials have witnesses
scheme_laws a set of relabellings: permutations, the identity first, cosets closed, nothing preferred
form_laws   an engine: cosets agree with a list of the same relabellings, threads and grids change nothing
pvalue_laws a procedure: its p-values are super-uniform, with a known and tiny false-alarm rate
transforms  the transforms that claims speak of, exact ones and rounding ones
=========== =============================================================================================

The first law is the one that everything rests on: *the score of relabelled data is the score of relabelled states*.
Where it fails, observed and null values come from different statistics, and no p-value built on them is valid.
"""
