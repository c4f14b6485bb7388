"""Robustness: whether an answer holds when followed inexactly, or under other models."""

from localface.analyses.robustness.adding import add_robustness
from localface.analyses.robustness.measuring import measure_robustness
from localface.analyses.robustness.models import read_models
from localface.analyses.robustness.noise import NoiseSampler
from localface.analyses.robustness.reaching import explain_robustly
from localface.answers.robustness import Lasting, ModelVerdict, Noise, Robustness

__all__ = [
    "Lasting",
    "ModelVerdict",
    "Noise",
    "NoiseSampler",
    "Robustness",
    "add_robustness",
    "explain_robustly",
    "measure_robustness",
    "read_models",
]
