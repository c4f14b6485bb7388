"""The page on a table of houses and what they are worth: it speaks of houses and of values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from browser import opened, settled
from localface import LocalFACE

RNG = np.random.default_rng(0)
HOUSES = pd.DataFrame({"area": RNG.normal(120, 30, 400).round(), "rooms": RNG.integers(1, 8, 400)})
PRICES = 2500 * HOUSES["area"] + 9000 * HOUSES["rooms"]


def test_the_page_speaks_of_houses_and_of_values(browser: Any) -> None:
    model = LinearRegression().fit(HOUSES, PRICES)
    explainer = LocalFACE(model, HOUSES, target="at least", min_score=350_000, each_row="house")
    cheap = int((PRICES - 300_000).abs().idxmin())
    with explainer.serve() as page_of, opened(browser, f"{page_of.url}#id={cheap}") as watched:
        page = watched.page
        settled(page)
        text = page.locator("body").inner_text()

        assert not re.search(r"\b(people|person)\b", text, re.IGNORECASE)
        assert f"House {cheap}" in text
        assert "400 houses to learn from" in text
        assert "Value to reach" in text
        assert "350,000" in text
        assert not re.search(r"\de\+\d", text), "nobody reads 4.03e+04"
        card = page.locator(".card").first.bounding_box()
        score = page.locator(".card .after .value").first.bounding_box()
        assert score["x"] + score["width"] <= card["x"] + card["width"]
        assert not watched.errors


def test_a_letter_has_its_cautions_before_the_plan(browser: Any) -> None:
    model = LinearRegression().fit(HOUSES, PRICES)
    explainer = LocalFACE(model, HOUSES.iloc[:40], target="at least", min_score=350_000)
    cheap = int((PRICES[:40] - 300_000).abs().idxmin())
    with explainer.serve() as page_of, opened(browser, f"{page_of.url}#id={cheap}") as watched:
        page = watched.page
        settled(page)
        letter = page.locator("#letter").input_value()

        assert "The value today is" in letter
        assert "Caution: Compared with only about 40 people" in letter
        assert letter.index("Caution:") < letter.index("What would change it")
