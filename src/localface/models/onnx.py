"""Models in ONNX files, with the methods that scikit-learn gives a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from localface.data.opening import reraise_as
from localface.errors import ModelError, list_names, needs_extra
from localface.types import Array

_TYPES: dict[str, npt.DTypeLike] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
_SCORES = ("tensor(float)", "tensor(double)", "tensor(float16)")
_LABELS = ("tensor(int64)", "tensor(int32)", "tensor(string)")
_ENOUGH = 1000  # predictions to learn the names of the classes from


@dataclass(frozen=True, slots=True, eq=False)
class OnnxGraph:
    """A loaded file: what it takes, and which of its outputs are scores and predicted labels."""

    session: Any
    inputs: Mapping[str, npt.DTypeLike]
    width: int | None
    scores: str
    labels: str | None

    @property
    def input_names(self) -> list[str] | None:
        """The columns that the file asks for by name, where it does."""
        return list(self.inputs) if len(self.inputs) > 1 else None

    def run(self, table: Any) -> tuple[Any, Any]:
        """Return scores and predicted labels (or None) for a table."""
        wanted = [self.scores] if self.labels is None else [self.scores, self.labels]
        scores, *labels = self.session.run(wanted, self._inputs_by_name(table))
        return scores, labels[0] if labels else None

    def _inputs_by_name(self, table: Any) -> dict[str, Any]:
        if len(self.inputs) == 1:
            ((name, dtype),) = self.inputs.items()
            return {name: np.ascontiguousarray(np.asarray(table), dtype=dtype)}
        frame = nw.from_native(table, eager_only=True)
        return {
            name: frame[name].to_numpy().astype(dtype)[:, None]
            for name, dtype in self.inputs.items()
        }


@dataclass(frozen=True, slots=True, eq=False)
class OnnxClassifier:
    """A classifier in an ONNX file."""

    graph: OnnxGraph
    classes_: tuple[Any, ...]

    @property
    def feature_names_in_(self) -> list[str] | None:
        """The columns that the model asks for by name, where it does."""
        return self.graph.input_names

    @property
    def n_features_in_(self) -> int | None:
        """How many columns the model takes, where it says so."""
        return self.graph.width

    def predict_proba(self, table: Any) -> Array:
        """Return one score a class, row by row."""
        scores, _ = self.graph.run(table)
        if isinstance(scores, list):  # a ZipMap: one dict a row
            return np.array(
                [[row[name] for name in self.classes_] for row in scores], dtype=np.float64
            )
        return np.asarray(scores, dtype=np.float64)

    def with_class_names_from(self, table: Any) -> OnnxClassifier:
        """Learn what the classes are called from predictions on a table."""
        few = nw.from_native(table, eager_only=True).head(_ENOUGH).to_native()
        scores, labels = self.graph.run(
            few if self.graph.input_names else nw.from_native(few).to_numpy()
        )
        if isinstance(scores, list):
            return replace(self, classes_=tuple(scores[0]))
        names: list[Any] = list(range(np.shape(scores)[1]))
        if labels is None:
            return replace(self, classes_=tuple(names))
        columns = np.argmax(scores, axis=1).tolist()
        pairs = Counter(zip(columns, np.ravel(labels).tolist(), strict=True))
        # a predicted label may differ from that of the largest score: the most common one wins
        for (column, label), _ in reversed(pairs.most_common()):
            names[column] = label
        return replace(self, classes_=tuple(names))


@dataclass(frozen=True, slots=True, eq=False)
class OnnxRegressor:
    """A model in an ONNX file that gives one value a record."""

    graph: OnnxGraph

    @property
    def feature_names_in_(self) -> list[str] | None:
        """The columns that the model asks for by name, where it does."""
        return self.graph.input_names

    @property
    def n_features_in_(self) -> int | None:
        """How many columns the model takes, where it says so."""
        return self.graph.width

    def predict(self, table: Any) -> Array:
        """Return one value a record."""
        return np.asarray(self.graph.run(table)[0], dtype=np.float64).reshape(-1)


def read_onnx(path: Path) -> OnnxClassifier | OnnxRegressor:
    """Load a classifier or a regressor from an ONNX file."""
    with needs_extra("models", f"loading {str(path)!r}"):
        import onnxruntime
    with reraise_as(f"{str(path)!r} cannot be loaded", ModelError):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # failures are reported by us, once
        providers = ["CPUExecutionProvider"]
        session = onnxruntime.InferenceSession(str(path), options, providers=providers)
    scores, labels = _find_outputs(session, path)
    graph = OnnxGraph(
        session, _input_types(session, path), _input_width(session), scores.name, labels
    )
    several = [wide for wide in (scores.shape or [])[1:] if isinstance(wide, int) and wide > 1]
    if several or labels is not None or scores.type.startswith("seq(map"):
        return OnnxClassifier(graph, classes_=())
    return OnnxRegressor(graph)


def _input_types(session: Any, path: Path) -> dict[str, npt.DTypeLike]:
    inputs = session.get_inputs()
    strange = [f"{one.name} ({one.type})" for one in inputs if one.type not in _TYPES]
    if strange:
        raise ModelError(f"{str(path)!r} takes {list_names(strange)}: numbers or text are wanted")
    wide = [one.name for one in inputs if len(inputs) > 1 and one.shape[1:] != [1]]
    if wide:
        raise ModelError(
            f"{str(path)!r} takes several columns in {list_names(wide)}: "
            "export it with one input, or one a column"
        )
    return {one.name: _TYPES[one.type] for one in inputs}


def _input_width(session: Any) -> int | None:
    first, *others = session.get_inputs()
    known = not others and len(first.shape) == 2 and isinstance(first.shape[1], int)
    return first.shape[1] if known else None


def _find_outputs(session: Any, path: Path) -> tuple[Any, str | None]:
    """Find the output with the scores, and the name of the one with predicted labels.

    Scores are a ZipMap, or what is called probabilities, or else the last numbers.
    """
    outputs = session.get_outputs()
    scores = [one for one in outputs if one.type.startswith("seq(map") or one.type in _SCORES]
    if not scores:
        others = list_names(f"{one.name} ({one.type})" for one in outputs)
        raise ModelError(f"{str(path)!r} gives no scores, only {others}")
    likely = [one for one in scores if one.type.startswith("seq(map") or "prob" in one.name.lower()]
    chosen = (likely or scores)[-1]
    labels = next((one.name for one in outputs if one.type in _LABELS and one is not chosen), None)
    return chosen, labels
