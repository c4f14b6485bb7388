"""The scale of densities."""

from __future__ import annotations

import numpy as np
import pytest

from localface.density.protocol import DensityScale


def test_shares_and_quantiles_undo_each_other():
    scale = DensityScale(np.sort(np.random.default_rng(0).normal(size=501)))
    for share in (0.0, 0.05, 0.333, 1.0):
        assert float(scale.share_below(scale.quantile(share))) == pytest.approx(share)
