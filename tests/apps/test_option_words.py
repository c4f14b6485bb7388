"""Messages of the library, in the words of the command line."""

from __future__ import annotations

import pytest

from localface.apps.cli.option_words import in_options


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("avoid= names 'solar'", "--avoid names 'solar'"),
        ("min_score=0.9: give a number", "--min-score 0.9: give a number"),
        (
            "say target='at least' or target='at most'",
            "say --target 'at least' or --target 'at most'",
        ),
        ("give target=(low, high)", "give --target LOW:HIGH"),
        ("for what must not, avoid=['income']", "for what must not, --avoid income"),
        (
            "best_effort=True and min_robustness= cannot",
            "--best-effort and --min-robustness cannot",
        ),
        (
            "(low, high), with None for an open end; so",
            "LOW:HIGH, with nothing for an open end; so",
        ),
        ("give it as groups=)", "give it as --groups)"),
        (
            "it has 'age'; give None for what is not known",
            "it has 'age'; give null for what is not known",
        ),
        ("if not, schema.with_('late', codes=None)", "if not, leave out codes in its block"),
    ],
)
def test_what_to_pass_becomes_what_to_type(message: str, said: str) -> None:
    assert in_options(message) == said


@pytest.mark.parametrize(
    "message",
    [
        "density='kdee': 'kde' is wanted",  # no option of the command line
        "call f(avoid=3)",
        "groups=range(len(data)) if every row is somebody else's",
        "--weights income is no FEATURE=NUMBER, as in income=3",
    ],
)
def test_what_is_no_option_stays_as_it_is(message: str) -> None:
    assert in_options(message) == message
