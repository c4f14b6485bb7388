"""What an explainer can judge: answers, what others propose, and its own floor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from localface.answers.recourse import Recourse
from localface.answers.robustness import Robustness
from localface.engine.fitted import FittedExplainer
from localface.engine.many import with_progress
from localface.engine.targeting import engine_for_person, engine_for_target

if TYPE_CHECKING:  # analyses are imported when they are asked for: together they take a while
    from localface.analyses.audit import Audit
    from localface.analyses.floor_report import FloorReport


class JudgingExplainer(FittedExplainer):
    """A fitted explainer that judges answers and proposals, and tells how well its floor does."""

    def robustness(
        self,
        recourse: Recourse,
        *,
        models: Any = None,
        n: int = 200,
        seed: int = 0,
        min_score: float | None = None,
        target: object = None,
    ) -> Robustness:
        """Tell how well an answer stands up to being followed inexactly, and to retrained models.

        Each changed feature lands within one ``resolution`` of where it should (without one:
        within 1 % of a standard deviation), uniformly, ``n`` times; whole numbers stay whole,
        and what has nothing between its values is met exactly.

        Parameters
        ----------
        recourse
            An answer of this explainer.
        models
            Other models, a list or a dict by name: each is read as ``model`` was, for the same
            target and the same ``min_score``.
        n, seed
            How many draws, and what they are drawn from.
        min_score
            The score that the answer was asked for, where that is not the explainer's own.
        target
            The target that the answer was asked for, where that is not the explainer's own.
        """
        from localface.analyses.lasting import add_lasting
        from localface.analyses.robustness import measure_robustness, read_models

        engine = engine_for_target(self._engine, target)
        engine = engine_for_person(engine, recourse.records[0]).with_thresholds(min_score=min_score)
        others = read_models(engine, models, target=engine.target, form=engine.form)
        measured = measure_robustness(engine, recourse, models=others, n=n, seed=seed)
        known = add_lasting(engine, [recourse])[0].robustness
        return replace(measured, lasting=None if known is None else known.lasting)

    def audit(
        self,
        factuals: Any,
        counterfactuals: Any,
        *,
        where: Mapping[str, Any] | None = None,
        max_seconds: float | None = None,
        progress: bool = True,
    ) -> Audit:
        """Audit counterfactuals from elsewhere: valid, allowed, common, within reach.

        Parameters
        ----------
        factuals
            The people, as for ``explain_many``.
        counterfactuals
            What is proposed to each of them, in the same order: a table or a list; a row of NaN,
            or None in a list, where nothing is.
        where
            What these people may change, as for ``explain``.
        max_seconds
            How long a way to one of them may be looked for; what is not told by then is not known.
        progress
            Whether to show a bar while ways are looked for.
        """
        from localface.analyses.audit import audit_proposals

        return audit_proposals(
            self._engine,
            (factuals, counterfactuals),
            where=where,
            form=self._engine.form,
            plan=self._engine.plan,
            max_seconds=max_seconds,
            watch=lambda found, total: with_progress(found, total, progress=progress),
        )

    def ground_report(
        self, *, groups: Any = None, seed: int = 0, progress: bool = True
    ) -> FloorReport:
        """Tell how well the floor tells people from records put together at random.

        The density in use is fitted again on a part of the rows; of the others, and of records
        whose every column is somebody else's, it is told how many clear the floor. Beside it:
        one round kernel, as in the paper, and a boosted classifier where scikit-learn is installed.

        Parameters
        ----------
        groups
            The person of each row of the data, by default as the explainer knows it: each is
            fitted on or held out with all their rows.
        seed
            Decides who is held out.
        progress
            Whether to show a bar.
        """
        from localface.analyses.floor_report import measure_floor

        return measure_floor(
            self._engine, self.options, groups=groups, seed=seed, progress=progress
        )
