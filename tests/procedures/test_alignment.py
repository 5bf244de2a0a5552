"""`alignment_test`: one pair of representations."""

from __future__ import annotations

import itertools
import json
import warnings
from typing import Any

import numpy as np
import pytest

import calibtest
from calibtest import (
    CalibtestWarning,
    ExplicitRelabellings,
    FunctionMetric,
    LayerStack,
    UndefinedScoreError,
    alignment_test,
    get_metric,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 6))
Y = X[:, :3] + 1.5 * RNG.standard_normal((40, 3))
NOISE = RNG.standard_normal((40, 5))


def test_result_is_read_from_one_orbit() -> None:
    result = alignment_test(X, Y, n_resamples=199, rng=0)
    orbit = result.grid.orbit
    assert result.n_resamples == 199 == len(result.null_distribution)
    assert result.statistic == orbit.values[0, 0, 0] == pytest.approx(get_metric("linear_cka")(X, Y), abs=1e-14)
    reached = int((result.null_distribution >= result.statistic - orbit.resolution[0, 0]).sum())
    assert result.pvalue == (1 + reached) / 200
    assert result.min_pvalue == 1 / 200
    ranked = np.sort(orbit.values[:, 0, 0])
    assert result.threshold == ranked[int(np.ceil(0.95 * 200)) - 1]
    assert result.calibrated == pytest.approx((result.statistic - result.threshold) / (1 - result.threshold))
    assert result.zscore == pytest.approx((result.statistic - result.chance) / result.chance_sd)
    assert result.chance_corrected == pytest.approx((result.statistic - result.chance) / (1 - result.chance))
    assert result.alternative == "greater"
    assert result.alpha == 0.05
    assert result.interval is not None
    assert result.interval.low <= result.pvalue <= result.interval.high


def test_one_pair_is_a_grid_of_one() -> None:
    pair = alignment_test(X, Y, n_resamples=199, rng=5)
    grid = calibtest.layers_test([X], [Y], n_resamples=199, rng=5)
    np.testing.assert_array_equal(pair.null_distribution, grid.orbit.null[:, 0, 0])
    assert pair.pvalue == grid.cells.pvalue[0, 0] == grid.pvalue
    assert pair.calibrated == grid.calibrated[0, 0]
    assert pair.grid.best == ("0", "0")


@pytest.mark.parametrize("metric", ["linear_cka", "debiased_cka", "rbf_cka", "rsa", "mutual_knn"])
def test_signal_is_found_and_noise_is_not(metric: str) -> None:
    signal = alignment_test(X, Y, metric=metric, n_resamples=399, rng=0)
    noise = alignment_test(X, NOISE, metric=metric, n_resamples=399, rng=0)
    assert signal.pvalue <= 0.01
    assert signal.calibrated > 0
    assert noise.pvalue > 0.05
    assert noise.calibrated == 0.0


@pytest.mark.parametrize("metric", ["linear_cka", "mutual_knn", "rsa"])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("draws", ["cosets", "independent"])
def test_calibrated_is_positive_exactly_when_p_is_at_most_alpha(metric: str, alternative: str, draws: str) -> None:
    verdicts = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((24, 3))
        y = (0.0, 0.4, -0.4)[seed % 3] * x + rng.standard_normal((24, 3))
        for alpha in (0.05, 0.25, 0.75):
            result = alignment_test(
                x, y, metric=metric, alternative=alternative, alpha=alpha, draws=draws, n_resamples=71, rng=seed
            )
            assert (result.calibrated > 0) == (result.pvalue <= alpha)
            verdicts.add(result.calibrated > 0)
    assert verdicts == {True, False}


def test_tails() -> None:
    p = {
        alternative: alignment_test(X, Y, alternative=alternative, n_resamples=199, rng=0).pvalue
        for alternative in ("greater", "less", "two-sided")
    }
    assert p["greater"] == 1 / 200
    assert p["less"] == 1.0
    assert p["two-sided"] == 2 / 200
    both = alignment_test(X, Y, alternative="two-sided", n_resamples=199, rng=0)
    assert both.min_pvalue == 2 / 200
    assert both.lower_threshold is not None
    assert both.lower_threshold < both.threshold < both.statistic
    assert both.calibrated == both.statistic - both.threshold
    assert json.loads(both.to_json())["lower_threshold"] == both.lower_threshold
    assert "thresholds" in repr(both)
    assert alignment_test(X, Y, n_resamples=199, rng=0).lower_threshold is None


