"""A recourse as a JSON document.

The classes name the keys of the document and their types. They stand apart from the values
that they describe, so that renaming an attribute does not change what is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np

from localface.answers.action import Action
from localface.answers.certificate import Certificate
from localface.answers.disclosure import Disclosure
from localface.answers.document_faults import describe_first_fault
from localface.answers.doubt import Doubt
from localface.answers.facts import RecourseFacts
from localface.answers.json_text import dump_json, load_json
from localface.answers.measurement import Measurement
from localface.answers.move_evidence import MoveEvidence
from localface.answers.robustness_document import (
    RobustnessDocument,
    robustness_document,
    robustness_from_document,
)
from localface.answers.status import Status
from localface.answers.target import Target
from localface.answers.waiting import Waiting
from localface.answers.wording import join_numbers
from localface.data.schema import Schema
from localface.data.table_format import TableFormat
from localface.errors import InputError, did_you_mean, how_to_upgrade, list_names

RECOURSE_FORMAT = "localface/recourse"
RECOURSE_FORMAT_VERSION = 2
_READ_VERSIONS = (1, RECOURSE_FORMAT_VERSION)

Number = int | float
"""A number as it was written: what was written as 0 is not written as 0.0 again."""

_Value = TypeVar("_Value")
_Recourse = TypeVar("_Recourse", bound=RecourseFacts)
_Document = TypeVar("_Document", bound=msgspec.Struct)


class TargetDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Target``."""

    label: str
    min_score: Number
    at_most: bool = False
    kind: str = "probability"
    max_score: Number | None = None


class CertificateDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Certificate``."""

    rule: str
    length: Number
    lowest: Number
    floor: Number
    entry: bool = False
    certified: bool = True
    people: int | None = None
    radius: Number | None = None


class DisclosureDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Disclosure``."""

    rows: int
    of: int
    questions: int = 0
    model_calls: int = 0
    rows_scored: int = 0
    seconds: dict[str, Number] = {}


class MoveEvidenceDocument(msgspec.Struct, kw_only=True):
    """A ``MoveEvidence``."""

    similar: int
    moved: int
    within: Number
    unit: str
    with_outcome: int
    fared_well: int
    others_with_outcome: int
    others_fared_well: int
    features: list[str]
    ignored: list[str]
    untold: list[str]
    radius: Number | None
    size: Number
    people: str
    well: str


class ActionDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An ``Action``; where there is no evidence, it is not mentioned."""

    changes: dict[str, Any]
    before: dict[str, Any]
    score: Number
    density: Number
    certificate: CertificateDocument
    follows: list[int]
    evidence: MoveEvidenceDocument | None = None
    effort: Number | None = None


class WaitingDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Waiting``."""

    feature: str
    value: Any
    score: Number


class MeasurementDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Measurement``."""

    feature: str
    n_values: int
    n_enough: int
    enough: str = ""


class DoubtDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A ``Doubt``."""

    feature: str
    sentence: str
    suggestion: Any = None


class RecourseDocument(msgspec.Struct, kw_only=True):
    """A ``Recourse``; what has a default is missing in documents from earlier days."""

    format: str
    version: int
    made_with: str
    status: str
    records: list[list[Number | None]]
    form: dict[str, Any]
    schema: dict[str, Any]
    scores: list[Number]
    densities: list[Number]
    certificates: list[CertificateDocument]
    rows: list[int | None]
    target: TargetDocument
    min_density: Number
    scales: list[Number]
    disclosure: DisclosureDocument
    reason: str
    relaxed_to: Number | None
    widened: dict[str, Number] = {}
    proven_within: Number | None
    settings: dict[str, Any]
    actions: list[ActionDocument]
    opens: list[list[str]] = []
    robustness: RobustnessDocument | Number | None
    composed: bool = False
    n_comparable: int | None = None
    alike_in: list[str] | None = None
    cut_short: bool = False
    waiting: WaitingDocument | None = None
    measurements: list[MeasurementDocument] = []
    cautions: list[str] = []
    doubts: list[DoubtDocument] = []


def recourse_to_json(answer: RecourseFacts, indent: int | None = None) -> str:
    """Write an answer as JSON text."""
    return dump_json(msgspec.to_builtins(_recourse_document(answer), enc_hook=_to_builtin), indent)


def recourse_from_json(text: str, cls: type[_Recourse]) -> _Recourse:
    """Build an answer from what ``recourse_to_json`` wrote."""
    plain = _parse_recourse_json(text)
    try:
        return cls(**_recourse_fields(msgspec.convert(plain, RecourseDocument)))
    except InputError:
        raise
    except msgspec.ValidationError as error:
        fault = describe_first_fault(plain, RecourseDocument) or f"is damaged ({error})"
        raise _unreadable_document_error(fault) from None
    except KeyError as error:
        raise _unreadable_document_error(f"lacks {error.args[0]!r}") from None
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise _unreadable_document_error(f"is damaged ({error})") from error


