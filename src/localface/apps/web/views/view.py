"""An answer as a page shows it, in values that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from localface.analyses.whynot import Check
from localface.answers.action import Action
from localface.answers.changes import changes_between
from localface.answers.disclosure import Disclosure
from localface.answers.doubt import Doubt
from localface.answers.page import alert_lines, changes_by_action, page_of
from localface.answers.purpose import purpose_besides_score
from localface.answers.recourse import Recourse
from localface.answers.target import Target
from localface.answers.wording import format_percent, to_one_line
from localface.apps.web.views.labels import (
    NO_LABELS,
    Labels,
    feature_view,
    target_text,
    value_text,
)
from localface.apps.web.views.robustness_view import robustness_view
from localface.apps.web.views.words import (
    change_text,
    fact_lines,
    floor_kept,
    floor_kept_text,
    on_the_way_text,
    order_text,
    usual_text,
)
from localface.data.absence import is_absent
from localface.data.feature import Feature
from localface.data.schema import Schema
from localface.types import Array


def answer_view(answer: Recourse, labels: Labels = NO_LABELS) -> dict[str, Any]:
    """Everything that a page shows of one answer, as values that JSON can hold.

    >>> from localface import LocalFACE, Search
    >>> from localface.cases.moons import two_moons
    >>> moons = two_moons(seed=0)
    >>> explainer = LocalFACE(moons.model, moons.data, search=Search(n_neighbors=15))
    >>> view = answer_view(explainer.explain(moons.person))
    >>> view["status"], view["score"]["reached"]
    ('FOUND', True)
    """
    followed = answer.with_actions_as_path()
    return {
        **_words_view(answer, labels),
        "each_row": {"one": answer.schema.each_row.one, "many": answer.schema.each_row.many},
        "person": _record_view(answer.schema, answer.records[0]),
        "score": _score_view(answer, followed, labels),
        "density": _density_view(answer),
        "actions": [_action_view(answer, i, labels) for i in range(len(answer.actions))],
        "states": _state_views(followed, "after {}", labels),
        "path": _state_views(answer, f"{answer.schema.each_row.one} {{}}", labels),
        **_features_view(answer, followed, labels),
        "opens": [list(names) for names in answer.opens],
        "disclosure": _disclosure_view(answer.disclosure),
        **robustness_view(answer),
        "composed": answer.composed,
        "cut_short": answer.cut_short,
        "n_comparable": answer.n_comparable,
        "effort": round(float(answer.effort), 6) if answer.actions else None,
        "missing": list(answer.missing),
    }


def _features_view(answer: Recourse, followed: Recourse, labels: Labels) -> dict[str, Any]:
    """What is moved by the actions and along the path, with all that draws these features."""
    moved = _features_moved_along(followed)
    path_moved = _features_moved_along(answer)
    acted_on = [name for action in answer.actions for name in action.changes]
    shown = dict.fromkeys([*moved, *acted_on, *path_moved])
    return {
        "moved": moved,
        "path_moved": path_moved,
        "features": [feature_view(answer.schema[name], labels) for name in shown],
    }


def _words_view(answer: Recourse, labels: Labels) -> dict[str, Any]:
    """What is said of an answer as a whole."""
    return {
        "status": answer.status.name,
        "word": answer.status.word,
        "sentence": answer.status.value,
        "reason": _with_target_words(answer.reason, answer.target, labels),
        "cautions": [to_one_line(line) for line in answer.cautions],
        "doubts": [_doubt_view(answer.schema[one.feature], one, labels) for one in answer.doubts],
        "notices": _notice_lines(answer),
        "headline": to_one_line(repr(answer).strip("<>")),
        "proof": _proof_text(answer),
        "closing": [to_one_line(line) for line in page_of(answer).closing],
        "facts": fact_lines(answer),
    }


def check_view(found: Check, labels: Labels = NO_LABELS) -> dict[str, Any]:
    """Everything that a page shows of a wish that was checked."""
    return {
        "cautions": [to_one_line(line) for line in found.cautions],
        "reachable": found.reachable,
        "sentence": to_one_line(repr(found).strip("<>")),
        "score": found.score,
        "score_text": found.target.format_score(found.score),
        "valid": found.valid,
        "density": found.density,
        "density_text": usual_text(found.density, found.schema.each_row),
        "step": found.step_sentence,
        "refused_by": list(found.refused_by),
        "findings": [
            {"text": _with_target_words(reason, found.target, labels)} for reason in found.reasons
        ],
        "pair": None if found.pair is None else found.pair.to_dict(),
        "least": to_one_line(found.relaxation.sentence) if found.relaxation else None,
        "view": None if found.recourse is None else answer_view(found.recourse, labels),
    }


def _features_moved_along(answer: Recourse) -> list[str]:
    """Every feature that any state of a path has otherwise than the person, the largest first.

    A feature that goes and comes back is among them: the states between have another value.
    """
    names: dict[str, None] = {}
    for record in answer.records[:0:-1]:  # what the end differs in stands first
        changes = changes_between(answer.schema, answer.scales, answer.records[0], record)
        names |= dict.fromkeys(one.name for one in changes)
    return list(names)


def _with_target_words(text: str, target: Target, labels: Labels) -> str:
    """A sentence of the library's with the target in the user's words."""
    return to_one_line(text.replace(target.sentence, target_text(target, labels)))


def score_axis(target: Target, scores: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis that all of these scores have room on, and the one that is wanted."""
    if target.kind == "probability":
        return 0.0, max(1.0, *scores)
    ends = [target.min_score, target.max_score]
    shown = [*scores, *(float(end) for end in ends if end is not None)]
    return min(shown), max(shown)


