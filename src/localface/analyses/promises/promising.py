"""What an explainer promises, and whether promises hold under it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localface.analyses.promises.fingerprint import Fingerprint
from localface.analyses.promises.ledger import Promises
from localface.analyses.promises.promise import Promise
from localface.answers.recourse import Recourse
from localface.engine.fitted import FittedExplainer
from localface.engine.targeting import engine_for_target
from localface.options import Ask

if TYPE_CHECKING:  # imported when it is asked for
    from localface.analyses.promises.report import Recheck


class PromisingExplainer(FittedExplainer):
    """A fitted explainer that writes its answers down as promises, and rechecks them."""

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What identifies the model, the data and the schema of this explainer."""
        return Fingerprint.of_engine(self._engine)

    def promise(
        self,
        recourse: Recourse,
        *,
        to: Promises | str | Path,
        person: object = None,
        ask: Ask | None = None,
        target: object = None,
        model_file: str | Path | None = None,
    ) -> Promise:
        """Write an answer that a person is given down, with what it rests on.

        The folder is only ever appended to, and tells when it was tampered with (see
        ``Promises``). ``recheck`` tells later what has become of the promise.

        Parameters
        ----------
        recourse
            An answer of this explainer that reaches its target.
        to
            The folder of the promises, or the promises themselves.
        person
            Your own reference for the person, by which their progress is found later.
        ask
            What was asked beyond the defaults, such as ``Ask(avoid=["age"])``: a repair keeps to
            it.
        target
            The target that the answer was asked for, where that is not the explainer's own.
        model_file
            The file that the model came from, so that what it holds is part of the fingerprint.
        """
        from localface.analyses.promises.giving import give_promise

        engine = engine_for_target(self._engine, target)
        return give_promise(
            engine,
            recourse,
            to,
            person=person,
            ask=ask,
            fingerprint=self.fingerprint.with_files(model=model_file),
        )

    def recheck(
        self,
        promises: Promises | Iterable[Promise] | str | Path,
        progress: Any = None,
        *,
        id_column: str = "person",
        repairs: str = "broken",
        max_seconds: float | None = None,
        n_jobs: int = 1,
        model_file: str | Path | None = None,
        show_progress: bool = True,
    ) -> Recheck:
        """Tell what has become of promises under this explainer's model and data.

        Of each: whether its end still reaches its target, whether the way is still on common
        ground, what of it is done and what is left, and the cheapest way on from where the person
        stands. Ctrl-C stops the search for new plans and keeps what is done.

        Parameters
        ----------
        promises
            A folder of promises, the promises of one (those that were closed are left out), or some
            of them.
        progress
            The people as they are now: a table with a column of references and any of the features,
            or a dict from reference to record. What is not there has not changed.
        id_column
            The column of references.
        repairs
            For whom a new plan is looked for: ``"broken"`` (where the plan can no longer be
            followed), ``"all"`` (also where a new one may be cheaper), or ``"none"``.
        max_seconds
            How long one search for a new plan may take.
        n_jobs
            How many processes share these searches, as for ``explain_many``.
        model_file
            As for ``promise``: whether the model is another is then told by its file.
        show_progress
            Whether to show a bar.
        """
        from localface.analyses.promises.rechecking import RepairOptions, recheck_promises

        options = RepairOptions(
            repairs=repairs, max_seconds=max_seconds, n_jobs=n_jobs, show_progress=show_progress
        )
        return recheck_promises(
            self._engine,
            promises,
            progress,
            id_column=id_column,
            fingerprint=self.fingerprint.with_files(model=model_file),
            options=options,
        )
