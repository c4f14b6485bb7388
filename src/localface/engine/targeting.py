"""The same engine for another target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from localface.answers.target import Target
from localface.errors import InputError, ModelError
from localface.models.output import class_labels, read_output
from localface.models.readable import no_classes_error
from localface.models.scorer import Scorer
from localface.models.wanted import OTHER, OtherThan, read_range
from localface.options import Options
from localface.types import Array

_EVEN = 0.5  # the probability to reach unless told otherwise
_REMEMBERED = 16  # other targets for which it is kept what was scored

if TYPE_CHECKING:
    from localface.engine.engine import Engine


def make_target(score: Scorer, min_score: float) -> Target:
    """Say what is to be reached, given how the model is read."""
    output = score.output
    high = output.range.high if output.is_folded and output.range is not None else None
    return Target(
        output.label, min_score, at_most=output.sign < 0, kind=output.kind, max_score=high
    )


def score_to_reach(model: Any, target: object, min_score: float | None) -> float:
    """Return the score to reach: a half, unless it was said, of what is no value of its own.

    Values have a scale of their own, on which no number goes without saying.
    """
    if min_score is not None:
        return min_score
    if read_range(target) is not None:
        return _EVEN
    models = model if isinstance(model, list | tuple) else [model]
    outputs = [read_output(one, target=fitted_target(one, target)) for one in models]
    if outputs and all(output.kind == "value" for output in outputs):
        raise ModelError(
            f"the model gives values, and min_score= does not say how much is wanted: give "
            f"target={outputs[0].label!r} with the number, as in min_score=120, or a range as "
            "target=(low, high)",
            option="min_score",
        )
    return _EVEN


def refuse_score_of_no_probability(model: Any, min_score: float, kind: str) -> None:
    """Refuse a score to reach that no probability is, such as 60 for 60 %."""
    models = model if isinstance(model, list | tuple) else [model]
    is_probability = kind == "probability" and all(class_labels(one) for one in models)
    if is_probability and not 0 <= min_score <= 1:
        percent = f"; for {min_score:g} %, min_score={min_score / 100:g}"
        raise ModelError(
            f"min_score={min_score:g} is no probability, and the model's score is one: give a "
            f"number from 0 to 1{percent if 1 < min_score <= 100 else ''}",
            option="min_score",
        )


def options_for_target(options: Options, target: object) -> Options:
    """Return options in which the score to reach is that of a range, where one is the target."""
    wanted = read_range(target)
    return options if wanted is None else replace(options, min_score=wanted.threshold)


def fitted_target(model: object, target: object) -> object:
    """Return the target to read a model for; where any other class will do, its first class."""
    if not means_any_other(model, target):
        return target
    classes = class_labels(model)
    if classes is None:
        raise no_classes_error(model)
    return OtherThan(classes[0])


def means_any_other(model: object, target: object) -> bool:
    """Tell whether a target is any class but the present one, and no class of that name."""
    return isinstance(target, str) and target == OTHER and OTHER not in (class_labels(model) or [])


def engine_for_target(engine: Engine, target: object) -> Engine:
    """Return the engine for another target; what was scored for it before is known."""
    if target is None or repr(target) == repr(engine.target):
        return engine
    ranged = read_range(target) is not None
    if read_range(engine.target) is not None and not ranged:
        raise InputError(
            f"target={target!r} needs a score of its own, and the explainer was made for a range: "
            "make an explainer with this target",
            option="target",
        )
    options = options_for_target(engine.options, target)
    key = repr(target)
    if key not in engine.retargeted:
        wanted = fitted_target(engine.model, target)
        score = engine.score.for_target(engine.model, wanted, min_score=options.min_score)
        while len(engine.retargeted) >= _REMEMBERED:
            engine.retargeted.pop(next(iter(engine.retargeted)))
        engine.retargeted[key] = (score, engine.driver.with_score(score))
    score, driver = engine.retargeted[key]
    score = score.with_min_score(options.min_score)
    answers = replace(
        engine.answers,
        target=make_target(score, options.min_score),
        options=options,
        display_score=score.display_score,
        display_scores=score.display_scores,
    )
    return replace(
        engine, options=options, score=score, driver=driver, answers=answers, target=target
    )


def engine_for_person(engine: Engine, record: Array) -> Engine:
    """Return the engine for one person, whose own class matters where any other is wanted."""
    if not means_any_other(engine.model, engine.target):
        return engine
    return engine_for_target(engine, OtherThan(present_class(engine, record)))


def present_class(engine: Engine, record: Array) -> object:
    """Return the class that the model gives a person."""
    classes = class_labels(engine.model) or []
    scores = {}
    for label in classes:
        against = engine_for_target(engine, OtherThan(label)).score
        scores[label] = float(against.exact_scores(record[None, :])[0])
    return min(classes, key=lambda label: scores[label])
