"""Learns once, from models fitted again, how likely a retrained model agrees with an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localface.analyses.end_record import end_record
from localface.analyses.lasting.agreement import (
    AgreementMap,
    fit_agreement_map,
    knows_nothing,
)
from localface.analyses.lasting.margin_scale import MarginScale
from localface.analyses.lasting.next_vote import NextVote, can_learn, learn_next_vote
from localface.analyses.lasting.opinions import Opinions
from localface.answers.recourse import Recourse
from localface.data.read import read_records
from localface.engine.engine import Engine, PlannedRequest
from localface.engine.outcomes import Outcomes
from localface.errors import InputError
from localface.models.model_table import model_table_format
from localface.models.output import read_output
from localface.models.readers.verify import verified_reader_or_none
from localface.models.refitting import refits
from localface.models.scorer import Scorer
from localface.sources.holder import list_all_rows
from localface.types import Array

_SEED = 1729  # what they are drawn from: another seed than a user's own refits are likely to have
_PEOPLE = 80  # people whose answers it is learnt from
_SAMPLED = 4_000  # rows that they, and the scores to reach, are taken from
_FURTHER = (0.0, 0.1, 0.25, 0.45)  # of the rows at the target: whose margins are to be reached too
_REMEMBERED = 16  # targets for which it is kept what was learnt


@dataclass(frozen=True, slots=True, eq=False)
class LearntLasting:
    """What was learnt for one target: refits to vote, the scale of margins, and two estimates.

    The map expects something of an end whatever the refits say of it, so that it tells which
    margin to ask for; ``next_vote`` has heard them, and is None where it could not be learnt.
    """

    refits: tuple[Scorer, ...]
    scale: MarginScale
    map: AgreementMap
    next_vote: NextVote | None = None

    def opinions(self, ends: Array, margins: Array, densities: Array) -> Opinions:
        """What the refits say of ends; each is called once for all of them."""
        scores = [one(ends) for one in self.refits]
        agrees = [said >= one.min_score for said, one in zip(scores, self.refits, strict=True)]
        by_refit = [self.scale.margins(said) for said in scores]
        return Opinions(np.array(by_refit), np.array(agrees), margins, densities)

    def likely(self, known: Opinions) -> tuple[Array, tuple[Array, Array]]:
        """The probability that a retrained model agrees with each end, and its 90 % interval."""
        if self.next_vote is not None:
            return self.next_vote.probability(known)
        expected = self.map.expected(known.margins, known.densities)
        return self.map.given_votes(expected, known.n_agree, known.n_refits)


def learnt_lasting(engine: Engine) -> LearntLasting | None:
    """Return what was learnt for the engine's target, learning it first where it is not known.

    None where there are no outcomes to learn from.
    """
    outcomes = engine.outcomes
    if outcomes is None:
        return None
    key = _key_of(engine)
    if key not in outcomes.learnt:
        learnt = _learn(engine, outcomes)
        while len(outcomes.learnt) > _REMEMBERED:
            outcomes.learnt.pop(next(name for name in outcomes.learnt if name != "refits"))
        outcomes.learnt[key] = learnt
    found: LearntLasting = outcomes.learnt[key]
    return found


def has_learnt(engine: Engine) -> bool:
    """Tell whether it is known already for the engine's target."""
    return engine.outcomes is not None and _key_of(engine) in engine.outcomes.learnt


def _key_of(engine: Engine) -> tuple[object, ...]:
    """What it is remembered by: all that another answer could come of."""
    return repr(engine.target), engine.options.min_score, engine.options.min_density


def learn_before_sharing(planned: Iterable[PlannedRequest | InputError]) -> None:
    """Learn what the people ask for needs, once, before several processes share the work."""
    engines = {id(one[0]): one[0] for one in planned if not isinstance(one, InputError)}
    for engine in engines.values():
        learnt_lasting(engine)


def _learn(engine: Engine, outcomes: Outcomes) -> LearntLasting:
    """Fit the model again, search for some people, and see which refits agree with the ends."""
    rng = np.random.default_rng(_SEED)
    everyone = list_all_rows(engine.source)
    drawn = np.sort(rng.permutation(everyone)[:_SAMPLED])
    records = engine.source.records(drawn)
    scorers = tuple(_refit_scorers(engine, outcomes, records))
    scores = engine.score(records)
    scale = MarginScale.of(engine.score, scores)
    below = rng.permutation(np.flatnonzero(scores < engine.score.min_score))[:_PEOPLE]
    margins = scale.margins(scores[scores >= engine.score.min_score])
    if not len(margins) or not len(below):
        return LearntLasting(scorers, scale, knows_nothing())
    levels = np.quantile(margins, _FURTHER)
    levels[0] = 0.0
    ends = _ends_of_some(engine, records[below], [scale.score_at(one) for one in levels])
    blank = LearntLasting(scorers, scale, knows_nothing())
    if not ends:
        return blank
    states = np.stack([end_record(one) for one in ends])
    known = blank.opinions(states, scale.margins(engine.score(states)), end_densities(ends))
    fitted = fit_agreement_map(known.margins, known.densities, known.n_agree, known.n_refits)
    foretelling = learn_next_vote(known) if can_learn(known) else None
    return LearntLasting(scorers, scale, fitted, foretelling)


def end_densities(answers: Sequence[Recourse]) -> Array:
    """Return how common the ends of answers are: the share of people in less common states."""
    return np.array(
        [one.actions[-1].density if one.actions else one.densities[-1] for one in answers]
    )


def _ends_of_some(engine: Engine, people: Array, levels: Sequence[float]) -> list[Recourse]:
    """Search for people, one after the other for another score; return the answers found."""
    from tqdm.auto import tqdm

    sign = engine.score.output.sign
    engines = [engine]
    if not engine.score.output.is_folded:
        engines += [engine.with_thresholds(min_score=sign * level) for level in levels[1:]]
    asked: list[PlannedRequest] = []
    for number, record in enumerate(people):
        at = engines[number % len(engines)]
        try:
            asked.append((at, at.make_request(record, at.form), at.plan))
        except InputError:  # a row that nobody may ask about, such as one out of bounds
            continue
    found = engine.answer_together(asked)
    told = tqdm(found, total=len(asked), unit=" people", desc="how long answers last", disable=None)
    answers = dict(told)
    ordered = [answers[number] for number in sorted(answers)]
    return [one for one in ordered if isinstance(one, Recourse) and one.found]


def _refit_scorers(engine: Engine, outcomes: Outcomes, records: Array) -> list[Scorer]:
    """Read the refits for the engine's target, each directly where that gives the same."""
    found = []
    for model in _refitted(engine, outcomes):
        output = read_output(model, target=engine.target)
        form = model_table_format(model, engine.form, engine.schema)
        reader = verified_reader_or_none(model, output, form, records)
        threshold = engine.options.min_score
        found.append(Scorer(output, form, min_score=threshold, reader=reader))
    return found


def _refitted(engine: Engine, outcomes: Outcomes) -> list[Any]:
    """Fit the model again, once, on tables of the kind that it is called with."""
    if "refits" not in outcomes.learnt:
        form = model_table_format(outcomes.model, engine.form, engine.schema)
        table = form.make_table(read_records(outcomes.data, engine.schema))
        outcomes.learnt["refits"] = refits(
            outcomes.model,
            table,
            outcomes.labels,
            n=outcomes.n_refits,
            seed=_SEED,
            groups=outcomes.people,
        )
    found: list[Any] = outcomes.learnt["refits"]
    return found
