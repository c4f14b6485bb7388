"""What an explainer tells of what it was fitted on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from localface.data.one_person import open_person
from localface.data.read import read_record
from localface.data.schema import Schema
from localface.density.protocol import Density
from localface.engine.engine import Engine
from localface.engine.targeting import engine_for_person, engine_for_target
from localface.options import Options


class FittedExplainer:
    """An engine with the options that it was fitted with, and what can be read off it."""

    options: Options
    _engine: Engine

    @property
    def schema(self) -> Schema:
        """What a record is, and how far a person may move."""
        return self._engine.schema

    @property
    def engine(self) -> Engine:
        """What answers requests: the package's own apps and benchmarks build on it."""
        return self._engine

    @property
    def density(self) -> Density:
        """How common the ground is."""
        return self._engine.density

    @property
    def log_floor(self) -> float:
        """The log-density that no step may fall below."""
        return self._engine.log_floor

    @property
    def model_reading(self) -> str:
        """Whether the model is called, or read directly, which gives the same in less time.

        ``"called"``, or for example ``"read directly: forest of 100 trees behind a column
        transformer"``.
        """
        return self._engine.score.reading

    def __repr__(self) -> str:
        source = self._engine.source
        found = "" if source.recall == 1 else f", {source.recall:.2%} of near rows found"
        if self.schema.notes:
            found += f", {len(self.schema.notes)} notes on what was guessed (see .schema)"
        return (
            f"<{type(self).__name__}: {self.schema.each_row.count(source.n_rows)}, "
            f"{len(self.schema)} features, "
            f"target {self._engine.answers.target.sentence}, "
            f"floor {self.options.min_density:.0%}{found}>"
        )

    def score(self, person: Any, *, target: object = None) -> float:
        """Return the model's score of a person, as answers show it: what ``min_score`` is held to.

        Parameters
        ----------
        person
            As for ``explain``.
        target
            The target that the score is of, where it is not the explainer's own.
        """
        engine = engine_for_target(self._engine, target)
        record = read_record(open_person(person), self.schema, extra=engine.extra_columns)
        scorer = engine_for_person(engine, record).score
        return scorer.display_scores(scorer(record[None, :]).tolist(), record[None, :])[0]

    def prescore(self) -> Self:
        """Score the whole table once, so that later answers need few model calls."""
        self._engine.driver.prescore()
        plan = self._engine.plan
        if self._engine.source.exact:
            # all scores are known now: ask whether any target is allowed before a row is shown
            self._engine = replace(
                self._engine,
                plan=replace(plan, walk_options=replace(plan.walk_options, patience=0)),
            )
        return self
