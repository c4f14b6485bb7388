"""One promise, as a value: an answer that a person was given, and what it rested on."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from localface.analyses.end_record import end_record
from localface.analyses.promises.fingerprint import Fingerprint
from localface.answers.recourse import Recourse
from localface.answers.status import Status
from localface.answers.wording import to_one_line
from localface.data.schema import Schema
from localface.engine.fingerprint import as_sorted_json, digest_of_value
from localface.errors import DamagedFile, InputError
from localface.models.wanted import OtherThan
from localface.options import Ask

_NOT_ASKED_AGAIN = ("counterfactual", "target", "min_score", "min_density", "max_seconds")
_OTHER_THAN = "other than"
_LONGEST_REASON = 300  # characters


@dataclass(frozen=True, eq=False, kw_only=True)
class Promise:
    """An answer that a person was given.

    ``number`` is its place among all entries, ``id`` the same for the same answer to the same
    person, ``time`` when it was written down (UTC), ``person`` the user's own reference.
    ``record`` is the person as they were, ``asked`` what was asked beyond the defaults, ``target``
    what was to be reached, as it was said (None: as the explainer was made), ``fingerprint`` what
    the answer rested on, and ``digest`` that of the whole entry.
    """

    number: int
    id: str
    time: str
    person: str | None
    record: Mapping[str, Any]
    answer: Mapping[str, Any] = field(repr=False)
    target: object
    asked: Mapping[str, Any]
    fingerprint: Fingerprint
    digest: str

    @cached_property
    def recourse(self) -> Recourse:
        """The answer itself; ``DamagedFile`` where it is none that can be read."""
        try:
            return Recourse.from_json(json.dumps(self.answer))
        except InputError as error:
            raise DamagedFile(
                f"the answer of entry {self.number} of the promises cannot be read: "
                f"{textwrap.shorten(str(error), _LONGEST_REASON)}"
            ) from None

    @property
    def ask(self) -> Ask:
        """What is asked again where the promise has to be repaired."""
        known = {one.name for one in fields(Ask)}
        return Ask(**{name: value for name, value in self.asked.items() if name in known})

    def __repr__(self) -> str:
        whose = "" if self.person is None else f" to {to_one_line(self.person)}"
        reached = self.recourse.target
        changed = len(self.recourse.actions) or len(self.recourse.certificates)
        return (
            f"<Promise {self.id[:8]}{whose}, {self.time}: "
            f"{changed} {'action' if changed == 1 else 'actions'} to {reached.sentence}>"
        )


def promise_entry(
    recourse: Recourse,
    *,
    person: object = None,
    ask: Ask | None = None,
    target: object = None,
    fingerprint: Fingerprint | None = None,
) -> dict[str, Any]:
    """Write an answer down as the plain values of an entry; its id is the same each time."""
    _refuse_what_is_no_promise(recourse)
    answer = json.loads(recourse.to_json())
    prints = fingerprint or Fingerprint(schema=digest_of_value(recourse.schema.to_dict()))
    plain: dict[str, Any] = {
        "person": None if person is None else str(person),
        "record": _to_plain(recourse.schema.values(recourse.records[0])),
        "answer": answer,
        "target": _plain_target(target),
        "asked": _plain_options(ask or Ask(), recourse.schema),
        "fingerprint": _to_plain(asdict(prints)),
    }
    told = {name: value for name, value in answer.items() if name != "disclosure"}
    rested = [prints.model, prints.data, prints.model_file and prints.model_file.digest]
    same = [plain["person"], told, plain["target"], plain["asked"], rested]
    return {"id": digest_of_value(same), **plain}


def read_target(plain: object) -> object:
    """Return the target that an entry holds, as an explainer takes it."""
    if isinstance(plain, dict):
        return OtherThan(plain.get(_OTHER_THAN))
    return tuple(plain) if isinstance(plain, list) else plain


def _refuse_what_is_no_promise(recourse: Recourse) -> None:
    """Refuse answers that lead nowhere: nothing is promised by them."""
    if recourse.status is not Status.ALREADY_THERE and not recourse.found:
        raise InputError(
            f"this answer promises nothing, as {recourse.status.value}: write down one that was "
            "found"
        )
    score = recourse.actions[-1].score if recourse.actions else recourse.scores[-1]
    if not recourse.target.is_reached_by(score):
        raise InputError(
            f"this answer ends at a score of {recourse.target.format_score(score)}, and wanted is "
            f"{recourse.target.sentence}: it cannot be promised"
        )
    end_record(recourse)


def _plain_target(target: object) -> object:
    if isinstance(target, OtherThan):
        return {_OTHER_THAN: _to_plain(target.label)}
    return _to_plain(target)


def _plain_options(ask: Ask, schema: Schema) -> dict[str, Any]:
    """The options of a call as JSON can hold them; a pair of limits stays one."""
    given = {
        name: value for name, value in ask.given_options().items() if name not in _NOT_ASKED_AGAIN
    }
    if "where" in given:
        given["where"] = {
            name: {"bounds": list(limit)} if _is_pair_of_limits(name, limit, schema) else limit
            for name, limit in given["where"].items()
        }
    plain: dict[str, Any] = _to_plain(given)
    return plain


def _is_pair_of_limits(name: str, limit: object, schema: Schema) -> bool:
    return isinstance(limit, tuple) and name in schema.names and not schema[name].discrete


def _to_plain(value: Any) -> Any:
    return json.loads(as_sorted_json(value))
