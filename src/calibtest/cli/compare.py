"""``calibtest compare``: which layers of two models agree beyond chance?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from calibtest.cli.metric_options import MetricCommand, chosen_metric
from calibtest.errors import InputError

if TYPE_CHECKING:
    from calibtest.arrays import Kind, Pool
    from calibtest.cli.screen import Screen
    from calibtest.inference.pvalues import Alternative
    from calibtest.procedures.comparison import Draws, Precision
    from calibtest.procedures.layers import LayersResult
    from calibtest.procedures.scores import ScoresResult

__all__ = ["compare", "print_report"]

# Flags that only a test uses; with --n-resamples 0 they would be ignored, so they are refused.
_OF_TESTS = ("scheme", "groups", "draws", "alternative", "alpha", "aggregate")


@click.command(
    cls=MetricCommand,
    short_help="Which layers of two models agree beyond chance?",
    epilog="Example: calibtest compare clip.npz dino.pt::blocks.11 --metric mutual_knn --k 20 --out clip-dino",
)
@click.argument("a")
@click.argument("b")
@click.option(
    "--metric",
    default="linear_cka",
    show_default=True,
    metavar="NAME",
    help="A name that 'calibtest metrics' lists, or a function f(x, y) of your own: package.module:function or "
    "file.py:function (that code is run).",
)
@click.option("--smaller-is-more-similar", is_flag=True, help="A function of your own is a distance.")
@click.option(
    "--aggregate",
    default="studentized_max",
    show_default=True,
    metavar="NAME",
    help="What the search reports: studentized_max, max, mean, row_max_mean, column_max_mean, top_5 (any number), or "
    "a function of (relabellings, layers of A, layers of B) scores, named as for --metric.",
)
@click.option(
    "--n-resamples",
    default=9999,
    show_default=True,
    type=int,
    help="Least number of relabellings; 0 prints the observed scores alone.",
)
@click.option(
    "--scheme",
    default="exchangeable",
    show_default=True,
    type=click.Choice(["exchangeable", "within_groups", "whole_groups", "circular"]),
    help="Which relabellings the null hypothesis makes equally likely.",
)
@click.option(
    "--groups",
    metavar="FILE",
    help="One label an item, in the order of A: .npy, .npz (groups), .csv (group, perhaps id) or text, one a line.",
)
@click.option(
    "--draws",
    type=click.Choice(["cosets", "independent"]),
    help="Kind of relabellings; by default cosets of shifts where the metric is faster with them.",
)
@click.option(
    "--alternative",
    default="greater",
    show_default=True,
    type=click.Choice(["greater", "less", "two-sided"]),
    help="Said of similarity: more than chance, less, or either.",
)
@click.option("--alpha", default=0.05, show_default=True, type=float, help="Level of thresholds and calibrated scores.")
@click.option(
    "--precision",
    default="float64",
    show_default=True,
    type=click.Choice(["float64", "float32"]),
    help="Precision of the relations between items.",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Seed of the relabellings.")
@click.option(
    "--n-jobs", type=int, help="Threads (for a function of your own: processes); results do not depend on it."
)
@click.option(
    "--precomputed",
    type=click.Choice(["kernel", "distance", "neighbours"]),
    help="The files hold (n, n) Gram matrices, (n, n) distances or (n, k) neighbour lists.",
)
@click.option(
    "--pool",
    type=click.Choice(["mean", "last", "flatten"]),
    help="How (n, tokens, d) and (n, c, h, w) arrays become one row an item.",
)
@click.option(
    "--mask",
    "masks",
    metavar="FILE",
    multiple=True,
    help="(n, tokens) .npy, true for real tokens, so that padding is never pooled. Once for both sides, or twice, for A "
    "and for B ('none' for a side without tokens).",
)
@click.option("--top", default=12, show_default=True, type=click.IntRange(min=1), help="Number of layer pairs shown.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON, and nothing else, on stdout.")
@click.option("--out", metavar="DIR", help="Write result.json, layers.csv and heatmap.png into this folder.")
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    a: str,
    b: str,
    metric: str,
    smaller_is_more_similar: bool,
    aggregate: str,
    n_resamples: int,
    scheme: str,
    groups: str | None,
    draws: Draws | None,
    alternative: Alternative,
    alpha: float,
    precision: Precision,
    seed: int,
    n_jobs: int | None,
    precomputed: Kind | None,
    pool: Pool | None,
    masks: tuple[str, ...],
    top: int,
    as_json: bool,
    out: str | None,
    **fields: str | None,
) -> None:
    """Which layers of models A and B agree beyond chance, after searching all pairs?

    A and B are files of activations over the same items: .npy (n, d) or (n, layers, d); .npz, .safetensors, .h5 with one
    array a layer; .pt, .pth; .parquet; .csv; or a folder with one such file a layer. A::layer12 selects a layer,
    A::layer3,layer4 several. Items are paired by id where both sides have ids.
    """
    from calibtest.cli.compiling import announced_compilation
    from calibtest.cli.output import layers_files, prepare_folder, scores_files, write_files
    from calibtest.cli.screen import collected_notes, progress_bar, say
    from calibtest.cli.sources import groups_of, load_pair

    _check(ctx, n_resamples=n_resamples, seed=seed, scheme=scheme, groups=groups)
    with collected_notes() as notes, announced_compilation():
        folder = None if out is None else prepare_folder(out)
        chosen = chosen_metric(metric, fields, smaller_is_more_similar=smaller_is_more_similar)
        left, right = load_pair(a, b, kind=precomputed or "activations", pool=pool, masks=masks)
        result: LayersResult | ScoresResult
        if n_resamples == 0:
            from calibtest.procedures.scores import alignment_scores

            result = alignment_scores(left, right, metric=chosen, precision=precision, n_jobs=n_jobs)
            files = None if folder is None else scores_files(result, (left.name, right.name))
        else:
            from calibtest.procedures.layers import layers_test

            judged = _aggregate(aggregate, len(left) * len(right))
            with progress_bar("relabelling") as progress:
                result = layers_test(
                    left,
                    right,
                    metric=chosen,
                    aggregate=judged,
                    scheme=scheme,
                    groups=groups_of(groups, left),
                    n_resamples=n_resamples,
                    alternative=alternative,
                    alpha=alpha,
                    draws=draws,
                    precision=precision,
                    rng=seed,
                    n_jobs=n_jobs,
                    progress=progress,
                )
            files = None if folder is None else layers_files(result)
        if folder is not None and files is not None:
            write_files(folder, files)
        if as_json:
            click.echo(result.to_json())
        else:
            print_report(result, top)
            if folder is not None:
                click.echo(f"\nwritten to {folder}: result.json, layers.csv, heatmap.png")
    for note in dict.fromkeys((*left.notes, *right.notes, *notes)):
        if note not in result.notes:  # which the report holds already
            say(f"note: {note}")


def _check(ctx: click.Context, *, n_resamples: int, seed: int, scheme: str, groups: str | None) -> None:
    """Refuse flags that contradict each other, in the words of the command line."""
    if n_resamples < 0:
        raise InputError(
            f"--n-resamples must be at least 0, got {n_resamples}; 0 prints the observed scores without a test"
        )
    if seed < 0:
        raise InputError(f"--seed must be at least 0, got {seed}")
    if n_resamples == 0:
        for name in _OF_TESTS:
            if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE:
                raise InputError(
                    f"--{name} has no effect with --n-resamples 0, which tests nothing; drop one of the two"
                )
    grouped = scheme in ("within_groups", "whole_groups")
    if grouped and groups is None:
        raise InputError(f"--scheme {scheme} needs --groups FILE with one label an item")
    if groups is not None and not grouped:
        raise InputError(
            f"--groups has no effect with --scheme {scheme}; choose --scheme within_groups or whole_groups"
        )


def _aggregate(text: str, n_pairs: int) -> Any:
    from calibtest.cli.callables import is_reference, load_object

    if is_reference(text):
        return load_object(text, "--aggregate")
    # Known before the search, so it is said before the search.
    best = re.fullmatch(r"top_(\d+)", text)
    if best and int(best[1]) > n_pairs:
        raise InputError(
            f"--aggregate {text} asks for {best[1]} pairs of layers, but there are {n_pairs}; use at most top_{n_pairs}"
        )
    return text


def print_report(result: LayersResult | ScoresResult, top: int) -> None:
    """The report of a test or of scores alone: laid out for a terminal, or as plain text elsewhere."""
    from calibtest.cli.screen import Screen
    from calibtest.procedures.layers import LayersResult
    from calibtest.report.text import layers_text, scores_text

    screen = Screen()
    if isinstance(result, LayersResult):
        _draw_layers(screen, result, top) if screen.terminal else click.echo(layers_text(result, top=top))
    else:
        _draw_scores(screen, result, top) if screen.terminal else click.echo(scores_text(result, top=top))


def _draw_layers(screen: Screen, result: LayersResult, top: int) -> None:
    from calibtest.report.text import LAYERS_HEADER, layers_facts, layers_rows, strongest
    from calibtest.report.words import by_strength, question

    screen.title(question(result))
    for label, text in layers_facts(result):
        screen.paragraph(text, label, label_width=12)
    screen.line()
    above = strongest(result, top)
    if above:
        screen.paragraph(above)
    adjusted = result.cells.adjusted_pvalue.ravel()[by_strength(result)[:top]]
    screen.table(LAYERS_HEADER, layers_rows(result, top), faded=[bool(p > result.alpha) for p in adjusted])
    _draw_notes(screen, result.notes)


def _draw_scores(screen: Screen, result: ScoresResult, top: int) -> None:
    from calibtest.report.text import SCORES_HEADER, scores_heading, scores_rows

    heading, *more = scores_heading(result, top)
    screen.title(heading)
    for line in more:
        screen.paragraph(line)
    screen.table(SCORES_HEADER, scores_rows(result, top))
    _draw_notes(screen, result.notes)


def _draw_notes(screen: Screen, notes: tuple[str, ...]) -> None:
    if notes:
        screen.line()
    for note in notes:
        screen.paragraph(note, "note: ")
