"""The case study at full size: 20 splits, recourse for everyone tested, 200 answers judged.

    python benchmarks/readiness.py [--splits 20] [--judged 200] [--people N]

The judge is the evaluation's own: plain NumPy on the same table, none of the code under test.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from judging import StepJudge
from localface.cases.readiness import schema, synthetic
from localface.cases.readiness.cohort_recourse import (
    CERTAIN_SCORE,
    DIRECTIONS,
    READY_SCORE,
    CohortRecourse,
    PatientRecourse,
    explain_tested_patients,
)
from localface.cases.readiness.document import render_markdown
from localface.cases.readiness.report_tables import (
    criteria_counts_table,
    lengths_table,
    reasons_table,
    success_table,
)
from localface.cases.readiness.samples import Samples
from localface.cases.readiness.training import MEASURES, PAPER, Fitted, evaluate_forest

BARS = {"auc": (0.882, 0.01), "brier": (0.143, 0.006), "sensitivity": (0.89, 0.02)}


def measured(splits: int) -> Fitted:
    """Print the forest's measures beside the paper's and the bars; return the first split."""
    started = time.perf_counter()
    found = evaluate_forest(Samples.of_cohort(synthetic(seed=0)), splits=splits)
    print(f"forest, {splits} splits in {time.perf_counter() - started:.0f} s")
    for name, words in MEASURES.items():
        bar = f"  wanted {BARS[name][0]} ± {BARS[name][1]}" if name in BARS else ""
        print(
            f"  {words:<32}{found.mean(name):.4f} ({found.sd(name):.4f})  paper "
            f"{PAPER[name][0]:.4f}{bar}"
        )
    return found.first


def explained(first: Fitted, people: int | None) -> CohortRecourse:
    """Print what became of everyone who was tested."""
    started = time.perf_counter()
    patients = explain_tested_patients(first, people=people)
    print(f"\n{patients!r} in {time.perf_counter() - started:.0f} s")
    for table in (
        success_table(patients),
        reasons_table(patients),
        lengths_table(patients),
        criteria_counts_table(patients),
    ):
        if table is not None:
            print(f"\n{render_markdown([table])}")
    alone = 1000 * np.array(patients.alone)
    print(
        f"\n  one at a time: mean {alone.mean():.0f} ms, most {alone.max():.0f} ms (paper 453 ms)"
    )
    print(
        "  all together: "
        + ", ".join(f"{1000 * s:.0f} ms towards {way}" for way, s in patients.seconds.items())
    )
    return patients


def faults(one: PatientRecourse, first: Fitted, judge: StepJudge) -> list[str]:
    """Every promise that an answer breaks."""
    answer = one.answer
    plan = schema()
    broken: list[str] = []
    states = pd.DataFrame(answer.with_actions_as_path().records, columns=list(plan.names))
    begin = first.test.iloc[one.row]
    if states.iloc[0].tolist() != begin.tolist():
        broken.append("start")
    if any((states[name] != begin[name]).any() for name in ("age", "sex", "bmi", "los")):
        broken.append("own")
    if any((states[a] > states[b]).any() for a, _, b in plan.relations):
        broken.append("box")
    target = 1 if one.direction == "ready" else 0
    wanted = CERTAIN_SCORE if one.direction == "ready" else READY_SCORE
    if first.model.predict_proba(states.iloc[[-1]])[0, target] < wanted:
        broken.append("score")
    return broken + ground(answer, states, judge)


def ground(answer: Any, states: pd.DataFrame, judge: StepJudge) -> list[str]:
    """Whether every step keeps the stated floor, or the person's own density, by a fine grid."""
    points = judge.points(states)
    floor = min(judge.floor, judge.lowest(points[0], points[0]))
    for start, end, action in zip(points[:-1], points[1:], answer.actions, strict=True):
        lowest = judge.lowest(start, end)
        kept = lowest >= floor - 1e-6
        if answer.relaxed_to is not None:  # a share is known to within one row
            kept = kept or judge.share(lowest) >= answer.relaxed_to - 1 / len(judge.levels)
        if not (kept or action.certificate.entry):
            return ["ground"]
    return []


def judged(patients: CohortRecourse, first: Fitted, n: int) -> None:
    """Judge so many answers again, up to a fifth of them relaxed: those have more to promise."""
    found = [one for one in patients.people if one.answer.found]
    found = [found[i] for i in np.random.default_rng(0).permutation(len(found))]
    chosen = [one for one in found if one.was_relaxed][: n // 5]
    chosen += [one for one in found if not one.was_relaxed][: n - len(chosen)]
    explainer = patients.explainers[DIRECTIONS[0]]
    judge = StepJudge.of(explainer, first.train)
    broken = {
        one.row: bad for one in tqdm(chosen, desc="judging") if (bad := faults(one, first, judge))
    }
    relaxed = sum(one.was_relaxed for one in chosen)
    print(
        f"\n  promises broken by {len(broken)} of {len(chosen)} answers ({relaxed} of them "
        f"relaxed) {broken or ''}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--judged", type=int, default=200)
    parser.add_argument("--people", type=int)
    asked = parser.parse_args()
    fitted = measured(asked.splits)
    everyone = explained(fitted, asked.people)
    judged(everyone, fitted, asked.judged)
