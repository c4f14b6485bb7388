"""Robustness: whether an answer holds when followed inexactly, or under other models."""

from localface.analyses.robustness.measuring import measure_robustness
from localface.analyses.robustness.models import read_models
from localface.analyses.robustness.noise import Noise, NoiseSampler
from localface.analyses.robustness.reaching import explain_robustly
from localface.analyses.robustness.value import ModelVerdict, Robustness

__all__ = [
    "ModelVerdict",
    "Noise",
    "NoiseSampler",
    "Robustness",
    "explain_robustly",
    "measure_robustness",
    "read_models",
]
