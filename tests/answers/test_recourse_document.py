"""An answer as a JSON document."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from handmade import acted_answer, action, answer
from hypothesis import given, settings
from hypothesis import strategies as st

from localface.answers.action import Action
from localface.answers.certificate import Certificate
from localface.answers.disclosure import Disclosure
from localface.answers.move_evidence import MoveEvidence
from localface.answers.recourse import Recourse
from localface.answers.robustness import Lasting, ModelVerdict, Noise, Robustness
from localface.answers.status import Status
from localface.answers.target import Target
from localface.answers.waiting import Waiting
from localface.errors import InputError, how_to_upgrade

floats = st.floats(allow_nan=False, allow_infinity=False)


shares = st.floats(0, 1)


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


certificates = st.builds(
    Certificate,
    st.sampled_from(["strict", "average", "cover"]),
    floats,
    shares,
    shares,
    entry=st.booleans(),
    certified=st.booleans(),
    people=st.none() | st.integers(0, 99),
    radius=st.none() | floats,
)
kinds = st.sampled_from(["value", "decision"])
targets = st.builds(Target, st.text(), floats, st.booleans(), kinds)
evidences = st.none() | st.builds(
    MoveEvidence,
    similar=st.integers(50, 99),
    moved=st.integers(0, 40),
    within=floats,
    unit=st.text(),
    features=st.lists(st.text()),
    radius=st.none() | floats,
)
actions = st.builds(
    Action,
    st.just({"gcs_min": 14, "airway": "patent"}),
    st.just({"gcs_min": 9, "airway": "ventilated"}),
    floats,
    shares,
    certificates,
    follows=st.lists(st.integers(0, 9), max_size=2).map(tuple),
    evidence=evidences,
)
disclosures = st.builds(
    Disclosure, st.integers(0), st.integers(1), seconds=st.fixed_dictionaries({"model": floats})
)
standing = st.builds(
    Robustness,
    success=st.none() | shares,
    interval=st.none() | st.tuples(shares, shares),
    n=st.integers(0, 500),
    noise=st.sampled_from([(), (Noise(answer().schema["fio2"], 0.01, declared=True),)]),
    models=st.lists(
        st.builds(ModelVerdict, st.integers(1, 9) | st.text(), floats, st.booleans()), max_size=3
    ).map(tuple),
    lasting=st.none()
    | st.builds(
        Lasting, shares, st.tuples(shares, shares), st.integers(1, 20), st.integers(0, 20), shares
    ),
)
codes = st.sampled_from([0.0, 1.0])
whole = st.integers(-(2**53), 2**53).map(float)


@st.composite
def recourses(draw: st.DrawFn) -> Recourse:
    m = draw(st.integers(1, 4))

    def some(values: st.SearchStrategy[Any], n: int = m) -> tuple[Any, ...]:
        return tuple(draw(st.lists(values, min_size=n, max_size=n)))

    rows = [[draw(codes), draw(whole), draw(floats), draw(whole)] for _ in range(m)]
    return answer(
        status=draw(st.sampled_from(Status)),
        reason=draw(st.text()),
        records=np.array(rows),
        scores=some(floats),
        densities=some(shares),
        certificates=some(certificates, m - 1),
        rows=some(st.none() | st.integers(0)),
        target=draw(targets),
        min_density=draw(shares),
        relaxed_to=draw(st.none() | shares),
        widened=draw(st.sampled_from([{}, {"fio2": 0.25}])),
        proven_within=draw(st.none() | shares),
        settings=draw(st.dictionaries(st.text(), plain | st.lists(plain))),
        actions=draw(st.lists(actions, max_size=2)),
        opens=draw(st.lists(st.lists(st.text(), max_size=2), max_size=2)),
        robustness=draw(st.none() | standing),
        composed=draw(st.booleans()),
        version=draw(st.text()),
        disclosure=draw(disclosures),
    )


@settings(max_examples=100, deadline=None)
@given(recourses())
def test_json_gives_back_every_bit(one: Recourse) -> None:
    text = one.to_json()

    other = Recourse.from_json(text)

    assert other.to_json() == text
    assert other.records.tobytes() == one.records.tobytes()
    for field in fields(Recourse):
        if field.name != "records":
            assert getattr(other, field.name) == getattr(one, field.name), field.name
    assert str(other) == str(one)
    assert other._repr_html_() == one._repr_html_()


def test_json_is_versioned_and_strict() -> None:
    document = json.loads(answer().to_json(indent=2), parse_constant=pytest.fail)

    assert list(document)[:2] == ["format", "version"]
    assert (document["format"], document["version"]) == ("localface/recourse", 2)
    assert document["status"] == "FOUND"
    assert Recourse.from_json(answer().to_json()).settings["max_step"] == math.inf


def damaged(**changes: Any) -> str:
    document = {**json.loads(answer().to_json()), **changes}
    return json.dumps({name: piece for name, piece in document.items() if piece != "gone"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "this is not JSON"),
        ("{", "this is not JSON"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ("[" * 100_000, "this is not JSON"),
        ("[1]", "no localface/recourse document"),
        (damaged(format="other"), "no localface/recourse document"),
        (
            damaged(version=3),
            f"version 3; this localface reads 1 and 2; {re.escape(how_to_upgrade())}",
        ),
        (damaged(version=True), "has version True"),
        (damaged(records="gone"), "lacks 'records'"),
        (damaged(status="FOND"), "there is no status 'FOND' .did you mean 'FOUND'"),
        (damaged(schema=3), "schema|damaged"),
        (damaged(form=None), "form|damaged"),
        (damaged(records=[[1.0]]), "at least one record of 4 features; got 1 x 1"),
        (damaged(records=[["a", 1, 2, 3]]), "damaged"),
        (damaged(scores=[0.5]), "a recourse of 4 records has 4 scores; got 1"),
        (damaged(target={"label": 3, "min_score": 0.5}), "damaged .label is 3, not str"),
        (damaged(disclosure={"rows": 1, "of": 2, "colour": 3}), "damaged"),
        (damaged(min_density="low"), "damaged .min_density is 'low', not float"),
        (damaged(settings=[1]), "damaged"),
    ],
)
def test_json_that_cannot_be_read_is_refused_with_a_clear_sentence(
    text: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        Recourse.from_json(text)


def test_what_is_wrong_within_a_list_of_objects_is_named() -> None:
    document = json.loads(acted_answer().to_json())
    certificate = {**document["certificates"][0], "length": "far"}
    action_ = {**document["actions"][1], "density": "high"}
    loose = {name: piece for name, piece in document["actions"][1].items() if name != "follows"}

    for changes, sentence in [
        ({"certificates": [certificate]}, r"damaged \(length is 'far', not float\)"),
        ({"actions": [document["actions"][0], action_]}, r"\(density is 'high', not float\)"),
        ({"actions": [loose]}, "lacks 'follows'"),
        ({"scores": [0.1, "high"]}, r"damaged \(scores: Expected `int \| float`, got `str`"),
        ({"target": {"label": "a"}}, "lacks 'min_score'"),
        ({"disclosure": {"rows": 1, "of": 2, "colour": 3}}, "unknown field `colour`"),
        ({"relaxed_to": "low"}, r"relaxed_to is 'low', not float \| None"),
        ({"certificates": [3]}, "damaged .certificates: Expected `object`, got `int`"),
        ({"records": [[1, 2], [3]]}, "damaged"),
    ]:
        with pytest.raises(InputError, match=sentence):
            Recourse.from_json(json.dumps({**document, **changes}))


def test_a_part_of_the_schema_that_is_missing_is_named() -> None:
    document = json.loads(answer().to_json())
    document["form"].pop("kind")

    with pytest.raises(InputError, match="lacks 'kind'"):
        Recourse.from_json(json.dumps(document))


def test_documents_from_earlier_days_lack_what_was_not_there_yet() -> None:
    document = json.loads(answer().to_json())
    for name in ("opens", "widened", "composed"):
        document.pop(name)

    one = Recourse.from_json(json.dumps(document))

    assert one.opens == ()
    assert dict(one.widened) == {}
    assert not one.composed
    assert one.to_json() == answer().to_json()


def test_a_document_of_version_1_is_read_without_its_counts_of_people() -> None:
    document = {**json.loads(acted_answer().to_json()), "version": 1}
    for one in document["actions"]:
        one["people"] = 5

    assert Recourse.from_json(json.dumps(document)).to_json() == acted_answer().to_json()
    with pytest.raises(InputError, match="unknown field `people`"):
        Recourse.from_json(json.dumps({**document, "version": 2}))
    for broken in (3, [3]):
        with pytest.raises(InputError, match=r"damaged \(actions"):
            Recourse.from_json(json.dumps({**document, "actions": broken}))


def test_whole_numbers_stay_as_they_were_written() -> None:
    one = answer(min_density=0, target=Target("at least", 2**60, kind="value"))

    text = Recourse.from_json(one.to_json()).to_json()

    assert text == one.to_json()
    assert '"min_density": 0,' in text
    assert f'"min_score": {2**60},' in text


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    one = acted_answer(
        min_density=np.float32(0.5),
        actions=(action({"gcs_min": np.int64(14)}, {"gcs_min": np.float64(9)}),),
    )

    document = json.loads(one.to_json())

    assert document["min_density"] == 0.5
    assert document["actions"][0]["changes"] == {"gcs_min": 14}
    assert document["actions"][0]["before"] == {"gcs_min": 9.0}


def test_what_json_cannot_hold_is_refused() -> None:
    one = acted_answer(actions=(action({"gcs_min": object()}, {"gcs_min": 9}),))

    with pytest.raises(TypeError, match="object is not JSON serializable"):
        one.to_json()


def test_evidence_is_mentioned_only_where_there_is_some() -> None:
    evidence = MoveEvidence(similar=9, moved=4, within=6, features=("fio2",))
    bare = action({"gcs_min": 14}, {"gcs_min": 9})
    counted = action({"gcs_min": 14}, {"gcs_min": 9}, evidence=evidence)

    text = acted_answer(actions=(bare, counted)).to_json()

    first, second = json.loads(text)["actions"]
    assert "evidence" not in first
    assert second["evidence"] == evidence.to_dict()
    assert Recourse.from_json(text).actions[1].evidence == evidence


def test_what_waiting_would_do_is_written_and_read() -> None:
    waiting = Waiting("fio2", 0.4, 0.8)

    text = answer(waiting=waiting).to_json()

    assert json.loads(text)["waiting"] == {"feature": "fio2", "value": 0.4, "score": 0.8}
    assert Recourse.from_json(text).waiting == waiting
    assert Recourse.from_json(answer().to_json()).waiting is None


def test_a_document_of_earlier_days_tells_the_share_of_deviations_alone() -> None:
    document = json.loads(answer().to_json())
    document["robustness"] = 0.93

    read = Recourse.from_json(json.dumps(document)).robustness

    assert read is not None
    assert (read.success, read.n, read.models, read.lasting) == (0.93, 200, (), None)


def test_the_keys_of_the_document_are_these() -> None:
    document = json.loads(acted_answer().to_json())

    assert list(document) == [
        "format", "version", "made_with", "status", "records", "form", "schema", "scores",
        "densities", "certificates", "rows", "target", "min_density", "scales", "disclosure",
        "reason", "relaxed_to", "widened", "proven_within", "settings", "actions", "opens",
        "robustness", "composed", "n_comparable", "alike_in", "cut_short", "waiting",
        "measurements", "cautions", "doubts",
    ]  # fmt: skip
    assert list(document["actions"][0]) == [
        "changes", "before", "score", "density", "certificate", "follows", "effort",
    ]  # fmt: skip
    assert list(document["certificates"][0]) == [
        "rule", "length", "lowest", "floor", "entry", "certified", "people", "radius",
    ]  # fmt: skip
    assert list(document["disclosure"]) == [
        "rows", "of", "questions", "model_calls", "rows_scored", "seconds",
    ]  # fmt: skip
    assert list(document["target"]) == ["label", "min_score", "at_most", "kind", "max_score"]
