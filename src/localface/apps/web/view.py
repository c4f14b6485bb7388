"""An answer as a page shows it: plain values and ready text, from the same functions that print it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from localface.analyses.alternatives import Alternatives
from localface.analyses.whynot import Check
from localface.answers.action import Action
from localface.answers.changes import changes_between
from localface.answers.page import page_of
from localface.answers.recourse import Recourse
from localface.answers.target import Target
from localface.answers.wording import format_percent, one_line
from localface.data.schema import Feature
from localface.types import Array


@dataclass(frozen=True, slots=True)
class Labels:
    """What features are called: by name, the words for its categories in their order, and a phrase of what it is.

    ``target`` is what somebody is who has arrived, where that is more than the name of a class.
    """

    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    target: str = ""


_NONE = Labels()


def view_of(answer: Recourse, words: Labels = _NONE) -> dict[str, Any]:
    """Everything that a page shows of one answer, as values that JSON can hold.

    >>> from localface import LocalFACE
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(seed=0)
    >>> view = view_of(LocalFACE(moons.model, moons.data, n_neighbors=15).explain(moons.person))
    >>> view["status"], view["score"]["reached"]
    ('FOUND', True)
    """
    page, shown = page_of(answer), answer.followed()
    moved = [
        one.name for one in changes_between(answer.schema, answer.scales, *shown.records[[0, -1]])
    ]
    changed = dict.fromkeys(
        [*moved, *(name for action in answer.actions for name in action.changes)]
    )
    return {
        "status": answer.status.name,
        "word": answer.status.word,
        "sentence": answer.status.value,
        "reason": one_line(answer.reason),
        "notices": _notices(answer, page.alerts),
        "headline": one_line(repr(answer).strip("<>")),
        "person": dict(answer.schema.values(answer.records[0])),
        "score": _score(answer, shown, words),
        "density": {
            "now": answer.densities[0],
            "floor": answer.min_density,
            "text": usual(answer.densities[0]),
        },
        "actions": [_action(answer, i, words) for i in range(len(answer.actions))],
        "states": _states(shown, "after {}", words),
        "path": _states(answer, "person {}", words),
        "moved": moved,
        "features": [named(answer.schema[name], words) for name in changed],
        "opens": [list(names) for names in answer.opens],
        "disclosure": {
            "rows": answer.disclosure.rows,
            "of": answer.disclosure.of,
            "model_calls": answer.disclosure.model_calls,
            "text": answer.disclosure.sentence,
        },
        "proof": _proof(answer),
        "closing": [one_line(line) for line in page.closing],
        "robustness": answer.robustness,
        "composed": answer.composed,
    }


def check_of(found: Check, words: Labels = _NONE) -> dict[str, Any]:
    """Everything that a page shows of a wish that was checked."""
    return {
        "reachable": found.reachable,
        "sentence": one_line(repr(found).strip("<>")),
        "score": found.score,
        "score_text": found.target.show(found.score),
        "valid": found.valid,
        "density": found.density,
        "density_text": usual(found.density),
        "step": found.step.sentence,
        "refused_by": list(found.refused_by),
        "findings": [{"text": one_line(reason)} for reason in found.reasons],
        "least": one_line(found.relaxation.sentence) if found.relaxation else None,
        "view": None if found.recourse is None else view_of(found.recourse, words),
    }


def together_of(ways: Alternatives) -> dict[str, Any]:
    """What several ways share, and where they part."""
    return {
        "shared": list(ways.shared),
        "parts": " ".join(f"{line[:1].upper()}{line[1:]}." for line in _parting(ways)),
        "sentence": ways.sentence,
        "disclosure": f"at most {ways.disclosure}",
    }


def usual(share: float) -> str:
    """How usual a place is, in words."""
    return f"{format_percent(share)} of people stand on less common ground"


def named(feature: Feature, words: Labels = _NONE) -> dict[str, Any]:
    """What a feature is, for whoever shows its values."""
    labels = words.labels.get(feature.name)
    return {
        "name": feature.name,
        "unit": feature.unit,
        "kind": feature.kind,
        "categories": None if feature.categories is None else list(feature.categories),
        "labels": None if labels is None else list(labels),
        "text": words.texts.get(feature.name, ""),
        "reference": None if feature.reference is None else list(feature.reference),
        "reference_text": _reference(feature),
    }


def wanted(target: Target, words: Labels = _NONE) -> str:
    """What is wanted, in words."""
    return replace(target, label=words.target or target.label).sentence


def score_ends(target: Target, scores: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis that all of these scores have room on, and the one that is wanted."""
    if target.kind == "probability":
        return 0.0, max(1.0, *scores)
    every = [*scores, float(target.min_score)]
    return min(every), max(every)


