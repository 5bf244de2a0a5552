"""``calibtest demo``: the main job on the data that ship with the package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from calibtest.errors import InputError

if TYPE_CHECKING:
    from calibtest.cli.screen import Screen
    from calibtest.procedures.layers import LayersResult
    from calibtest.stacks import LayerStack

__all__ = ["demo"]

METRICS = ("linear_cka", "mutual_knn")
# Groups of unequal size leave short rings only, so relabellings within them are slower to come by.
MOST_WITHIN = 999


@dataclass(frozen=True)
class Findings:
    """Every test of the demonstration.

    Attributes
    ----------
    main : LayersResult
        Linear CKA of all stages and all layers.
    last : dict of str to LayersResult
        By metric: all stages against the last text layer.
    within : dict of str to LayersResult
        The same, relabelling only within groups.
    noise : LayersResult
        Linear CKA of gaussian noise of the stages' widths and all text layers.
    control : LayersResult
        Linear CKA of all stages and a text network with random weights.
    widths : tuple of int
        Width of every stage.
    n_groups : int
        Number of groups.
    """

    main: LayersResult
    last: dict[str, LayersResult]
    within: dict[str, LayersResult]
    noise: LayersResult
    control: LayersResult
    widths: tuple[int, ...]
    n_groups: int


@click.command(
    short_help="The main job on real activations that ship with the package.",
    epilog="Example: calibtest demo --out my-demo --n-resamples 999",
)
@click.option("--out", default="calibtest-demo", show_default=True, metavar="DIR", help="Folder of the files written.")
@click.option(
    "--seed", default=0, show_default=True, type=int, help="Seed of the relabellings and of the noise network."
)
@click.option(
    "--n-resamples", default=9999, show_default=True, type=int, help="Least number of relabellings of each test."
)
@click.option("--json", "as_json", is_flag=True, help="Print the main result as JSON, and nothing else, on stdout.")
def demo(out: str, seed: int, n_resamples: int, as_json: bool) -> None:
    """Do an image model and a text model agree about the same things? The main job on real activations.

    500 emoji: EfficientNet-Lite0 saw the drawings, MiniLM read the names. Writes result.json, layers.csv and heatmap.png.
    """
    from calibtest.cli.compiling import announced_compilation
    from calibtest.cli.output import layers_files, prepare_folder, write_files
    from calibtest.cli.screen import Screen, collected_notes, progress_bar, say

    if n_resamples < 1:
        raise InputError(f"--n-resamples must be at least 1 for the demo, which is about tests, got {n_resamples}")
    if seed < 0:
        raise InputError(f"--seed must be at least 0, got {seed}")
    folder = prepare_folder(out)
    with collected_notes() as notes, announced_compilation():
        with progress_bar("relabelling") as progress:
            findings = _findings(seed, n_resamples, progress)
        write_files(folder, layers_files(findings.main))
        if as_json:
            click.echo(findings.main.to_json())
        else:
            _tell(Screen(), findings)
            click.echo(f"\nwritten to {folder}: result.json, layers.csv, heatmap.png")
    for note in notes:
        if note not in findings.main.notes:
            say(f"note: {note}")


def _findings(seed: int, n_resamples: int, progress: Callable[[float], None] | None) -> Findings:
    import numpy as np

    from calibtest.data import demo_stacks
    from calibtest.procedures.layers import layers_test
    from calibtest.stacks import LayerStack

    images, texts, control, groups = demo_stacks()
    last = texts.select(texts.names[-1])
    rng = np.random.default_rng(seed)
    noise = LayerStack.build(
        {
            name: rng.standard_normal((images.n_items, width))
            for name, width in zip(images.names, images.widths, strict=True)
        },
        name="noise of the same widths",
        ids=images.ids,
    )
    within = {"scheme": "within_groups", "groups": groups, "n_resamples": min(n_resamples, MOST_WITHIN)}
    plan: dict[str, tuple[LayerStack, LayerStack, dict[str, Any]]] = {"main": (images, texts, {})}
    for metric in METRICS:
        plan[f"last {metric}"] = (images, last, {"metric": metric})
        plan[f"within {metric}"] = (images, last, {"metric": metric, **within})
    plan |= {"noise": (noise, texts, {}), "control": (images, control, {})}
    found: dict[str, LayersResult] = {}
    for name, (a, b, how) in plan.items():
        share = None if progress is None else partial(_share, progress, len(found), len(plan))
        found[name] = layers_test(a, b, rng=seed, progress=share, **{"n_resamples": n_resamples, **how})
    return Findings(
        main=found["main"],
        last={metric: found[f"last {metric}"] for metric in METRICS},
        within={metric: found[f"within {metric}"] for metric in METRICS},
        noise=found["noise"],
        control=found["control"],
        widths=images.widths,
        n_groups=len(np.unique(groups)),
    )


def _share(progress: Callable[[float], None], done: int, planned: int, share: float) -> None:
    """Tell the share of the whole plan from that of the test that is running."""
    progress((done + share) / planned)


# ------------------------------------------------------------------------------------------------------- the report
def _tell(screen: Screen, found: Findings) -> None:
    from calibtest.cli.compare import print_report

    screen.title(
        "500 emoji: EfficientNet-Lite0 saw the drawings, MiniLM read the names. Do they agree about the same things?"
    )
    screen.line()
    print_report(found.main, 5)
    _tell_width(screen, found)
    _tell_groups(screen, found)
    _tell_noise(screen, found)
    _tell_control(screen, found)


def _tell_width(screen: Screen, found: Findings) -> None:
    import numpy as np

    from calibtest.report.words import column

    cka, knn = found.last["linear_cka"], found.last["mutual_knn"]
    grids = [grid[:, 0] for result in (cka, knn) for grid in (result.scores, result.chance, result.calibrated)]
    rows = list(zip(cka.layers_a, map(str, found.widths), *(column(grid, 3) for grid in grids), strict=True))
    screen.line()
    screen.title("1  A raw score grows with the width of a layer, and so does chance")
    screen.table(("stage", "units", "CKA", "chance", "calibrated", "kNN", "chance", "calibrated"), rows, names=1)
    ends = [f"{end:.3f}" for end in (cka.chance[0, 0], cka.chance[-1, 0], knn.chance[0, 0], knn.chance[-1, 0])]
    screen.paragraph(
        f"(against {cka.layers_b[0]} of MiniLM) From {found.widths[0]:,} to {found.widths[-1]:,} units the chance level of "
        f"linear CKA goes from {ends[0]} to {ends[1]}, that of mutual kNN from {ends[2]} to {ends[3]}."
    )
    widest = int(np.argmax(found.widths))
    others = [at for at in range(len(found.widths)) if at != widest]
    rival = max(others, key=lambda at: float(cka.scores[at, 0]))
    raw, calibrated = (float(grid[widest, 0] - grid[rival, 0]) for grid in (cka.scores, cka.calibrated))
    screen.paragraph(
        f"The lead of the widest stage over {cka.layers_a[rival]} is {raw:+.3f} in raw CKA and {calibrated:+.3f} calibrated."
    )


def _tell_groups(screen: Screen, found: Findings) -> None:
    import numpy as np

    from calibtest.report.words import column, probability

    rows = []
    for metric in METRICS:
        free, within = found.last[metric], found.within[metric]
        at = int(np.argmax(free.zscore[:, 0]))
        z = column([free.zscore[at, 0], within.zscore[at, 0]], 3)
        rows.append((metric, free.layers_a[at], z[0], probability(free.pvalue), z[1], probability(within.pvalue)))
    screen.line()
    screen.title("2  How much of the agreement is only the category of the emoji?")
    screen.table(("metric", "stage", "z", "p", "z within groups", "p within groups"), rows)
    screen.paragraph(
        f"Relabelling only within the {found.n_groups} Unicode groups (smileys, food, ...; "
        f"{found.within[METRICS[0]].n_resamples:,} relabellings) grants the models the categories; what is left is "
        "agreement about single emoji."
    )


def _tell_noise(screen: Screen, found: Findings) -> None:
    from calibtest.report.words import probability

    noise = found.noise
    screen.line()
    screen.title("3  A network that knows nothing")
    screen.paragraph(
        f"Gaussian noise of the same widths has raw CKA up to {noise.scores.max():.3f} with MiniLM, at a chance level up to "
        f"{noise.chance.max():.3f}: p = {probability(noise.pvalue)} for the whole search, largest calibrated score "
        f"{noise.calibrated.max():.3g}."
    )


def _tell_control(screen: Screen, found: Findings) -> None:
    from calibtest.report.words import probability

    control, main = found.control, found.main
    screen.line()
    screen.title("4  A text network that never learned")
    screen.paragraph(
        f"MiniLM with re-drawn weights still reads the same names: raw CKA up to {control.scores.max():.3f}, p = "
        f"{probability(control.pvalue)}. Beyond chance does not mean learned; the size tells them apart: the best pair has "
        f"calibrated {_calibrated_best(control):.3f} here and {_calibrated_best(main):.3f} with "
        "trained MiniLM."
    )


def _calibrated_best(result: LayersResult) -> float:
    from calibtest.report.words import best_cell

    at = best_cell(result)
    assert at is not None  # the largest studentised pair is one pair
    return float(result.calibrated[at])