# ----------------------------------------------------------------------------------------------------------- the draws
def test_cosets_come_in_whole_numbers_and_independent_draws_as_asked() -> None:
    cosets = alignment_test(X, Y, n_resamples=90, rng=0)
    assert cosets.n_resamples == 119  # three cosets of forty shifts, the identity among them
    assert cosets.grid.orbit.coset_size == 40
    assert cosets.provenance.relabellings == "119 relabellings (3 cosets of 40 shifts)"
    independent = alignment_test(X, Y, n_resamples=90, rng=0, draws="independent")
    assert independent.n_resamples == 90
    assert independent.grid.orbit.coset_size is None
    assert independent.provenance.relabellings == "90 independent relabellings"


@pytest.mark.parametrize("draws", ["cosets", "independent"])
def test_few_relabellings_are_enumerated_and_the_p_is_exact(draws: str) -> None:
    x, y = X[:5], Y[:5]
    define = get_metric("linear_cka").define
    scores = np.array([define(x, y[list(order)]) for order in itertools.permutations(range(5))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        result = alignment_test(x, y, n_resamples=9999, draws=draws, rng=0)
    assert result.grid.orbit.exhaustive
    assert result.n_resamples == 119
    np.testing.assert_allclose(np.sort(result.grid.orbit.values[:, 0, 0]), np.sort(scores), rtol=0, atol=1e-12)
    assert result.pvalue == np.count_nonzero(scores >= scores[0] - 1e-12) / 120
    assert result.interval is None  # nothing is left to chance
    assert result.provenance.relabellings == "all 120 relabellings (enumerated, identity included)"


def test_longer_run_of_independent_draws_begins_like_a_shorter_one() -> None:
    short, long = (alignment_test(X, Y, n_resamples=m, draws="independent", rng=2) for m in (50, 150))
    np.testing.assert_allclose(long.null_distribution[:50], short.null_distribution, rtol=0, atol=1e-13)


def test_given_relabellings_are_the_ones_used() -> None:
    listed = np.array([np.roll(np.arange(40), s) for s in range(40)])
    scheme = ExplicitRelabellings(listed, null="every rotation was as likely", exhaustive=True)
    result = alignment_test(X, Y, scheme=scheme, rng=0)
    expected = [get_metric("linear_cka").define(X, Y[row]) for row in listed]
    np.testing.assert_allclose(result.grid.orbit.values[:, 0, 0], expected, rtol=0, atol=1e-12)
    assert result.provenance.null == "every rotation was as likely"
    assert result.grid.moments is None  # closed forms hold for free exchange alone
    assert result.chance == pytest.approx(np.mean(expected))


# --------------------------------------------------------------------------------------------------------------- seeds
def test_seed_is_recorded_and_repeats_the_run() -> None:
    by_number = alignment_test(X, Y, n_resamples=99, rng=7)
    assert by_number.provenance.seed == 7
    for same in (7, np.int64(7), np.random.default_rng(7)):
        again = alignment_test(X, Y, n_resamples=99, rng=same)
        np.testing.assert_array_equal(again.null_distribution, by_number.null_distribution)
    unseeded = alignment_test(X, Y, n_resamples=99)
    assert isinstance(unseeded.provenance.seed, int)
    repeated = alignment_test(X, Y, n_resamples=99, rng=unseeded.provenance.seed)
    np.testing.assert_array_equal(repeated.null_distribution, unseeded.null_distribution)
    other = alignment_test(X, Y, n_resamples=99)
    assert other.provenance.seed != unseeded.provenance.seed
    assert not np.array_equal(other.null_distribution, unseeded.null_distribution)


def test_generator_of_the_callers_is_named_and_moves_on() -> None:
    generator = np.random.default_rng(7)
    first = alignment_test(X, Y, n_resamples=99, rng=generator)
    second = alignment_test(X, Y, n_resamples=99, rng=generator)
    assert first.provenance.seed == "a PCG64 generator of the caller's"
    assert not np.array_equal(first.null_distribution, second.null_distribution)


@pytest.mark.parametrize("seed", [0, 1, 2**32, 1 + 2**32, 2**63, 2**100])
def test_seeds_of_any_size_differ(seed: int) -> None:
    one, other = (alignment_test(X, Y, n_resamples=39, draws="independent", rng=s) for s in (seed, seed + 1))
    assert not np.array_equal(one.null_distribution, other.null_distribution)


# ------------------------------------------------------------------------------------------------------------ sameness
@pytest.mark.parametrize(
    ("metric", "draws"),
    [("linear_cka", "cosets"), ("linear_cka", "independent"), ("mutual_knn", "cosets"), ("mutual_knn", "independent")],
)
def test_threads_change_nothing(metric: str, draws: str) -> None:
    x, y = np.tile(X, (5, 3)) + np.repeat(NOISE, 5, axis=0)[:, :1], np.tile(Y, (5, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        one, two, free = (
            alignment_test(x, y, metric=metric, draws=draws, n_resamples=999, rng=0, n_jobs=jobs)
            for jobs in (1, 2, None)
        )
    np.testing.assert_array_equal(one.grid.orbit.values, two.grid.orbit.values)
    np.testing.assert_array_equal(one.grid.orbit.values, free.grid.orbit.values)


def test_items_are_paired_by_id() -> None:
    ids = [f"img_{i:03d}" for i in range(40)]
    order = RNG.permutation(40)
    straight = alignment_test(X, Y, n_resamples=99, rng=0)
    left = LayerStack.build(X, name="X", ids=ids)
    right = LayerStack.build(Y[order], name="Y", ids=[ids[i] for i in order])
    with pytest.warns(CalibtestWarning, match="paired by id: the items of Y were reordered"):
        paired = alignment_test(left, right, n_resamples=99, rng=0)
    np.testing.assert_array_equal(paired.grid.orbit.values, straight.grid.orbit.values)
    by_position = alignment_test(X, Y[order], n_resamples=99, rng=0)
    assert by_position.statistic < straight.statistic - 0.1


def test_inputs_of_every_sort_mean_the_same() -> None:
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray", reason="xarray is a test extra")
    narrow = X.astype(np.float32)
    expected = alignment_test(narrow, Y, n_resamples=99, rng=0)
    for same in (
        np.asfortranarray(narrow),
        narrow[::-1][::-1],
        [row.astype(np.float32) for row in X],
        pandas.DataFrame(narrow),
        xarray.DataArray(narrow),
        {"layer": narrow},
        LayerStack.build(narrow, name="X"),
    ):
        found = alignment_test(same, Y, n_resamples=99, rng=0)
        np.testing.assert_array_equal(found.grid.orbit.values, expected.grid.orbit.values)


def test_inputs_are_untouched() -> None:
    before = X.tobytes(), Y.tobytes()
    for metric in calibtest.metrics():
        alignment_test(X, Y, metric=metric, n_resamples=49, rng=0)
        alignment_test(X, X, metric=metric, n_resamples=49, rng=0)
    assert (X.tobytes(), Y.tobytes()) == before
    assert X.flags.writeable


def test_later_changes_of_the_input_do_not_reach_the_result() -> None:
    x = X.copy()
    result = alignment_test(x, Y, n_resamples=49, rng=0)
    digests = result.provenance.digests()
    x[:] = 0
    assert result.provenance.digests() == digests
    assert digests["a:X"] == LayerStack.build(X, name="X").digests()
    assert digests["a:X"] != digests["b:Y"]


def test_global_generators_are_left_alone() -> None:
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002 - the state that must not move
    alignment_test(X, Y, n_resamples=99)
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


def test_ordinary_data_give_no_warning_and_no_output(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for metric in calibtest.metrics():
            alignment_test(X, Y, metric=metric, n_resamples=99, rng=0)
    assert capfd.readouterr() == ("", "")


# ----------------------------------------------------------------------------------------------------- null hypothesis
def test_alignment_of_classes_alone_is_not_alignment_within_them() -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(6), 10)
    means = 3 * rng.standard_normal((6, 4))
    x, y = (means[labels] @ rng.standard_normal((4, 4)) + rng.standard_normal((60, 4)) for _ in range(2))
    shuffled = rng.permutation(60)
    x, y, labels = x[shuffled], y[shuffled], labels[shuffled]
    free = alignment_test(x, y, n_resamples=499, rng=0)
    within = alignment_test(x, y, scheme="within_groups", groups=labels, n_resamples=499, rng=0)
    assert free.pvalue <= 0.005
    assert within.pvalue > 0.05
    assert within.statistic == pytest.approx(free.statistic, abs=1e-12)
    assert within.chance > free.chance + 0.1  # the classes are part of the chance level now
    assert within.provenance.scheme == "within_groups"
    assert within.grid.moments is None


@pytest.mark.filterwarnings("ignore:neighbouring rows are alike")
def test_repeats_of_an_item_need_whole_groups() -> None:
    rng = np.random.default_rng(5)
    x, y = (np.repeat(rng.standard_normal((30, 8)), 4, axis=0) for _ in range(2))
    y += 0.3 * rng.standard_normal(y.shape)
    groups = np.repeat(np.arange(30), 4)
    with pytest.warns(CalibtestWarning, match=r"X has only 30 distinct rows among 120.*whole_groups"):
        free = alignment_test(x, y, n_resamples=199, rng=0)
    whole = alignment_test(x, y, scheme="whole_groups", groups=groups, n_resamples=199, rng=0)
    assert free.pvalue <= 0.005
    assert whole.pvalue > 0.05


def test_series_are_told_to_be_series() -> None:
    rng = np.random.default_rng(6)
    x, y = (np.cumsum(rng.standard_normal((100, 3)), axis=0) for _ in range(2))
    with pytest.warns(CalibtestWarning, match=r"autocorrelation at lag 1.*circular"):
        alignment_test(x, y, n_resamples=99, rng=0)
    shifts = alignment_test(x, y, scheme="circular", n_resamples=99, rng=0)
    assert shifts.n_resamples == 99
    assert "autocorrelation" not in " ".join(shifts.notes)
    expected = [get_metric("linear_cka").define(x, np.roll(y, -s, axis=0)) for s in range(100)]
    np.testing.assert_allclose(np.sort(shifts.grid.orbit.values.ravel()), np.sort(expected), rtol=0, atol=1e-12)


def test_score_that_never_varies_is_no_evidence() -> None:
    metric = FunctionMetric(lambda x, y: float(x.sum() + y.sum()), label="total")
    with pytest.warns(CalibtestWarning, match="carry no evidence"):
        result = alignment_test(X, Y, metric=metric, n_resamples=99, rng=0)
    assert result.pvalue == 1.0
    assert result.calibrated == 0.0
    assert np.isnan(result.zscore)


# ------------------------------------------------------------------------------------------------------------- reports
def test_frame_holds_the_result() -> None:
    result = alignment_test(X, Y, n_resamples=199, rng=0)
    (row,) = result.to_frame().to_dict("records")
    for column, value in {
        "layer_a": "0",
        "layer_b": "0",
        "score": result.statistic,
        "chance": result.chance,
        "chance_sd": result.chance_sd,
        "zscore": result.zscore,
        "chance_corrected": result.chance_corrected,
        "threshold": result.threshold,
        "calibrated": result.calibrated,
        "pvalue": result.pvalue,
        "pvalue_adjusted": result.pvalue,
        "informative": True,
    }.items():
        assert row[column] == value, column


def test_json_holds_the_result_to_the_last_bit() -> None:
    result = alignment_test(X, Y, n_resamples=199, rng=0)
    document: dict[str, Any] = json.loads(result.to_json(null=True))
    for key in ("statistic", "pvalue", "chance", "chance_sd", "zscore", "chance_corrected", "threshold", "calibrated"):
        assert document[key] == getattr(result, key), key
    np.testing.assert_array_equal(document["null_distribution"], result.null_distribution)
    assert document["seed"] == 0
    assert document["alpha"] == 0.05
    assert document["null"] == result.provenance.null
    assert document["inputs"]["a"]["layers"][0]["sha256"] == result.provenance.digests()["a:X"]["0"]
    assert "null_distribution" not in json.loads(result.to_json())


def test_repr_says_what_was_found_and_under_which_null() -> None:
    found, missed = (" ".join(repr(alignment_test(X, y, n_resamples=199, rng=0)).split()) for y in (Y, NOISE))
    for text in (found, missed):
        assert "the pairing of the items carries no information" in text
        assert "199 relabellings (5 cosets of 40 shifts)" in text
        assert "linear_cka" in text
        assert "40 items" in text
    assert "p = 0.005" in found
    assert "agree beyond chance" in found
    assert "agree beyond chance" not in missed


@pytest.mark.parametrize("metric", ["linear_cka", "rbf_cka", "debiased_cka", "rsa"])
def test_items_that_are_all_equally_far_apart_carry_no_evidence(metric: str) -> None:
    # whitened or one-hot layers: the score is the same under every relabelling, up to rounding
    rng = np.random.default_rng(0)
    noise = [np.eye(24) + 1e-13 * rng.standard_normal((24, 24)) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibtestWarning)
        try:
            result = alignment_test(*noise, metric=metric, n_resamples=99, rng=0)
        except UndefinedScoreError:
            return
    assert result.pvalue > 0.01
    assert result.calibrated == 0
