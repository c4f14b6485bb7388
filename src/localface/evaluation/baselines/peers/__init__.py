"""Peers: packages by other authors behind the same ``explain``, as they come or tuned."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from localface.evaluation.baselines.peers.cfnow import CFNOW
from localface.evaluation.baselines.peers.dice import DiCE
from localface.evaluation.baselines.peers.fat_forensics import FATForensics
from localface.evaluation.baselines.peers.mlxtend import MLxtend
from localface.evaluation.baselines.peers.treecf import TreeCF
from localface.evaluation.baselines.task import Method, Task

__all__ = [
    "CFNOW",
    "PACKAGES",
    "PEERS",
    "DiCE",
    "FATForensics",
    "MLxtend",
    "Setting",
    "TreeCF",
    "available",
]

PACKAGES = {
    "dice-ml": "dice_ml",
    "treecf": "treecf",
    "fat-forensics": "fatf",
    "cfnow": "cfnow",
    "mlxtend": "mlxtend",
}  # the name that pip knows, and the one that is imported


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to run a peer: call it with a task, and it is ready to explain.

    >>> PEERS["fat-forensics-tuned"]
    <Setting: fat-forensics, tuned: steps=10, scaled=True>
    """

    package: str
    maker: Any = field(repr=False)
    options: dict[str, Any] = field(default_factory=dict)
    tuned: bool = False

    def __call__(self, task: Task, *, seed: int = 0) -> Method:
        """Make the peer; a missing package raises ``ModuleNotFoundError``."""
        made: Method = self.maker(task, seed=seed, **self.options)
        return made

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        kind = "tuned" if self.tuned else "default"
        return f"<Setting: {self.package}, {kind}: {options or 'as it comes'}>"


def available() -> dict[str, str | None]:
    """Which version of each package is installed; None where it is missing."""
    return {package: _installed_version(package, module) for package, module in PACKAGES.items()}


def _installed_version(package: str, module: str) -> str | None:
    if find_spec(module) is None:
        return None
    try:
        return version(package)
    except PackageNotFoundError:
        return None


_dice = partial(Setting, "dice-ml", DiCE)
_treecf = partial(Setting, "treecf", TreeCF)
_fatf = partial(Setting, "fat-forensics", FATForensics)
_cfnow = partial(Setting, "cfnow", CFNOW)
_mlxtend = partial(Setting, "mlxtend", MLxtend)
_EXACT = {"decimals": "data", "posthoc_sparsity_algorithm": "binary"}

PEERS: dict[str, Setting] = {
    "dice-random": _dice({"method": "random"}),
    "dice-random-tuned": _dice({"method": "random", "sample_size": 3000, **_EXACT}, tuned=True),
    "dice-genetic": _dice({"method": "genetic"}),
    "dice-genetic-tuned": _dice(
        {"method": "genetic", "total_cfs": 5, "decimals": "data"}, tuned=True
    ),
    "dice-kdtree": _dice({"method": "kdtree"}),
    "dice-kdtree-tuned": _dice(
        {"method": "kdtree", "decimals": "data", "posthoc_sparsity_param": None}, tuned=True
    ),
    "treecf": _treecf(),
    "treecf-tuned": _treecf({"isolation": 0.55, "sparsity_weight": 0.1}, tuned=True),
    "fat-forensics": _fatf(),
    "fat-forensics-tuned": _fatf({"steps": 10, "scaled": True}, tuned=True),
    "cfnow": _cfnow(),
    "cfnow-tuned": _cfnow(
        {"strategy": "greedy", "ft_change_factor": 0.5, "it_max": 200, "limit_seconds": 10},
        tuned=True,
    ),
    "mlxtend": _mlxtend(),
    "mlxtend-tuned": _mlxtend({"lammbda": 10_000.0, "desired": 1.0}, tuned=True),
}  # by name: each as it comes, and tuned
