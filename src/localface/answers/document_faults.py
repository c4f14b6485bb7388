"""Says what is wrong with an object of a JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import msgspec


def describe_first_fault(plain: Mapping[str, Any], kind: type[msgspec.Struct]) -> str:
    """Say what is wrong with an object of a document: the first field that is no such thing.

    msgspec names the types only; whoever looks for the mistake wants to see the value too.
    """
    for field in msgspec.structs.fields(kind):
        if field.name not in plain:
            if field.required:
                return f"lacks {field.name!r}"
            continue
        value = plain[field.name]
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            if isinstance(value, list | dict):
                return (
                    _describe_fault_within(value, field.type)
                    or f"is damaged ({field.name}: {error})"
                )
            wanted = kind.__annotations__[field.name].replace("Number", "float")
            return f"is damaged ({field.name} is {value!r}, not {wanted})"
    return ""


def _describe_fault_within(value: list[Any] | dict[str, Any], wanted: Any) -> str:
    """Say what is wrong with one of the objects that a field holds, or nothing."""
    objects = [value] if isinstance(value, dict) else value
    for kind in (wanted, *get_args(wanted)):
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            faults = (describe_first_fault(one, kind) for one in objects if isinstance(one, dict))
            return next(filter(None, faults), "")
    return ""
