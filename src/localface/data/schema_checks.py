"""Checks of a schema's features: that they are some, named once, and that one setting rules."""

from __future__ import annotations

from localface.data.feature import Feature
from localface.data.feature_checks import OWN
from localface.errors import SchemaError, list_names


def settled_protection(old: Feature, given: dict[str, object]) -> dict[str, object]:
    """Let what is said last win: of moving and of being protected, one rules out the other."""
    if given.get("protected") and not old.own:
        return {"moves": "never", **given}
    if given.get("moves", old.moves) not in OWN:
        return {"protected": False, "comparable": None, **given}
    return given


def check_features(features: tuple[object, ...]) -> None:
    """Refuse what is no feature."""
    for feature in features:
        if not isinstance(feature, Feature):
            raise SchemaError(
                f"a schema is made of features, and {feature!r} is none: write Feature({feature!r})"
            )


def check_feature_names(names: tuple[str, ...]) -> None:
    """Refuse a schema without features, or with two of one name."""
    if not names:
        raise SchemaError("a schema needs at least one feature")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise SchemaError(
            f"the schema names {list_names(twice)} more than once: "
            "each feature needs a name of its own",
            feature=twice[0],
        )
