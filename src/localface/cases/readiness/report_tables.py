"""The tables of the report: success, length, rows seen, criteria."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from localface.cases.readiness.codebook import CRITERIA, FEATURE_WORDS
from localface.cases.readiness.cohort_recourse import (
    DIRECTIONS,
    GROUPS,
    CohortRecourse,
    Group,
    PatientRecourse,
)
from localface.cases.readiness.document import Table
from localface.cases.readiness.training import MEASURES, PAPER, Evaluation
from localface.types import Array

PAPER_ROWS_SEEN: dict[Group, float] = {
    "true negative": 0.0169,
    "false negative": 0.0127,
    "false positive": 0.0518,
}
"""The share of the training data that the paper's three worked patients took."""

PAPER_SECONDS = 0.453
PAPER_SHARES: dict[Group, float] = {"false negative": 0.038, "false positive": 0.154}


def forest_table(evaluation: Evaluation, row_split_evaluation: Evaluation | None) -> Table:
    """The forest's measures beside the paper's."""
    columns = ["measure", "this run", *(["split by row"] if row_split_evaluation else []), "paper"]
    rows = []
    for name, words in MEASURES.items():
        cells = [
            _format_mean_sd(one.mean(name), one.sd(name))
            for one in (evaluation, row_split_evaluation)
            if one is not None
        ]
        rows.append((words, *cells, _format_mean_sd(*PAPER[name])))
    over = "1 split" if evaluation.n_splits == 1 else f"{evaluation.n_splits} splits"
    return Table(
        f"Mean (SD): this run over {over}, the paper over 100", tuple(columns), tuple(rows)
    )


def success_table(patients: CohortRecourse) -> Table:
    """Who was asked, and who was answered how."""
    rows = [
        _success_row(group, patients.select_people(group))
        for group in GROUPS
        if patients.select_people(group)
    ]
    rows.append(_success_row("everyone", patients.people))
    columns = (
        "group",
        "people",
        "there already",
        "asked",
        "found as asked",
        "found relaxed",
        "not found",
    )
    n = len(patients.people)
    whom = f"all {n:,}" if n == patients.tested else f"{n:,} of the {patients.tested:,}"
    return Table(f"Recourse for {whom} patients of one test set", columns, tuple(rows))


def _success_row(name: str, people: Sequence[PatientRecourse]) -> tuple[str, ...]:
    asked = [one for one in people if one.was_asked]
    plain = sum(one.plain.found for one in asked)
    relaxed = sum(one.was_relaxed for one in asked)
    lost = len(asked) - plain - relaxed
    counts = [f"{n:,}" for n in (len(people), len(people) - len(asked), len(asked))]
    return (name, *counts, *(_format_count_of(n, len(asked)) for n in (plain, relaxed, lost)))


def reasons_table(patients: CohortRecourse) -> Table | None:
    """Why a path was not found as asked, counted by status and by the tightest constraint."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for one in patients.people:
        if one.was_asked and not one.plain.found:
            counts[
                one.plain.status.value,
                _constraint_named_in_reason(one.plain.reason),
                _describe_relaxed_outcome(one),
            ] += 1
    if not counts:
        return None
    rows = tuple((*key, f"{n:,}") for key, n in counts.most_common())
    return Table(
        "Those without a way as asked",
        ("why", "what stands in the way most", "with relax", "people"),
        rows,
    )


def _constraint_named_in_reason(reason: str) -> str:
    """The constraint that a reason names, without this one person's value."""
    found = re.search(r"'([^']+)' alone", reason)
    if "this person's own" in reason:
        return "what stays the patient's own"
    if not found:
        return "no chain of common enough states"
    name, _, limit = found[1].partition(" of ")[0].partition(" ")
    return f"{FEATURE_WORDS.get(name, name)} {limit}{' h' if name == 'los' else ''}"


def _describe_relaxed_outcome(one: PatientRecourse) -> str:
    if not one.was_relaxed:
        return f"still not found ({one.answer.status.word})"
    wider = " and ".join(
        FEATURE_WORDS[name] for name in sorted(one.widened_constraints, reverse=True)
    )
    return f"found, {wider} widened" if wider else "found, floor lowered"


def lengths_table(patients: CohortRecourse) -> Table:
    """How long paths are, and how low the density on them, for both directions."""
    columns = ["for each answer that was found"]
    cells = []
    for direction in DIRECTIONS:
        found = [one for one in patients.select_people(direction=direction) if one.answer.found]
        if found:
            columns.append(f"towards {direction}")
            cells.append(_lengths_column(found))
    names = ["answers", "actions: median (middle half)", "features changed: median (middle half)"]
    names += [
        "steps of the path through real patients: mean",
        "least common state on the way: median percentile",
    ]
    names += [
        "same, lowest twentieth of answers",
        "training rows seen: mean",
        "with an order that matters",
    ]
    return Table("The ways that were found", tuple(columns), tuple(zip(names, *cells, strict=True)))


