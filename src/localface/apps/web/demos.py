"""The services that ``localface serve`` starts: demonstrations, or the user's own table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import narwhals as nw

from localface.apps.kept import kept_or_made
from localface.apps.web.service import Service
from localface.apps.web.views.labels import Labels
from localface.apps.web.views.people_list import PeopleList
from localface.apps.web.workers.search_workers import n_cores
from localface.cases.moons import two_moons
from localface.data.schema import Schema
from localface.engine.outcomes import Outcomes, read_outcomes
from localface.errors import DataError, InputError, did_you_mean, list_names, needs_extra
from localface.explainer import LocalFACE
from localface.options import Search

_MAX_WORKERS = 4  # processes to search in, where nobody says how many
_N_REFITS = 10  # of a demonstration's model, to say how firm plans are: half a minute's work


def make_demo_service(name: str, *, people: bool = True, **options: Any) -> Service:
    """A demonstration by its name: ``"readiness"`` or ``"moons"``."""
    make = _make_moons_service if name == "moons" else _make_readiness_service
    return make(people=people, options=options)


def make_own_service(
    explainer: LocalFACE,
    table: Any,
    *,
    outcome: Sequence[object] | None = None,
    target_label: str = "",
    **options: Any,
) -> Service:
    """A service of the user's own: the rows of a table are the people to pick, if one is given.

    ``target_label`` says what somebody is who has reached the target, such as "creditworthy".
    """
    truth = None
    if outcome is not None:
        truth = [_is_target(value, explainer.target) for value in outcome]
    people = None if table is None else PeopleList.of(explainer, table, truth=truth)
    labels = Labels(target=target_label)
    return _make_service(explainer, people, "Recourse", options, labels=labels)


def column_values(table: Any, name: str) -> list[object]:
    """The values of a column that says what became of people, by its name."""
    frame = nw.from_native(table, eager_only=True)
    if name not in frame.columns:
        near = did_you_mean(name, frame.columns)
        raise DataError(
            f"there is no column {name!r} for --outcome{near}: "
            f"there are {list_names(frame.columns)}"
        )
    return list(frame[name].to_list())


def _make_service(
    explainer: LocalFACE,
    people: PeopleList | None,
    title: str,
    options: dict[str, Any],
    **more: Any,
) -> Service:
    workers = options.get("workers")
    if workers is not None and workers < 0:
        raise InputError(f"workers={workers!r}: a whole number of at least 0 is wanted")
    return Service(
        explainer,
        people=people,
        title=options.get("title") or title,
        workers=min(_MAX_WORKERS, n_cores()) if workers is None else workers,
        token=options.get("token"),
        promises=options.get("promises"),
        **more,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """What is ready to be served: kept from one start to the next, as it takes a second to fit."""

    explainer: LocalFACE
    people: PeopleList
    outcomes: Outcomes | None


def _make_readiness_service(*, people: bool, options: dict[str, Any]) -> Service:
    """The generated intensive-care cohort: a forest, and the patients it was not grown on.

    Nobody in it is real, and nobody is shown with a shorter stay, another age or sex.
    """
    fitted = kept_or_made("readiness", _fit_readiness, _Fitted)
    return _make_service(
        fitted.explainer,
        fitted.people if people else None,
        "Readiness for discharge (generated patients)",
        options,
        labels=fitted.people.labels,
        outcomes=fitted.outcomes if find_spec("sklearn") else None,
    )


def _fit_readiness() -> _Fitted:
    """Fit the density of the cohort; frames and scikit-learn are not needed any more afterwards."""
    with needs_extra("demo", "the readiness cohort"):
        import pandas  # noqa: F401
    from localface.cases.readiness.cohort_recourse import SEARCH_NEIGHBORS
    from localface.cases.readiness.demonstration import make_demonstration

    cohort = make_demonstration()
    explainer = LocalFACE(
        cohort.model,
        cohort.train,
        schema=_readiness_schema(),
        search=Search(n_neighbors=SEARCH_NEIGHBORS),
    ).prescore()
    people = PeopleList.of(
        explainer, cohort.test, truth=cohort.test_ready == 1, labels=_readiness_labels()
    )
    outcomes = read_outcomes(
        cohort.model, cohort.train.to_numpy(), cohort.train_ready, n_refits=_N_REFITS
    )
    return _Fitted(explainer, people, outcomes)


def _readiness_schema() -> Schema:
    """The schema of the cohort with units and names as people write them."""
    from localface.cases.readiness.codebook import FEATURE_WORDS, UNITS, schema

    plan = schema()
    for feature in plan:
        unit = UNITS.get(feature.unit or "", feature.unit)
        plan = plan.with_(feature.name, unit=unit, label=FEATURE_WORDS[feature.name])
    return plan


def _readiness_labels() -> Labels:
    from localface.cases.readiness.codebook import FEATURE_WORDS, GROUPS, LABELS

    groups = {name: group for group, names in GROUPS.items() for name in names}
    return Labels(LABELS, FEATURE_WORDS, target="ready for discharge", groups=groups)


def _make_moons_service(*, people: bool, options: dict[str, Any]) -> Service:
    """Two crescents of people on a plane."""
    moons = two_moons()
    explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15)).prescore()
    listing = PeopleList.of(explainer, truth=moons.labels == 1) if people else None
    return _make_service(explainer, listing, "Two moons", options)


def _is_target(outcome: object, target: object) -> bool:
    """Whether an outcome is the target, be it written as a number or as text."""
    if outcome == target or str(outcome) == str(target):
        return True
    try:
        return float(str(outcome)) == float(str(target))
    except ValueError:
        return False