def _reference(feature: Feature) -> str | None:
    """The range that is thought ordinary, in words."""
    if feature.reference is None:
        return None
    low, high = (
        None if end is None else feature.format(feature.code(end)) for end in feature.reference
    )
    words = (
        f"at most {high}"
        if low is None
        else f"at least {low}"
        if high is None
        else f"{low} to {high}"
    )
    return f"{words} {feature.unit}" if feature.unit else words


def _parting(ways: Alternatives) -> list[str]:
    """The lines that a printed table of ways ends with: what they have in common, and after what they part."""
    if len(ways) < 2:
        return [ways.sentence]
    lines = [
        f"all change {', '.join(ways.shared)}"
        if ways.shared
        else "no feature is changed by all of them"
    ]
    parting = ways.parting
    for i in range(len(ways)):
        for j in range(i + 1, len(ways)):
            if n := int(parting[i, j]):
                lines.append(
                    f"ways {i + 1} and {j + 1} part after {n} action{'' if n == 1 else 's'}"
                )
    return [*lines, ways.sentence]


def _score(answer: Recourse, shown: Recourse, words: Labels) -> dict[str, Any]:
    now, end, target = answer.scores[0], shown.scores[-1], answer.target
    low, high = score_ends(target, [*answer.scores, *shown.scores])
    return {
        "now": now,
        "end": end,
        "wanted": float(target.min_score),
        "at_most": target.at_most,
        "low": low,
        "high": high,
        "now_text": target.show(now),
        "end_text": target.show(end),
        "wanted_text": wanted(target, words),
        "reached": target.reached(end),
    }


def _notices(answer: Recourse, alerts: Sequence[str]) -> list[str]:
    """What nobody may overlook: relaxations first, then steps that are no ordinary steps."""
    lines = list(alerts)
    for i, action in enumerate(answer.actions, 1):
        if action.certificate.entry or not action.certificate.holds:
            lines.append(f"action {i}: {action.certificate.sentence}")
    return [one_line(line) for line in lines]


def _proof(answer: Recourse) -> str | None:
    if answer.proven_within is None:
        return None
    return f"no path over all the data is more than {format_percent(answer.proven_within)} shorter"


def _action(answer: Recourse, place: int, words: Labels) -> dict[str, Any]:
    action = answer.actions[place]
    return {
        "number": place + 1,
        "changes": [_change(answer.schema[name], action, words) for name in action.changes],
        "score": action.score,
        "score_text": answer.target.show(action.score),
        "density": action.density,
        "density_text": usual(action.density),
        "needs": [one + 1 for one in action.follows],
        "together": action.together,
        "near": action.people,
        "step": action.certificate.sentence,
        "entry": action.certificate.entry,
        "evidence": one_line(action.evidence.sentence) if action.evidence is not None else None,
    }


def _change(feature: Feature, action: Action, words: Labels) -> dict[str, Any]:
    before, after = action.before[feature.name], action.changes[feature.name]
    texts = [worded(feature, feature.code(value), words) for value in (before, after)]
    unit = f" {feature.unit}" if feature.unit else ""
    return {
        "feature": feature.name,
        "unit": feature.unit,
        "before": before,
        "after": after,
        "before_text": texts[0],
        "after_text": texts[1],
        "text": one_line(f"{feature.name} {texts[0]} → {texts[1]}{unit}"),
    }


def worded(feature: Feature, code: float, words: Labels = _NONE) -> str:
    """A value for people, without its unit: by its word, where there is one."""
    if feature.categories is None:
        return feature.format(code)
    labels = words.labels.get(feature.name)
    return one_line(labels[round(code)] if labels else feature.format(code))


def _states(answer: Recourse, label: str, words: Labels) -> list[dict[str, Any]]:
    """The states along an answer's path, the person as they are first."""
    return [
        _state(answer, i, answer.records[i], "now" if i == 0 else label.format(i), words)
        for i in range(len(answer.records))
    ]


def _state(
    answer: Recourse, place: int, record: Array, label: str, words: Labels
) -> dict[str, Any]:
    schema, codes = answer.schema, record.tolist()
    return {
        "label": label,
        "record": {
            feature.name: feature.value(code) for feature, code in zip(schema, codes, strict=True)
        },
        "text": {
            feature.name: worded(feature, code, words)
            for feature, code in zip(schema, codes, strict=True)
        },
        "score": answer.scores[place],
        "score_text": answer.target.show(answer.scores[place]),
        "density": answer.densities[place],
    }
