"""Do the cautions about quirks of a model point at changes that work against the truth?

    python benchmarks/quirks.py [--people 25] [--seeds 2]

Three generated worlds whose truth is known: loans (every effect goes one way), patients (a middle
is best) and random curves with interactions. Forests and boosted trees learn each from 2,500
outcomes, and people whom they refuse are given plans. A plan has a change *against the truth*
where some change raises the model's score and, the rest of the plan done, does not raise the true
probability. Told are how many plans have one, and how many of them carry the caution.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits

from localface import LocalFACE, Recourse
from timing import say

Array = np.ndarray[Any, Any]
Truth = Callable[[pd.DataFrame], Array]
N_ROWS = 4_000
N_TAUGHT = 2_500
SCORE = 0.6
REFUSED = 0.4


def loans(rng: np.random.Generator) -> tuple[pd.DataFrame, Truth]:
    """Applicants, each of whose numbers helps or harms everybody."""
    z = _correlated(rng, 8)
    people = pd.DataFrame(
        {
            "income": np.round(np.exp(10.4 + 0.5 * z[:, 0])),
            "debt": np.round(np.exp(8.5 + 0.8 * z[:, 1])),
            "utilisation": np.clip(np.round(45 + 25 * z[:, 2], 1), 0, 150),
            "late": np.clip(np.round(np.exp(0.6 * z[:, 3]) - 0.8), 0, 12),
            "years_in_job": np.clip(np.round(np.exp(1.3 + 0.8 * z[:, 4]), 1), 0, 40),
            "loan": np.round(np.exp(9 + 0.6 * z[:, 5])),
            "inquiries": np.clip(np.round(np.exp(0.7 * z[:, 6]) - 0.7), 0, 10),
            "term": np.where(z[:, 7] > 0.3, 60, 36),
        }
    )

    def truth(of: pd.DataFrame) -> Array:
        return _probability(
            0.3
            + 1.2 * (np.log(of["income"]) - 10.4)
            - 0.6 * (np.log(of["debt"] + 1) - 8.5)
            - 0.02 * (of["utilisation"] - 45)
            - 0.5 * of["late"]
            + 0.25 * np.log1p(of["years_in_job"])
            - 0.5 * (np.log(of["loan"]) - 9)
            - 0.2 * of["inquiries"]
            - 0.6 * (of["term"] == 60)
        )

    return people, truth


def patients(rng: np.random.Generator) -> tuple[pd.DataFrame, Truth]:
    """Patients, for most of whose numbers a middle is best."""
    z = _correlated(rng, 9)
    people = pd.DataFrame(
        {
            "temp": np.round(36.9 + 0.7 * z[:, 0], 1),
            "hr": np.round(85 + 16 * z[:, 1]),
            "bp": np.round(78 + 13 * z[:, 2]),
            "k": np.round(4.2 + 0.6 * z[:, 3], 1),
            "na": np.round(139 + 4.5 * z[:, 4]),
            "haemoglobin": np.round(110 + 20 * z[:, 5]),
            "creatinine": np.round(np.exp(4.5 + 0.5 * z[:, 6])),
            "fio2": np.clip(np.round(0.3 + 0.12 * np.abs(z[:, 7]), 2), 0.21, 1),
            "gcs": np.clip(np.round(14.5 - 2 * np.abs(z[:, 8])), 3, 15),
        }
    )

    def truth(of: pd.DataFrame) -> Array:
        return _probability(
            2.8
            - 1.2 * np.abs(of["temp"] - 37) ** 1.5
            - 0.0015 * (of["hr"] - 78) ** 2
            - 0.002 * np.clip(75 - of["bp"], 0, None) ** 2
            - 1.2 * np.abs(of["k"] - 4.2)
            - 0.01 * (of["na"] - 140) ** 2
            + 0.012 * (of["haemoglobin"] - 110)
            - 0.7 * np.clip(np.log(of["creatinine"] / 90), 0, None)
            - 6 * (of["fio2"] - 0.25)
            + 0.35 * (of["gcs"] - 14)
        )

    return people, truth


def curves(rng: np.random.Generator) -> tuple[pd.DataFrame, Truth]:
    """Numbers with random smooth effects, some of which depend on another number."""
    n = 12
    z = _correlated(rng, n)
    effects = rng.normal(size=(n, 3)) * (rng.random(n) < 0.7)[:, None]
    pairs = rng.choice(n, (3, 2))

    def truth(of: pd.DataFrame) -> Array:
        values = of.to_numpy(dtype=float)
        shapes = np.stack([values, 0.4 * (values**2 - 1), 0.5 * np.sin(1.5 * values)], axis=-1)
        total = (shapes * effects).sum(axis=(1, 2))
        total += 0.5 * (values[:, pairs[:, 0]] * values[:, pairs[:, 1]]).sum(axis=1)
        return _probability(total / np.sqrt(n / 2) - 0.3)

    return pd.DataFrame(np.round(z, 2), columns=[f"x{j}" for j in range(n)]), truth


def _correlated(rng: np.random.Generator, n: int) -> Array:
    """Standard normal columns that go together a little."""
    mixed = 0.3 * rng.normal(size=(n, n)) + np.eye(n)
    covariance = mixed @ mixed.T
    spread = np.sqrt(np.diag(covariance))
    drawn = rng.normal(size=(N_ROWS, n))
    return np.asarray(drawn @ np.linalg.cholesky(covariance / spread[:, None] / spread).T)


def _probability(log_odds: Any) -> Array:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


WORLDS = {"loans": loans, "patients": patients, "curves": curves}
MODELS: dict[str, Callable[[], Any]] = {
    "boosted trees": lambda: HistGradientBoostingClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(100, min_samples_leaf=2, random_state=0),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """One plan, held against the truth."""

    world: str
    model: str
    features: int
    gain: float  # in the true probability
    against: bool  # some change that the model likes does not raise it
    cautioned: bool


def plans(world: str, model: str, seed: int, n_people: int) -> Iterator[Judged]:
    """Plans of one world and one model, each judged by the truth."""
    rng = np.random.default_rng(300 + seed)
    people, truth = WORLDS[world](rng)
    outcomes = (rng.random(N_ROWS) < truth(people)).astype(int)
    fitted = MODELS[model]().fit(people[:N_TAUGHT], outcomes[:N_TAUGHT])
    rest = people[N_TAUGHT:]
    refused = rest[fitted.predict_proba(rest)[:, 1] < REFUSED][:n_people]
    explainer = LocalFACE(fitted, people[:N_TAUGHT], min_score=SCORE)
    answers = explainer.explain_many(refused, progress=False)
    for (_, own), answer in zip(refused.iterrows(), answers, strict=True):
        if answer.found and answer.actions:
            yield _judged(world, model, own.to_numpy(dtype=float), answer, fitted, truth)


def _judged(
    world: str, model: str, own: Array, answer: Recourse, fitted: Any, truth: Truth
) -> Judged:
    end = pd.DataFrame(answer.end).to_numpy(dtype=float)[0]
    changed = np.flatnonzero(own != end)
    without = np.where(np.arange(len(own)) == changed[:, None], own, end)
    states = pd.DataFrame(np.concatenate([[own, end], without]), columns=list(answer.schema.names))
    scores = fitted.predict_proba(states)[:, 1]
    true = truth(states)
    against = (scores[1] > scores[2:]) & (true[1] <= true[2:])
    cautioned = any("quirk of the model" in caution for caution in answer.cautions)
    gain = float(true[1] - true[0])
    return Judged(world, model, len(changed), gain, bool(against.any()), cautioned)


def main() -> None:
    """Judge, and print a line for each model and one for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=25, help="of each world, model and seed")
    parser.add_argument("--seeds", type=int, default=2, help="worlds of each kind")
    asked = parser.parse_args()
    judged = []
    with threadpool_limits(1):
        for world in WORLDS:
            for model in MODELS:
                say(f"{world}, {model}")
                for seed in range(asked.seeds):
                    judged += plans(world, model, seed, asked.people)
    table = pd.DataFrame(judged)
    print(table.groupby("model")[["features", "gain", "against", "cautioned"]].mean().round(3))
    against, cautioned = table["against"], table["cautioned"]
    print(f"{len(table)} plans, {against.mean():.1%} with a change against the truth;")
    print(f"of these {cautioned[against].mean():.0%} carry the caution,")
    print(f"and of those that carry it {against[cautioned].mean():.0%} have such a change")


if __name__ == "__main__":
    main()