def _lengths_column(found: Sequence[PatientRecourse]) -> list[str]:
    lowest = [one.lowest_density for one in found]
    ordered = [any(action.follows for action in one.answer.actions) for one in found]
    return [
        f"{len(found):,}",
        _format_median_and_quartiles([len(one.answer.actions) for one in found]),
        _format_median_and_quartiles([len(one.changed_features) for one in found]),
        f"{np.mean([len(one.answer.certificates) for one in found]):.2f}",
        format_share(float(np.median(lowest)), 0),
        format_share(float(np.quantile(lowest, 0.05)), 0),
        format_share(float(np.mean([one.answer.disclosure.fraction for one in found])), 2),
        format_share(float(np.mean(ordered)), 0),
    ]


def rows_seen_table(patients: CohortRecourse, examples: dict[Group, PatientRecourse]) -> Table:
    """How much of the training data an answer takes, beside the paper's three patients."""
    rows = []
    for group, paper in PAPER_ROWS_SEEN.items():
        people = [one for one in patients.people if one.group == group and one.was_asked]
        shares = [one.answer.disclosure.fraction for one in people]
        mean = format_share(float(np.mean(shares)), 2) if shares else "–"
        mine = examples.get(group)
        example = format_share(mine.answer.disclosure.fraction, 2) if mine else "–"
        rows.append((group, f"{len(people):,}", mean, example, format_share(paper, 2)))
    columns = ("group", "asked", "mean", "worked patient", "paper's patient")
    return Table("Share of the training rows that an answer looks at", columns, tuple(rows))


def criteria_counts_table(patients: CohortRecourse) -> Table:
    """Whether the answers lead towards the nurse-led criteria."""
    found = {
        group: [one for one in patients.select_people(group) if one.answer.found]
        for group in GROUPS
    }
    columns = ("group", "asked to become", "found", "met now", "met after")
    return Table(
        "Discharge criteria met, of 18 (means), and the share who meet more, as many or fewer "
        "after",
        (*columns, "more", "as many", "fewer"),
        tuple(_criteria_counts_row(group, people) for group, people in found.items() if people),
    )


def _criteria_counts_row(group: Group, people: Sequence[PatientRecourse]) -> tuple[str, ...]:
    before, after = np.array([[one.before, one.after] for one in people]).T
    shares = [
        format_share(float(np.mean(one)), 0)
        for one in (after > before, after == before, after < before)
    ]
    means = (f"{before.mean():.1f}", f"{after.mean():.1f}")
    return (group, people[0].direction, f"{len(people):,}", *means, *shares)


def criteria_shares(people: Iterable[PatientRecourse]) -> tuple[Array, Array]:
    """For each criterion the share of people who meet it now, and after the actions."""
    ends = np.array([one.answer.with_actions_as_path().records[[0, -1]] for one in people])
    names = next(iter(people)).answer.schema.names
    columns = [one.holds(ends[:, :, names.index(one.feature)]).mean(axis=0) for one in CRITERIA]
    before, after = np.array(columns).T
    return before, after


def criteria_shares_table(before: Array, after: Array, usual: Array) -> Table:
    """The share who meet each criterion now, after the actions, and among those who were ready."""
    shares = zip(before.tolist(), after.tolist(), usual.tolist(), strict=True)
    rows = [
        (f"{one.name}: {one.words}", *(format_share(share, 0) for share in three))
        for one, three in zip(CRITERIA, shares, strict=True)
    ]
    return Table(
        "Share who meet each criterion", ("criterion", "now", "after", "were ready"), tuple(rows)
    )


def group_shares_sentence(groups: Sequence[Group]) -> str:
    """How often the forest is wrong in each direction, beside the paper's shares."""
    said = []
    for group, share in PAPER_SHARES.items():
        ours = format_share(groups.count(group) / len(groups))
        said.append(f"{group}s are {ours} of those tested (paper {format_share(share)})")
    return f"{'; '.join(said)}.".capitalize()


def format_share(share: float, digits: int = 1) -> str:
    """A share in per cent.

    >>> format_share(0.1234), format_share(1.0, 0)
    ('12.3 %', '100 %')
    """
    return f"{100 * share:.{digits}f} %"


def found_share(patients: CohortRecourse, *, relaxed: bool) -> float:
    """The share of those asked for whom a path was found, with or without relaxation."""
    asked = [one for one in patients.people if one.was_asked]
    if not asked:
        return 1.0
    return float(np.mean([one.answer.found if relaxed else one.plain.found for one in asked]))


def longer_stay_sentence(patients: CohortRecourse) -> str:
    """For how many of those who are to become ready waiting alone would do."""
    asked = [one for one in patients.select_people(direction="ready") if one.was_asked]
    n = sum(one.answer.waiting is not None for one in asked)
    return (
        "No answer changes the length of stay. For "
        f"{_format_count_of(n, len(asked))} of those asked towards ready a longer stay alone, all "
        "else unchanged, would do as far as the forest can tell: their answers say so, and rest "
        "on nothing of it."
    )


def format_feature_name(name: str) -> str:
    """A feature in the words of a ward, with its short name."""
    words = FEATURE_WORDS[name]
    return f"{words} ({name})" if words != name else name


def _format_mean_sd(mean: float, sd: float) -> str:
    return f"{mean:.4f}" if np.isnan(sd) else f"{mean:.4f} ({sd:.4f})"


def _format_median_and_quartiles(values: Sequence[int]) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{middle:g} ({low:g}–{high:g})"


def _format_count_of(n: int, total: int) -> str:
    return f"{n:,} ({100 * n / total:.1f} %)" if total else "0"
