"""Models out of files: safe formats freely, a pickle only where the user takes the risk."""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Sequence
from importlib import import_module, invalidate_caches
from importlib.util import find_spec
from inspect import isclass
from pathlib import Path
from typing import Any

from localface.data.opening import require_existing_path, reraise_as
from localface.errors import ModelError, did_you_mean, needs_extra
from localface.models.onnx import OnnxClassifier, read_onnx

PICKLES = (".pkl", ".pickle", ".joblib")
_TRUSTED = ("sklearn", "numpy", "scipy", "xgboost", "lightgbm")
_NOT_FOR_MODELS = {"__main__", "ctypeslib", "distutils", "f2py", "testing", "tests"}
_IMPORTABLE = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")


def load_model(where: str, *, allow_pickle: bool = False, trust: Sequence[str] = ()) -> Any:
    """Load a model: a ``.skops`` or ``.onnx`` file, ``module:attribute``, an allowed pickle.

    A skops file may hold classes of scikit-learn, NumPy, SciPy, XGBoost and LightGBM, and
    whatever ``trust`` names. A pickle runs whatever code is in it.
    """
    if not Path(where).exists() and _IMPORTABLE.fullmatch(where):
        return _import_model(*where.split(":"))
    path = require_existing_path(where)
    suffix = path.suffix.lower()
    if suffix == ".skops":
        return _load_skops(path, trust)
    if suffix == ".onnx":
        return read_onnx(path)
    if suffix not in PICKLES:
        raise ModelError(
            f"{where!r} is no model that can be loaded: give a .skops or .onnx file, or "
            "module:attribute to import one; skops.io.dump(model, 'model.skops') saves a "
            "scikit-learn model"
        )
    if not allow_pickle:
        raise ModelError(
            f"{where!r} is a pickle, and loading it runs whatever code is in it: save the model "
            "with skops.io.dump(model, 'model.skops') instead, or add --allow-pickle if you trust "
            "where it comes from"
        )
    return _load_pickle(path)


def with_class_names(model: Any, table: Any) -> Any:
    """Learn the names of an ONNX model's classes, which files seldom tell, from a table."""
    if not isinstance(model, OnnxClassifier):
        return model
    with reraise_as("the model failed on the table", ModelError):
        return model.with_class_names_from(table)


def _import_model(module: str, attribute: str) -> Any:
    """Import a model as Python itself would in the current folder."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)  # for good: the model may import more when it is called
    invalidate_caches()
    with reraise_as(f"{module!r} cannot be imported", ModelError):
        if find_spec(module.partition(".")[0]) is None:
            hint = did_you_mean(module, [one.stem for one in Path.cwd().glob("*.py")])
            raise ModelError(
                f"there is no module {module!r} in the current folder, nor is one installed{hint}"
            )
        found: Any = import_module(module)
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise ModelError(f"{module!r} has no {attribute!r}{did_you_mean(name, dir(found))}")
        found = getattr(found, name)
    if isclass(found):
        raise ModelError(
            f"'{module}:{attribute}' is a class: name a fitted model, or a function from records "
            "to scores"
        )
    return found


def _load_skops(path: Path, trust: Sequence[str]) -> Any:
    with needs_extra("models", f"loading {str(path)!r}"):
        from skops import io
    with reraise_as(f"{str(path)!r} cannot be loaded", ModelError):
        unknown = [name for name in io.get_untrusted_types(file=path) if name not in trust]
        refused = [name for name in unknown if not _is_trusted(name)]
        if refused:
            raise ModelError(
                f"{str(path)!r} holds what is not trusted by itself: {', '.join(refused)}; "
                f"if you know it, add {' '.join(f'--trust {name}' for name in refused)}"
            )
        return io.load(path, trusted=sorted({*unknown, *trust}))


def _is_trusted(name: str) -> bool:
    """Trust the classes of packages that make models, but no functions: a file may call them."""
    module, _, attribute = name.rpartition(".")
    packages = module.split(".")
    if name == "collections.OrderedDict":  # LightGBM keeps its scores in one
        return True
    if packages[0] not in _TRUSTED or _NOT_FOR_MODELS.intersection(packages):
        return False
    found = getattr(import_module(module), attribute, None)
    if not isclass(found):
        return False
    return found.__module__.partition(".")[0] == packages[0]  # made there, not imported there


def _load_pickle(path: Path) -> Any:
    with reraise_as(f"{str(path)!r} cannot be loaded", ModelError):
        if find_spec("joblib"):
            import joblib

            return joblib.load(path)
        with path.open("rb") as file:
            return pickle.load(file)
