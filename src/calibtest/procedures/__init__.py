"""Procedures: the hypothesis-test API. A question in, a frozen result out; one file a question.

A procedure checks its input once, prepares every layer once, draws one set of relabellings for everything that is
compared, lets the metric's form evaluate the whole grid under all of them, and reads every number of the result from
that one orbit: cell p-values, adjusted p-values, the p-value of the whole search, chance levels and calibrated scores.
"""
