"""Options: named, documented and checked once, and taken by every shell from there."""

from __future__ import annotations

import argparse
import inspect
import pickle
from dataclasses import fields

import pytest

from localface import Ask, LocalFACE, Search
from localface.apps.cli.ask_options import add_ask_options, read_ask
from localface.apps.web.bodies.requests import CheckAsk, RecourseAsk
from localface.cases.moons import two_moons
from localface.errors import InputError
from localface.options import AskAlternatives, AskCheck, AskMany, Options, accepted_options

CALLS = {
    "explain": Ask,
    "explain_many": AskMany,
    "alternatives": AskAlternatives,
    "check": AskCheck,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_method_takes_and_describes_every_option_of_its_ask(name: str) -> None:
    method = getattr(LocalFACE, name)
    wanted = {one.name for one in accepted_options(CALLS[name])}

    assert wanted == set(list(inspect.signature(method).parameters)[2:])
    assert all(f"\n        {option}\n" in (method.__doc__ or "") for option in wanted)


@pytest.mark.parametrize("option", ["min_score", "min_density", "max_seconds", "lasting"])
def test_a_number_in_text_is_no_number(option: str) -> None:
    with pytest.raises(InputError, match=f"{option}='0.5': a .* is wanted"):
        Ask(**{option: "0.5"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("option", "place"),
    [
        ("max_rows", r": it holds for all calls, LocalFACE\(\.\.\., max_rows=\.\.\.\)"),
        ("n_neighbors", r": it holds .*, LocalFACE\(\.\.\., search=Search\(n_neighbors=\.\.\.\)\)"),
        ("max_feature", r" \(did you mean 'max_features'\?\)"),
    ],
)
def test_an_option_of_the_explainer_is_told_where_it_goes(option: str, place: str) -> None:
    moons = two_moons(seed=0)
    with pytest.raises(TypeError, match=f"keyword argument '{option}'{place}$"):
        LocalFACE(moons.model, moons.data).explain(moons.data[0], **{option: 5})


def test_the_service_takes_every_option_of_an_ask() -> None:
    assert {one.name for one in accepted_options(Ask)} <= set(RecourseAsk.model_fields)
    assert {one.name for one in accepted_options(AskCheck)} <= set(CheckAsk.model_fields)


def test_the_command_line_takes_every_option_of_an_ask() -> None:
    parser = argparse.ArgumentParser()
    add_ask_options(parser)
    flags = [
        "--where",
        "x0=1",
        "--weights",
        "x1=3",
        "--avoid",
        "x0",
        "--relax",
        "--no-actions",
        "--max-changes",
        "2",
    ]

    ask = read_ask(parser.parse_args(flags), two_moons_schema())

    said = {"where", "weights", "avoid", "relax", "actions", "max_changes"}
    assert set(ask.given_options()) == said
    assert ask.weights == {"x1": 3}
    assert ask.avoid == ["x0"]
    assert not ask.actions


def two_moons_schema():
    moons = two_moons(seed=0)
    return LocalFACE(moons.model, moons.data).schema


def test_a_misspelt_option_suggests_the_one_that_was_meant() -> None:
    moons = two_moons(seed=0)
    explainer = LocalFACE(moons.model, moons.data)

    with pytest.raises(TypeError, match=r"explain\(\) got .*'relaxed' \(did you mean 'relax'\?\)"):
        explainer.explain(moons.person, relaxed=True)


def test_every_mistake_is_told_at_once_and_the_first_is_named() -> None:
    with pytest.raises(InputError, match=r"min_density=2: .*; max_changes=0: ") as caught:
        Ask(min_density=2, max_changes=0)

    assert caught.value.option == "min_density"


@pytest.mark.parametrize(
    ("kind", "options", "refused"),
    [
        (AskMany, {"min_robustness": 0.9}, "explain_many takes no min_robustness="),
        (AskAlternatives, {"min_robustness": 0.9}, "alternatives takes no min_robustness="),
        (AskAlternatives, {"actions": False}, "alternatives differ by what the actions change"),
        (AskAlternatives, {"n": 0}, "n=0: a whole number of at least 1 is wanted"),
        (AskMany, {"on_error": "ignore"}, "on_error='ignore': one of 'raise', 'record'"),
    ],
)
def test_what_a_call_has_no_use_for_is_refused(kind, options, refused) -> None:
    with pytest.raises(InputError, match=refused):
        kind(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": "strct"}, "did you mean 'strict'"),
        ({"n_neighbors": 0}, "n_neighbors=0: a whole number of at least 1"),
        ({"min_people": 0}, "min_people=0: a whole number of at least 1"),
        ({"slack": -1}, "slack=-1: a share of at least 0"),
        ({"radius": 0}, "radius=0: a positive number is wanted, or None"),
        ({"round_values": "no"}, "round_values='no': True or False is wanted"),
    ],
)
def test_a_search_that_cannot_be_is_refused(options, message) -> None:
    moons = two_moons(seed=0)
    with pytest.raises(InputError, match=message):
        LocalFACE(moons.model, moons.data, search=Search(**options))


def test_only_what_differs_from_the_defaults_was_said() -> None:
    assert Ask().given_options() == {}
    assert Ask(relax=True, avoid=(), actions=True).given_options() == {"relax": True}


def test_an_ask_travels_between_processes() -> None:
    ask = Ask(where={"age": 5}, relax=True)
    assert pickle.loads(pickle.dumps(ask)) == ask


def test_the_settings_on_record_hold_every_option_of_the_search() -> None:
    options = Options(min_score=0.5, min_density=0.05, max_rows=None, density=len)
    assert {one.name for one in fields(Search)} < set(options.as_plain_values())
    assert options.as_plain_values()["density"] == "builtin_function_or_method"


def test_something_else_in_place_of_a_search_is_refused() -> None:
    moons = two_moons(seed=0)
    with pytest.raises(InputError, match=r"search= is a dict: give localface.Search"):
        LocalFACE(moons.model, moons.data, search={"n_neighbors": 5})


def test_a_function_as_cost_is_told_what_to_use_instead():
    with pytest.raises(InputError, match=r"explain\(person, weights=\{'income': 3\}\)"):
        Options.with_search(
            Search(cost=lambda step: 1.0),
            min_score=0.5,
            min_density=0.05,
            max_rows=None,
            density="kde",
        )