def _recourse_document(answer: RecourseFacts) -> RecourseDocument:
    written: dict[str, Any] = {
        "format": RECOURSE_FORMAT,
        "version": RECOURSE_FORMAT_VERSION,
        "made_with": answer.version,
        "status": answer.status.name,
        "records": [[None if x != x else x for x in record] for record in answer.records.tolist()],
        "form": answer.form.to_dict(),
        "schema": answer.schema.to_dict(),
        "certificates": [
            _describe_as_document(one, CertificateDocument) for one in answer.certificates
        ],
        "target": _describe_as_document(answer.target, TargetDocument),
        "disclosure": _describe_as_document(answer.disclosure, DisclosureDocument),
        "actions": [_action_document(one) for one in answer.actions],
        "doubts": [_describe_as_document(one, DoubtDocument) for one in answer.doubts],
        "measurements": [
            _describe_as_document(one, MeasurementDocument) for one in answer.measurements
        ],
    }
    if answer.robustness is not None:
        written["robustness"] = robustness_document(answer.robustness)
    if answer.waiting is not None:
        written["waiting"] = _describe_as_document(answer.waiting, WaitingDocument)
    return _describe_as_document(answer, RecourseDocument, written)


def _action_document(action: Action) -> ActionDocument:
    written: dict[str, Any] = {
        "certificate": _describe_as_document(action.certificate, CertificateDocument)
    }
    if action.evidence is not None:
        written["evidence"] = _describe_as_document(action.evidence, MoveEvidenceDocument)
    return _describe_as_document(action, ActionDocument, written)


def _describe_as_document(
    value: Any, kind: type[_Document], written: Mapping[str, Any] = {}
) -> _Document:
    """Describe a value by its attributes, save for those whose description is ``written``."""
    names = [name for name in kind.__struct_fields__ if name not in written]
    return kind(**{name: getattr(value, name) for name in names}, **written)


def _to_builtin(value: Any) -> Any:
    """Turn what msgspec does not know into something that it knows."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _recourse_fields(document: RecourseDocument) -> dict[str, Any]:
    """Turn a document back into the fields of an answer."""
    pieces = msgspec.structs.asdict(document)
    for name in ("format", "made_with"):
        del pieces[name]
    if document.robustness is not None:
        schema = Schema.from_dict(document.schema)
        pieces["robustness"] = robustness_from_document(document.robustness, schema)
    return pieces | {
        "version": document.made_with,
        "status": _status_named(document.status),
        "records": np.array(document.records, dtype=np.float64),
        "form": TableFormat.from_dict(document.form),
        "schema": Schema.from_dict(document.schema),
        "certificates": [_value_from_document(one, Certificate) for one in document.certificates],
        "target": _value_from_document(document.target, Target),
        "disclosure": _value_from_document(document.disclosure, Disclosure),
        "actions": [_action_from_document(one) for one in document.actions],
        "measurements": [_value_from_document(one, Measurement) for one in document.measurements],
        "doubts": [_value_from_document(one, Doubt) for one in document.doubts],
        "waiting": document.waiting and _value_from_document(document.waiting, Waiting),
    }


def _action_from_document(document: ActionDocument) -> Action:
    pieces = msgspec.structs.asdict(document)
    pieces["certificate"] = _value_from_document(document.certificate, Certificate)
    pieces["follows"] = tuple(document.follows)
    if document.evidence is not None:
        pieces["evidence"] = _value_from_document(document.evidence, MoveEvidence)
    if document.effort is None:  # written by a version that did not tell
        del pieces["effort"]
    return Action(**pieces)


def _value_from_document(document: msgspec.Struct, cls: type[_Value]) -> _Value:
    return cls(**msgspec.structs.asdict(document))


def _status_named(name: str) -> Status:
    known = [status.name for status in Status]
    if name not in known:
        raise InputError(
            f"there is no status {name!r}{did_you_mean(name, known)}; "
            f"statuses are {list_names(known)}"
        )
    return Status[name]


def _parse_recourse_json(text: str) -> dict[str, Any]:
    """Read the JSON and make sure that it is one of ours."""
    reads = "Recourse.from_json reads what Recourse.to_json wrote"
    try:
        document = load_json(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"this is not JSON ({error}); {reads}") from None
    if not isinstance(document, dict) or document.get("format") != RECOURSE_FORMAT:
        raise InputError(f"this JSON is no {RECOURSE_FORMAT} document; {reads}")
    version = document.get("version")
    if type(version) is not int or version not in _READ_VERSIONS:
        known = f"this localface reads {join_numbers(_READ_VERSIONS)}"
        raise InputError(
            f"this {RECOURSE_FORMAT} document has version {version!r}; {known}; {how_to_upgrade()}"
        )
    if version == 1:
        _drop_people_counts(document)
    return document


def _drop_people_counts(document: dict[str, Any]) -> None:
    """Make version 2 of version 1, where each action also counted the people around its state."""
    actions = document.get("actions")
    if isinstance(actions, list):
        for action in actions:
            if isinstance(action, dict):
                action.pop("people", None)


def _unreadable_document_error(fault: str) -> InputError:
    return InputError(f"this {RECOURSE_FORMAT} document {fault}; write it again with to_json()")
