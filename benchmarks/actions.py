"""Few actions that keep every promise? Checked again by an independent judge.

    python benchmarks/actions.py [--people 300] [--data FOLDER]

On the generated readiness cohort and, where FOLDER/physionet2012/cohort.csv.gz is
given, on the PhysioNet/CinC 2012 stays (model: survived hospital).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import KNNImputer
from tqdm import tqdm

from judging import StepJudge
from localface import LocalFACE
from localface.cases.readiness import schema, synthetic


def readiness():
    """The generated cohort at the paper's size, split as in the paper."""
    cohort = synthetic(seed=0)
    frame = cohort.frame()
    rng = np.random.default_rng(0)
    test = np.concatenate(
        [
            rng.choice(np.flatnonzero(cohort.source == s), 1403, replace=False)
            for s in ("mimic", "gicu")
        ]
    )
    train = np.setdiff1d(np.arange(len(frame)), test)
    model = RandomForestClassifier(100, max_depth=7, max_features=0.5, random_state=0)
    model.fit(frame.iloc[train], cohort.ready[train])
    return (
        frame.iloc[train].reset_index(drop=True),
        model,
        frame.iloc[test].reset_index(drop=True),
        cohort.schema,
        0.75,
    )


def physionet(folder: Path):
    """Four thousand real stays, without pain (never charted) and length of stay (constant)."""
    table = pd.read_csv(folder / "physionet2012" / "cohort.csv.gz")
    plan = schema()
    names = [name for name in plan.names if name not in ("pain", "los")]
    table = table[table["sex"].isin([0, 1])].reset_index(drop=True)
    values = KNNImputer(n_neighbors=10).fit_transform(
        (table[names] - table[names].mean()) / table[names].std()
    )
    frame = pd.DataFrame(values, columns=names) * table[names].std() + table[names].mean()
    whole = {
        "airway": 0,
        "sex": 0,
        "gcs_min": 0,
        "age": 0,
        "fio2": 2,
        "temp_min": 1,
        "temp_max": 1,
        "k": 1,
    }
    frame = frame.round(whole)
    frame["gcs_min"] = frame["gcs_min"].clip(3, 15)
    for low, high in (("resp_min", "resp_max"), ("hr_min", "hr_max"), ("temp_min", "temp_max")):
        frame[high] = frame[[low, high]].max(axis=1)
    plan = type(plan)(
        [feature for feature in plan if feature.name in names], relations=plan.relations
    )
    cut = 3 * len(frame) // 4
    model = RandomForestClassifier(200, max_depth=8, class_weight="balanced", random_state=0)
    model.fit(frame[:cut], table["outcome"][:cut])
    return frame[:cut], model, frame[cut:].reset_index(drop=True), plan, 0.75


def faults(answer, judge: StepJudge, model, plan) -> list[str]:
    """Every promise that an answer breaks."""
    state = answer.path.iloc[[0]].copy()
    broken = []
    first = answer.path.iloc[0]
    floor = min(judge.floor, judge.lowest(*[judge.points(state)[0]] * 2))
    for action in answer.actions:
        before = judge.points(state)[0]
        for name, value in action.changes.items():
            state[name] = pd.Series([value], index=state.index).astype(state[name].dtype)
        now = state.iloc[0]
        if (
            judge.lowest(before, judge.points(state)[0]) < floor - 1e-6
            and not action.certificate.entry
        ):
            broken.append("ground")
        if now["sex"] != first["sex"] or abs(now["age"] - first["age"]) > 25:
            broken.append("box")
        if any(now[low] > now[high] for low, _, high in plan.relations):
            broken.append("relation")
    if model.predict_proba(state)[0, 1] < answer.target.min_score:
        broken.append("score")
    points = judge.points(answer.path)
    for start, end, certificate in zip(points[:-1], points[1:], answer.certificates, strict=True):
        if judge.lowest(start, end) < judge.floor - 1e-6 and not certificate.entry:
            broken.append("path")
    return broken


def report(name: str, world, people: int) -> None:
    """Explain, re-check and print one table row by row."""
    data, model, new, plan, min_score = world
    explainer = LocalFACE(model, data, schema=plan, min_score=min_score)
    refused = new[model.predict_proba(new)[:, 1] < min_score].iloc[:people]
    answers = explainer.explain_many(refused)
    found = [answer for answer in answers if answer.found]
    judge = StepJudge.of(explainer, data)
    broken = [faults(answer, judge, model, plan) for answer in tqdm(found, desc="judging")]
    counts = np.array([sum(len(action.changes) for action in answer.actions) for answer in found])
    paths = np.array([len(answer.changes) for answer in found])
    calls = np.array([answer.disclosure.model_calls for answer in found])
    entries = np.mean(
        [any(action.certificate.entry for action in answer.actions) for answer in found]
    )
    together = np.mean([any(action.together for action in answer.actions) for answer in found])
    ordered = np.mean([any(action.follows for action in answer.actions) for answer in found])
    print(f"\n{name}: {answers!r}")
    kinds = sorted({one for some in broken for one in some})
    print(
        f"  answers that break a promise      {sum(map(bool, broken))} of {len(found)} "
        f"{' '.join(kinds)}"
    )
    print(f"  features changed by the path      median {np.median(paths):.0f}")
    print(
        f"  features changed by the actions   median {np.median(counts):.0f}, at most 4: "
        f"{np.mean(counts <= 4):.1%}, at most 8: {np.mean(counts <= 8):.1%}"
    )
    print(f"  model calls, path and actions     median {np.median(calls):.0f}, most {calls.max()}")
    print(
        f"  with an order that matters        {ordered:.1%}; with changes together {together:.1%}; "
        f"marked {entries:.1%}"
    )
    print(
        "  rows seen                         "
        f"{np.mean([answer.disclosure.fraction for answer in found]):.2%}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--data", type=Path)
    asked = parser.parse_args()
    report("readiness cohort (generated, 13,943 rows)", readiness(), asked.people)
    if asked.data is not None:
        report("PhysioNet 2012 (real, survived hospital)", physionet(asked.data), asked.people)
