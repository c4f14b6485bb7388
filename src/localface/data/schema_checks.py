"""Checks of a schema's features: that they are some, named once, and that one setting rules."""

from __future__ import annotations

from localface.data.feature import Feature
from localface.data.feature_checks import OWN
from localface.errors import SchemaError, list_names


def settled_kind(old: Feature, given: dict[str, object]) -> dict[str, object]:
    """Take away what only made sense for the old kind, unless it is given anew."""
    kind = given.get("kind", old.kind)
    if kind == old.kind:
        return given
    if kind == "ordinal" and old.codes and "codes" not in given:
        raise _codes_in_order_error(old)
    given = {"resolution": None, "comparable": None, **given}
    becomes_number = kind in ("numeric", "integer")
    if becomes_number:
        given = {"categories": None, **given}
    if becomes_number == old.discrete:
        given = {"codes": None, **given}
    if kind in ("binary", "categorical"):
        given = {"bounds": None, "reference": None, "within": None, **given}
        if old.moves == "grows":
            given = {"moves": "never", **given}
    return given


def _codes_in_order_error(old: Feature) -> SchemaError:
    """Say that codes would become steps of an order, and what to do about them."""
    codes = list(old.codes or ())
    return SchemaError(
        f"{old.name!r} has the codes {list_names(codes)}, which have no place in an order: leave "
        f"them missing in the table, data[{old.name!r}].replace({codes!r}, None), and give "
        "codes=None here; or keep it kind='categorical'",
        feature=old.name,
    )


def note_on_order(old: Feature, new: Feature, given: dict[str, object]) -> list[str]:
    """Say that categories became an order as the alphabet has them, where nobody gave one."""
    names = [str(one) for one in new.categories or ()]
    unasked = new.kind == "ordinal" != old.kind and given.get("categories") is None
    texts = all(isinstance(one, str) for one in new.categories or ())
    if not (unasked and texts and names == sorted(names)):
        return []
    order = f"{new.name!r} is in the order of the alphabet, {', '.join(names)}"
    line = f"schema.with_({new.name!r}, categories=[...])"
    return [f"{order}: if that is not from lowest to highest, {line}"]


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
