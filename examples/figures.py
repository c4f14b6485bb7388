"""Draw the figures of README and docs again: python examples/figures.py [folder]

The two moons have little noise (0.12) and a seed on which the only way leads round the gap; on
most seeds there is a shorter one, and on some (6 and 8 of the first twelve) none. The people and
the model of the per-person figure are invented.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from io import BytesIO
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image
from scipy.spatial import cKDTree

from localface import Search
from localface.analyses.floor_report.trial import Trial
from localface.answers.recourse import Recourse
from localface.apps.plots import (
    plot_against_line,
    plot_pipeline,
    plot_recourse,
    plot_step,
    plot_tube,
)
from localface.apps.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, SCORES
from localface.cases.moons import two_moons
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.engine.fitting import fit_density
from localface.engine.loading import load_table
from localface.explainer import LocalFACE
from localface.geometry.point_set import PointSet
from localface.options import Options

FOLDER = Path(__file__).parents[1] / "docs" / "figures"
DPI = 110
LARGE = 150_000  # bytes
HABITS = Schema(
    [
        Feature("exercise", unit="hours a week", resolution=0.5),
        Feature("weight", unit="kg", resolution=1),
        Feature("resting_pulse", unit="beats a minute", kind="integer"),
        Feature("systolic", unit="mmHg", kind="integer"),
        Feature("smoker", kind="binary", categories=("yes", "no")),
        Feature("sleep", unit="hours a night", resolution=0.1),
        Feature("coffee", unit="cups a day", kind="integer"),
        Feature("age", unit="years", kind="integer", moves="never"),
    ]
)


def habits(n: int = 2000, seed: int = 0) -> np.ndarray:
    """Invented people, some fitter than others."""
    rng = np.random.default_rng(seed)
    fit = rng.uniform(size=n)
    columns = [
        np.clip(0.3 + 6 * fit + rng.normal(scale=0.8, size=n), 0, None),
        92 - 22 * fit + rng.normal(scale=4, size=n),
        np.rint(84 - 24 * fit + rng.normal(scale=3, size=n)),
        np.rint(150 - 30 * fit + rng.normal(scale=5, size=n)),
        (rng.uniform(size=n) < 0.35 + 0.6 * fit).astype(float),
        6.2 + 1.5 * fit + rng.normal(scale=0.4, size=n),
        np.clip(np.rint(4 - 2 * fit + rng.normal(scale=0.9, size=n)), 0, None),
        np.rint(rng.uniform(40, 60, size=n)),
    ]
    return np.column_stack(columns)


def healthy(table: np.ndarray) -> np.ndarray:
    """A score for a healthy heart, as invented as the people."""
    columns = np.asarray(table, dtype=object)
    exercise, weight, pulse, systolic, _, _, _, age = (columns[:, j] for j in range(8))
    smokes = columns[:, 4] == "yes"
    parts = (
        0.4 * exercise.astype(float)
        - 0.05 * (weight.astype(float) - 80)
        - 0.06 * (pulse.astype(float) - 70)
    )
    parts -= 0.05 * (systolic.astype(float) - 132) + 1.0 * smokes + 0.02 * (age.astype(float) - 50)
    return np.asarray(1 / (1 + np.exp(-(parts - 0.9))), dtype=float)


def person() -> Recourse:
    """Someone who wants a healthier heart."""
    rows = habits()
    table = pd.DataFrame({name: rows[:, j] for j, name in enumerate(HABITS.names)})
    table["smoker"] = np.where(rows[:, 4] == 0, "yes", "no")
    for name in ("resting_pulse", "systolic", "coffee", "age"):
        table[name] = table[name].astype(int)
    explainer = LocalFACE(
        lambda frame: healthy(frame.to_numpy()),
        table,
        schema=HABITS,
        min_score=0.75,
        search=Search(max_step=2.0),
    )
    someone = {
        "exercise": 1.0,
        "weight": 90.0,
        "resting_pulse": 81,
        "systolic": 146,
        "smoker": "yes",
        "sleep": 6.25,
        "coffee": 4,
        "age": 52,
    }
    return explainer.explain(someone).require()


def customers(n: int, seed: int) -> pd.DataFrame:
    """Invented customers: what they have paid follows from their months; the rest is chance."""
    rng = np.random.default_rng(seed)
    months = rng.integers(1, 73, n)
    total = np.round(months * rng.normal(55, 9, n), 0)
    habits = np.exp(rng.normal(size=(n, 10))).round(2)
    columns = {"months": months, "total paid": total}
    return pd.DataFrame({**columns, **{f"habit {j}": habits[:, j] for j in range(10)}})


def plot_floors() -> Figure:
    """Rows and composed records in two of twelve features, by which floor they clear."""
    table = customers(6000, seed=0)
    floors = {"one round kernel": "isotropic", "kernels and pairs": "kde"}
    figure = plt.figure(figsize=(9.0, 4.3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (title, density) in zip(panels, floors.items(), strict=True):
        trial, clears = _composed_that_clear(table, density)
        _draw_floor(panel, trial, clears, title)
    panels[0].set_ylabel("paid in total")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _composed_that_clear(table: pd.DataFrame, density: str) -> tuple[Trial, np.ndarray]:
    """Fit a density on a part of the rows, and tell which composed records clear its 5 % floor."""
    options = Options(
        **asdict(Search()), min_score=0.5, min_density=0.05, max_rows=None, density=density
    )
    loaded = load_table(table, None, options)
    trial = Trial.of(loaded.fitted_records, None, seed=0)
    fitted = fit_density(
        PointSet(loaded.space.points(trial.known)), loaded.space, loaded.form, options
    )
    states = loaded.space.points(trial.composed)
    return trial, fitted.lowest_along(states, states, fitted.scale.quantile(0.05)).passes


def _draw_floor(panel: Axes, trial: Trial, clears: np.ndarray, title: str) -> None:
    some = slice(None, None, 3)  # rows come in order
    rows = trial.held_out[some]
    composed = trial.composed[some]
    kept = clears[some]
    panel.scatter(rows[:, 0], rows[:, 1], s=9, color=GREY, label="a real row, held out")
    panel.scatter(
        *composed[~kept][:, :2].T, s=16, facecolors="none", edgecolors=BLUE, linewidths=0.7,
        label="composed, refused",
    )  # fmt: skip
    panel.scatter(
        *composed[kept][:, :2].T, s=22, marker="X", color=ORANGE, linewidths=0,
        label="composed, clears the floor",
    )  # fmt: skip
    panel.set_title(f"{title}:\n{np.mean(clears):.0%} of composed records clear it", fontsize=10)
    panel.set_xlabel("months as a customer")
    panel.spines[["top", "right"]].set_visible(False)


def save(figure: Figure, path: Path) -> None:
    """Write a PNG; one that would be large gets a palette that holds our colours as they are."""
    raw = BytesIO()
    figure.savefig(raw, dpi=DPI, pil_kwargs={"optimize": True})
    plt.close(figure)
    if raw.tell() > LARGE:
        picture = _with_palette(Image.open(raw).convert("RGB"))
        raw = BytesIO()
        picture.save(raw, "png", optimize=True)
    path.write_bytes(raw.getvalue())
    print(f"{path.name}: {raw.tell() / 1000:.0f} kB")


def _with_palette(picture: Image.Image) -> Image.Image:
    """256 colours: those with a meaning, the scale of the score, the most useful others."""
    exact = [to_rgb(one) for one in ("white", "black", INK, BLUE, ORANGE, GREEN, RED, PURPLE, GREY)]
    exact += [one[:3] for one in SCORES(np.linspace(0, 1, 48)).tolist()]
    useful = (
        picture.quantize(256 - len(exact), method=Image.Quantize.MEDIANCUT, kmeans=2).getpalette()
        or []
    )
    palette = np.concatenate([np.rint(255 * np.array(exact)), np.reshape(useful, (-1, 3))])[:256]
    pixels = np.asarray(picture)
    colors, places = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True)
    nearest = cKDTree(palette).query(colors)[1].astype(np.uint8)
    small = Image.fromarray(nearest[places].reshape(pixels.shape[:2]))
    small.putpalette(palette.astype(np.uint8).ravel().tolist())
    return small


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    moons = two_moons(500, noise=0.12, seed=5)
    explainer = LocalFACE(
        moons.model, moons.data, min_score=0.75, search=Search(n_neighbors=15, max_step=0.8)
    )
    save(plot_pipeline(explainer, moons.person), folder / "pipeline.png")
    save(plot_against_line(explainer, moons.person), folder / "against-line.png")
    save(plot_recourse(person()), folder / "person.png")
    save(plot_tube(), folder / "tube.png")
    save(plot_step(), folder / "step.png")
    save(plot_floors(), folder / "floors.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