def _record_view(schema: Schema, record: Array) -> dict[str, Any]:
    """A record feature by feature; dates are written as such, and may be sent back so."""
    return {
        feature.name: feature.format(code)
        if feature.since is not None and not is_absent(feature, np.asarray(code))
        else feature.value(code)
        for feature, code in zip(schema, record.tolist(), strict=True)
    }


def _score_view(answer: Recourse, followed: Recourse, labels: Labels) -> dict[str, Any]:
    target = answer.target
    now = answer.scores[0]
    end = followed.scores[-1]
    low, high = score_axis(target, [*answer.scores, *followed.scores])
    return {
        "noun": target.noun,
        "now": now,
        "end": end,
        "wanted": float(target.min_score),
        "at_most": target.at_most,
        "low": low,
        "high": high,
        "now_text": target.format_score(now),
        "end_text": target.format_score(end),
        "wanted_text": target_text(target, labels),
        "reached": target.is_reached_by(end),
    }


def _density_view(answer: Recourse) -> dict[str, Any]:
    now = answer.densities[0]
    return {
        "now": now,
        "floor": answer.min_density,
        "text": usual_text(now, answer.schema.each_row),
        "kept": floor_kept(answer),
        "kept_text": floor_kept_text(answer),
    }


def _disclosure_view(disclosure: Disclosure) -> dict[str, Any]:
    return {
        "rows": disclosure.rows,
        "of": disclosure.of,
        "model_calls": disclosure.model_calls,
        "text": disclosure.sentence,
    }


def _notice_lines(answer: Recourse) -> list[str]:
    """What nobody may overlook: relaxations first, then steps that are no ordinary steps."""
    lines = list(alert_lines(answer))
    for i, action in enumerate(answer.actions, 1):
        if action.certificate.entry or not action.certificate.holds:
            lines.append(f"action {i}: {action.certificate.sentence_about(answer.schema.each_row)}")
    for i, step in enumerate(() if answer.actions else answer.certificates, 1):
        if step.entry or not step.holds:
            lines.append(f"step {i}: {step.sentence_about(answer.schema.each_row)}")
    return [to_one_line(line) for line in lines]


def _proof_text(answer: Recourse) -> str | None:
    if answer.proven_within is None:
        return None
    return f"no path over all the data is more than {format_percent(answer.proven_within)} shorter"


def _action_view(answer: Recourse, index: int, labels: Labels) -> dict[str, Any]:
    action = answer.actions[index]
    return {
        "number": index + 1,
        "changes": [
            _change_view(one.feature, action, labels) for one in changes_by_action(answer, action)
        ],
        "score": action.score,
        "score_text": answer.target.format_score(action.score),
        "density": action.density,
        "density_text": f"afterwards {usual_text(action.density, answer.schema.each_row)}",
        "below_floor": bool(action.density < answer.min_density),
        "needs": [one + 1 for one in action.follows],
        "order": order_text(action),
        "together": action.together,
        "step": action.certificate.sentence_about(answer.schema.each_row),
        "purpose": purpose_besides_score(answer, index),
        "on_the_way": on_the_way_text(action.certificate, action.density, answer.schema.each_row),
        "entry": action.certificate.entry,
        "evidence": to_one_line(action.evidence.sentence) if action.evidence is not None else None,
    }


def _doubt_view(feature: Feature, doubt: Doubt, labels: Labels) -> dict[str, Any]:
    meant = doubt.suggestion
    text = None if meant is None else value_text(feature, feature.code(meant), labels)
    return {
        "feature": feature.name,
        "text": to_one_line(doubt.sentence),
        "suggestion": meant,
        "suggestion_text": text,
    }


def _change_view(feature: Feature, action: Action, labels: Labels) -> dict[str, Any]:
    before = action.before[feature.name]
    after = action.changes[feature.name]
    before_text = value_text(feature, feature.code(before), labels)
    after_text = value_text(feature, feature.code(after), labels)
    unit = f" {feature.unit}" if feature.unit else ""
    return {
        "feature": feature.name,
        "unit": feature.unit,
        "before": before,
        "after": after,
        "before_text": before_text,
        "after_text": after_text,
        "text": to_one_line(f"{feature.display_name} {before_text} → {after_text}{unit}"),
        "words": change_text(
            feature, before_text, after_text, rises=_rises(feature, before, after)
        ),
    }


def _rises(feature: Feature, before: Any, after: Any) -> bool | None:
    """Whether a change is a rise; None where values are no numbers or one of them is missing."""
    codes = (feature.code(before), feature.code(after))
    if feature.categories is not None or is_absent(feature, np.asarray(codes)).any():
        return None
    return bool(codes[1] > codes[0])


def _state_views(answer: Recourse, label: str, labels: Labels) -> list[dict[str, Any]]:
    """The states along an answer's path, the person as they are first."""
    return [
        _state_view(answer, i, answer.records[i], "now" if i == 0 else label.format(i), labels)
        for i in range(len(answer.records))
    ]


def _state_view(
    answer: Recourse, index: int, record: Array, label: str, labels: Labels
) -> dict[str, Any]:
    values = list(zip(answer.schema, record.tolist(), strict=True))
    return {
        "label": label,
        "record": {feature.name: feature.value(code) for feature, code in values},
        "text": {feature.name: value_text(feature, code, labels) for feature, code in values},
        "score": answer.scores[index],
        "score_text": answer.target.format_score(answer.scores[index]),
        "density": answer.densities[index],
    }
