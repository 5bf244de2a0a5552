"""Orbit in, numbers out: p-values, thresholds and effect sizes that know no metric and no scheme by name.

The one idea
------------
An orbit is a table of statistics: one row a relabelling of the items, row 0 the observed one, one column a cell (a left
layer against a right layer)::

               cell (0,0)  cell (0,1)  ...
    row 0        .41         .77             <- the data as they came
    row 1        .08         .75             <- one relabelling, the same one in every cell
    row 2        .11         .78
    ...
    row M-1      .09         .76

If the pairing of the items carries no information, nothing distinguishes row 0 from the others: each row is equally
likely to be the observed one. Everything in this package follows from that sentence, and stays true only as long as all
rows are treated alike:

* the p-value of a cell is the rank of its observed value, ``#{rows >= row 0} / M``, row 0 counted, so never 0;
* the threshold is an order statistic of *all* rows, and "past the threshold" is the same decision as ``p <= alpha``,
  because both count the same rows; interpolating between two order statistics would break that;
* standardising uses the mean and sd of *all* rows (or closed-form moments, which no row can influence). With the null
  rows alone the observed row would be measured by a yardstick that no other row is measured by;
* a search over cells is judged by applying the same search to every row: the best cell of row 0 against the best cells
  of the other rows, never against the other rows of that one cell.

Ties and undefined values
-------------------------
Two values equal in exact arithmetic may differ in their last digits, and a tie lost that way makes p too small. Every
orbit therefore carries an absolute resolution for each cell, and a row that falls short by no more than that counts as
a tie. A tolerance relative to the observed value would vanish for statistics near 0. A value that is not finite has no
rank; an orbit with one is refused, because "NaN >= observed" is false and would count in favour of the finding.

Which way is similar
--------------------
A question speaks of similarity ("greater": more similar than chance) and a metric says how it expresses that: +1 when
larger is more similar, -1 for distances. `flipped` turns the two, once, into the tail of the values that is tested; all
else here speaks of that tail. Thresholds and scores always come back in the units of the statistic.

Map
---
::

    orbit         the table and what it promises
    pvalues       ranks, Monte-Carlo intervals, Westfall-Young adjustment
    calibration   thresholds, calibrated and chance-corrected scores
    standardise   cells on a common scale
    aggregates    one number for a grid, and its own null
    moments       permutation mean and variance in closed form
"""
