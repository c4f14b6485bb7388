"""Tables with codes and one-hot columns, nothing declared: codes crossed, and groups broken.

Parts of gaps.py. The judge looks only at the columns: each state of an answer, on its path, at
its end and after each action, is held against what the columns mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from localface import LocalFACE, Recourse

CODES = (-9, -8, -7)
ENCODINGS: dict[str, dict[str, Any]] = {
    "pd.get_dummies(adult)": {},
    "drop_first=True": {"drop_first": True},
    "dummy_na=True": {"dummy_na": True},
}
Breaks = Callable[[pd.DataFrame, pd.DataFrame], bool]  # the person's row, and states of theirs


@dataclass(frozen=True)
class Counts:
    """How many people were asked for, how many have a way, and whose states break the rule."""

    people: int
    found: int
    broken: int


def heloc_as_it_is(folder: Path) -> tuple[pd.DataFrame, np.ndarray]:
    """FICO HELOC, all rows and columns, and who repaid."""
    frame = pd.read_csv(folder / "heloc" / "heloc.csv.gz")
    wanted = (frame.pop("RiskPerformance") == "Good").to_numpy()
    return frame, wanted


def encoded_adult(
    folder: Path, options: dict[str, Any], n_rows: int
) -> tuple[pd.DataFrame, np.ndarray, dict[str, list[str]]]:
    """UCI Adult one-hot encoded by pandas, who earns more, and the columns of each category."""
    unknown = {"na_values": "?"} if options.get("dummy_na") else {}
    frame = pd.read_csv(folder / "adult" / "adult.csv.gz", **unknown).drop(columns="split")
    frame = frame.sample(min(n_rows, len(frame)), random_state=0)
    wanted = frame.pop("income").str.startswith(">50K").to_numpy()
    words = list(frame.select_dtypes(exclude="number"))
    columns = pd.get_dummies(frame, **options)
    added = [name for name in columns if name not in frame]  # education_num is no category
    groups = {word: [name for name in added if name.startswith(f"{word}_")] for word in words}
    return columns, wanted, groups


def crosses_a_code(person: pd.DataFrame, states: pd.DataFrame) -> bool:
    """Whether a value becomes a code, stops being one, or becomes another."""
    own = person.where(person.isin(CODES)).to_numpy()
    theirs = states.where(states.isin(CODES)).to_numpy()
    return not np.array_equal(np.repeat(own, len(states), axis=0), theirs, equal_nan=True)


def breaks_a_group(groups: dict[str, list[str]], *, some: bool) -> Breaks:
    """Whether a state has two categories, or none where each row has one (not ``some``)."""

    def breaks(_: pd.DataFrame, states: pd.DataFrame) -> bool:
        sums = [states[columns].astype(int).sum(axis=1) for columns in groups.values()]
        return any(bool((total > 1).any() or (not some and (total < 1).any())) for total in sums)

    return breaks


def states_of(answer: Recourse, person: pd.DataFrame) -> pd.DataFrame:
    """Every state that an answer leads to, as rows with the columns of the table."""
    rows = [answer.path, answer.end] if answer.found else []
    return pd.concat([*rows, *_after_actions(answer, person)], ignore_index=True)


def _after_actions(answer: Recourse, person: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The person after each action, in what is a column of its own."""
    state = person.copy()
    yield state
    for action in answer.actions:
        state = state.assign(**{n: v for n, v in action.changes.items() if n in person})
        yield state


def count(
    frame: pd.DataFrame, wanted: np.ndarray, model: Any, breaks: Breaks, n_people: int
) -> Counts:
    """Fit on three quarters of the rows, ask for refused people of the rest, and judge."""
    new = np.random.default_rng(0).permutation(len(frame)) < len(frame) // 4
    known = frame[~new]
    model.fit(known, wanted[~new].astype(int))
    explainer = LocalFACE(model, known)
    fresh = frame[new]
    asked = (model.predict_proba(fresh)[:, 1] < 0.5) & ~fresh.isin(CODES).all(axis=1)
    refused = fresh[asked].iloc[:n_people]  # those without any value cannot be told anything
    found = broken = 0
    for i in tqdm(range(len(refused)), leave=False):
        person = refused.iloc[[i]]
        answer = explainer.explain(person)
        found += answer.found
        broken += breaks(person, states_of(answer, person))
    return Counts(len(refused), found, broken)


def codes_report(
    folder: Path, models: dict[str, Callable[[], Any]], n_people: int
) -> Iterator[str]:
    """HELOC with the codes that the guessed schema finds: a line for each model."""
    yield "| HELOC, nothing declared | people | found | answers that cross a code |"
    yield "|---|---|---|---|"
    frame, wanted = heloc_as_it_is(folder)
    for word, make in models.items():
        made = count(frame, wanted, make(), crosses_a_code, n_people)
        yield f"| {word} | {made.people} | {made.found} | {made.broken} |"


def dummies_report(
    folder: Path, make: Callable[[], Any], n_people: int, n_rows: int
) -> Iterator[str]:
    """Adult in three encodings, some of its rows: a line for each."""
    yield "| Adult, nothing declared | columns | people | found | broken groups |"
    yield "|---|---|---|---|---|"
    for word, options in ENCODINGS.items():
        frame, wanted, groups = encoded_adult(folder, options, n_rows)
        rule = breaks_a_group(groups, some="drop_first" in options)
        made = count(frame, wanted, make(), rule, n_people)
        yield f"| {word} | {frame.shape[1]} | {made.people} | {made.found} | {made.broken} |"
