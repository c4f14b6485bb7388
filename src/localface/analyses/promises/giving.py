"""Gives promises: answers that an explainer still stands by are written down."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from localface.analyses.end_record import end_record
from localface.analyses.promises.fingerprint import Fingerprint
from localface.analyses.promises.ledger import Promises, open_promises
from localface.analyses.promises.promise import Promise, promise_entry
from localface.answers.recourse import Recourse
from localface.engine.engine import Engine
from localface.engine.targeting import engine_for_person
from localface.errors import InputError
from localface.options import Ask

_SAME = 1e-6  # by which scores of the same model may differ


def give_promise(
    engine: Engine,
    recourse: Recourse,
    to: Promises | str | Path,
    *,
    person: object = None,
    ask: Ask | None = None,
    fingerprint: Fingerprint,
) -> Promise:
    """Write an answer of an engine down; one that it does not stand by is refused."""
    at = engine_for_person(engine, recourse.records[0])
    _refuse_what_others_answered(at, recourse)
    entry = promise_entry(
        recourse,
        person=person,
        ask=ask,
        target=at.target,
        fingerprint=fingerprint,
    )
    (promise,) = open_promises(to).add_entries([entry])
    return promise


def _refuse_what_others_answered(engine: Engine, recourse: Recourse) -> None:
    """Refuse an answer of another explainer: its promise would be broken from the start."""
    if recourse.schema != engine.schema or recourse.target.label != engine.answers.target.label:
        raise InputError(
            f"this recourse is for {len(recourse.schema)} features and {recourse.target.sentence}, "
            f"and the explainer for {len(engine.schema)} and {engine.answers.target.sentence}: "
            "have the explainer promise it that gave it"
        )
    end = end_record(recourse)[None, :]
    score = engine.score.display_scores(engine.score(end).tolist(), end)[0]
    said = recourse.actions[-1].score if recourse.actions else recourse.scores[-1]
    if abs(score - said) > _SAME * np.maximum(1.0, abs(said)):
        written = recourse.target.format_score
        raise InputError(
            f"this recourse ends at a score of {written(said)}, and the explainer's model gives "
            f"{written(score)} there: have the explainer promise it that gave it"
        )
