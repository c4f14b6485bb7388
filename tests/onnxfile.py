"""Writes small ONNX files by hand, so that the tests need no library for that."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

_FLOAT, _INT64, _STRING = 1, 7, 8


def write_classifier(
    path: Path, weights: Sequence[float], *, names: Sequence[str] = (), zipmap: bool = False
) -> Path:
    """Write a logistic model of "not yet" and "ready"; with ``names``, one input a column."""
    labels = [_strings("classlabels_strings", ["not yet", "ready"])]
    both = [*(-weight for weight in weights), *weights]
    options = [
        _floats("coefficients", both),
        _floats("intercepts", [0.0, 0.0]),
        _text("post_transform", "SOFTMAX"),
    ]
    nodes = [_node("LinearClassifier", ["X"], ["label", "scores"], options + labels)]
    if names:
        nodes.insert(0, _node("Concat", names, ["X"], [_whole("axis", 1)], domain=""))
    if zipmap:
        nodes.append(_node("ZipMap", ["scores"], ["probabilities"], labels))
    scores = (
        _value("probabilities", _listed_map())
        if zipmap
        else _value("scores", _tensor(_FLOAT, [None, 2]))
    )
    outputs = [_value("label", _tensor(_STRING, [None])), scores]
    return _write(path, nodes, _columns(names, len(weights)), outputs)


def write_regressor(path: Path, weights: Sequence[float]) -> Path:
    """Write a linear model that gives one value a record."""
    options = [_floats("coefficients", weights), _floats("intercepts", [0.0])]
    node = _node("LinearRegressor", ["X"], ["value"], options)
    return _write(
        path, [node], _columns((), len(weights)), [_value("value", _tensor(_FLOAT, [None, 1]))]
    )


def write_labeller(path: Path) -> Path:
    """Write a model that gives no scores."""
    node = _node("Cast", ["X"], ["label"], [_whole("to", _INT64)], domain="")
    return _write(path, [node], _columns((), 2), [_value("label", _tensor(_INT64, [None, 2]))])


def _write(
    path: Path, nodes: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes]
) -> Path:
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"graph")
    graph += b"".join(_field(11, one) for one in inputs) + b"".join(
        _field(12, one) for one in outputs
    )
    opsets = [_field(1, b"") + _field(2, 15), _field(1, b"ai.onnx.ml") + _field(2, 1)]
    path.write_bytes(_field(1, 8) + _field(7, graph) + b"".join(_field(8, one) for one in opsets))
    return path


def _columns(names: Sequence[str], width: int) -> list[bytes]:
    wide = [("X", width)] if not names else [(name, 1) for name in names]
    return [_value(name, _tensor(_FLOAT, [None, columns])) for name, columns in wide]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _node(
    kind: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    options: Sequence[bytes],
    *,
    domain: str = "ai.onnx.ml",
) -> bytes:
    names = b"".join(_field(1, name.encode()) for name in inputs) + b"".join(
        _field(2, o.encode()) for o in outputs
    )
    return (
        names
        + _field(4, kind.encode())
        + b"".join(_field(5, one) for one in options)
        + _field(7, domain.encode())
    )


def _floats(name: str, values: Sequence[float]) -> bytes:
    packed = b"".join(_varint(7 << 3 | 5) + struct.pack("<f", value) for value in values)
    return _field(1, name.encode()) + packed + _field(20, 6)


def _strings(name: str, values: Sequence[str]) -> bytes:
    return (
        _field(1, name.encode())
        + b"".join(_field(9, value.encode()) for value in values)
        + _field(20, 8)
    )


def _text(name: str, value: str) -> bytes:
    return _field(1, name.encode()) + _field(4, value.encode()) + _field(20, 3)


def _whole(name: str, value: int) -> bytes:
    return _field(1, name.encode()) + _field(3, value) + _field(20, 2)


def _value(name: str, kind: bytes) -> bytes:
    return _field(1, name.encode()) + _field(2, kind)


def _tensor(element: int, shape: Sequence[int | None]) -> bytes:
    sizes = [_field(2, b"N") if size is None else _field(1, size) for size in shape]
    return _field(1, _field(1, element) + _field(2, b"".join(_field(1, size) for size in sizes)))


def _listed_map() -> bytes:
    return _field(4, _field(1, _field(5, _field(1, _STRING) + _field(2, _tensor(_FLOAT, [])))))
