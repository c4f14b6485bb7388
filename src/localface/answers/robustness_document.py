"""How well an answer stands up, as part of a JSON document."""

from __future__ import annotations

import msgspec

from localface.answers.intervals import wilson_interval
from localface.answers.robustness import (
    ROBUSTNESS_DRAWS,
    Lasting,
    ModelVerdict,
    Noise,
    Robustness,
)
from localface.data.schema import Schema

Number = int | float
"""A number as it was written."""


class NoiseDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Noise``."""

    feature: str
    amount: Number
    declared: bool


class VerdictDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``ModelVerdict``."""

    name: str | int
    score: Number
    valid: bool


class LastingDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Lasting``."""

    probability: Number
    interval: tuple[Number, Number]
    n_refits: int
    n_agree: int
    wanted: Number | None = None


class RobustnessDocument(
    msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A ``Robustness``."""

    success: Number | None = None
    interval: tuple[Number, Number] | None = None
    n: int = 0
    seed: int = 0
    noise: list[NoiseDocument] = []
    models: list[VerdictDocument] = []
    lasting: LastingDocument | None = None


def robustness_document(known: Robustness) -> RobustnessDocument:
    """Describe what is known."""
    return RobustnessDocument(
        success=known.success,
        interval=known.interval,
        n=known.n,
        seed=known.seed,
        noise=[
            NoiseDocument(feature=one.feature.name, amount=one.amount, declared=one.declared)
            for one in known.noise
        ],
        models=[VerdictDocument(**one._asdict()) for one in known.models],
        lasting=None if known.lasting is None else _lasting_document(known.lasting),
    )


def robustness_from_document(written: RobustnessDocument | Number, schema: Schema) -> Robustness:
    """Turn a document back; earlier ones hold the share of small deviations alone."""
    if not isinstance(written, RobustnessDocument):
        interval = wilson_interval(written, ROBUSTNESS_DRAWS)
        return Robustness(success=written, interval=interval, n=ROBUSTNESS_DRAWS)
    lasting = written.lasting
    return Robustness(
        success=written.success,
        interval=written.interval,
        n=written.n,
        seed=written.seed,
        noise=tuple(Noise(schema[one.feature], one.amount, one.declared) for one in written.noise),
        models=tuple(ModelVerdict(one.name, one.score, one.valid) for one in written.models),
        lasting=None if lasting is None else Lasting(**msgspec.structs.asdict(lasting)),
    )


def _lasting_document(known: Lasting) -> LastingDocument:
    return LastingDocument(
        probability=known.probability,
        interval=known.interval,
        n_refits=known.n_refits,
        n_agree=known.n_agree,
        wanted=known.wanted,
    )
