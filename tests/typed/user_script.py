"""What somebody writes who checks their own code with mypy --strict: every public name is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import localface
from localface import (
    Ask,
    Feature,
    LocalFACE,
    NoRecourse,
    Promises,
    Recourse,
    Recourses,
    Schema,
    Search,
    Status,
    refits,
)
from localface.cases.moons import two_moons

Numbers = npt.NDArray[np.float64]


def score(points: Numbers) -> Numbers:
    """A model of one's own."""
    return 1 / (1 + np.exp(-points[:, 0]))


def plan_for(explainer: LocalFACE, person: Numbers) -> Recourse:
    """A plan, or the reason why there is none."""
    answer = explainer.explain(person, where={"x1": "never"}, max_features=1, relax=True)
    if answer.status is Status.FOUND:
        return answer
    try:
        return answer.require()
    except NoRecourse as reason:
        raise SystemExit(str(reason)) from reason


def describe(answer: Recourse) -> list[str]:
    """What a program reads of an answer."""
    lines: list[str] = [one.sentence for one in answer.certificates]
    lines += [
        f"{name}: {value}" for action in answer.actions for name, value in action.changes.items()
    ]
    score_at_end: float = answer.scores[-1]
    rows: int = answer.disclosure.rows
    return [*lines, f"{score_at_end:.2f}", f"{rows}", answer.to_json()]


def main() -> None:
    """Every public name, as it is used."""
    moons = two_moons(300)
    schema = Schema([Feature("x0", bounds=(-3, 3)), Feature("x1", moves="freely")])
    explainer = LocalFACE(
        score, moons.data, schema=schema, min_score=0.6, search=Search(n_neighbors=20)
    )
    answer = plan_for(explainer, moons.person)
    print("\n".join(describe(answer)), localface.__version__)

    many: Recourses = explainer.explain_many(moons.data[:5], progress=False)
    found: list[bool] = [one.found for one in many]
    others: list[Recourse] = list(explainer.alternatives(moons.person, n=2))
    print(found, len(others))

    promises = Promises.open("promises")
    explainer.promise(answer, to=promises, ask=Ask(avoid=["x1"]))
    print(explainer.recheck(promises, show_progress=False))


def fit_again(model: Any, data: Numbers, labels: Numbers) -> list[Any]:
    """Models to hold an answer to."""
    return refits(model, data, labels, n=5, progress=False)


if __name__ == "__main__":
    main()
