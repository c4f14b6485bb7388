"""The page in a browser: how soon it answers while a slider is dragged, and what it looks like.

python benchmarks/page.py          the delay from a change to its answer, on the readiness cohort
python benchmarks/page.py --slowest 50    also on the people whose answers take longest
python benchmarks/page.py --others 40    also how soon the first other plan of so many people comes
python benchmarks/page.py --figures FOLDER    also takes the pictures of docs/page.md

Needs playwright and a Chromium (LOCALFACE_CHROMIUM, or one on the path).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from PIL import Image
from playwright.sync_api import sync_playwright

MOVES = 80  # of the mouse, in one drag
PAUSE = 16  # milliseconds between two of them: a screen's frame
LARGE = 250_000  # bytes
COLOURS = 256
MEASURES = ("answer", "answer-on-screen", "whole")  # delays that the page keeps
SOMEONE = 1106  # of the cohort: five actions, two of which need another first
NOBODY = 165  # at a score of 0.75: nobody whom they may become has it
FIRST_OTHER = """() => new Promise((done) => {
  const start = performance.now();
  const look = () => {
    const panel = document.querySelector("#panel-ways");
    const heads = [...panel.querySelectorAll("thead th")].map((one) => one.textContent);
    const all = panel.querySelector(".use button") || panel.querySelector(".notice");
    if (heads.includes("Plan 2")) done(Math.round(performance.now() - start));
    else if (all || performance.now() - start > 20000) done(null);
    else requestAnimationFrame(look);
  };
  document.querySelector("#tab-ways").click();
  look();
})"""
FLAGS = (
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
)


@contextmanager
def serving(demo: str) -> Iterator[str]:
    """Run ``localface serve`` in a process of its own, as people do, and give its address."""
    command = [sys.executable, "-m", "localface", "serve", "--demo", demo, "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split(" at ")[1].split()[0]
        process.terminate()


@contextmanager
def browsing() -> Iterator[Any]:
    path = (
        os.environ.get("LOCALFACE_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("google-chrome")
    )
    sandbox = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *sandbox])
        yield browser
        browser.close()


def page_at(browser: Any, url: str, width: int, *, scheme: str = "light", height: int = 900) -> Any:
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("html[data-ready]")
    page.wait_for_selector(".headline")
    page.wait_for_selector("#updating", state="hidden")
    page.wait_for_function("() => !document.body.innerText.includes('is being worked out')")
    return page


def dragged(
    page: Any, selector: str, share: float, *, moves: int = MOVES
) -> dict[str, list[float]]:
    """Drag a thumb there and back again with a real mouse; return every delay in milliseconds."""
    slider = page.locator(selector)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    low, high, value = (
        float(slider.evaluate(f"one => one.{name}")) for name in ("min", "max", "value")
    )
    start = box["x"] + 8 + (value - low) / (high - low) * (box["width"] - 16)
    level = box["y"] + box["height"] / 2
    page.evaluate("performance.clearMeasures()")
    page.mouse.move(start, level)
    page.mouse.down()
    for i in range(1, moves + 1):
        there = 1 - abs(1 - 2 * i / moves)
        page.mouse.move(start + there * share * box["width"], level)
        page.wait_for_timeout(PAUSE)
    page.mouse.up()
    page.wait_for_selector("#updating", state="hidden")
    page.wait_for_timeout(50)
    read = "name => performance.getEntriesByName(name).map(one => one.duration)"
    return {name: page.evaluate(read, f"localface:{name}") for name in MEASURES}


def report(browser: Any, url: str) -> None:
    drags = {
        "score to reach": ("#goal", -0.25),
        "floor": ("#floor", 0.2),
        "range of a feature": ("#constraints [data-feature='hr_max'] input.high", -0.5),
    }
    every: list[float] = []
    print(
        f"{'dragged':<22}{'changes':>8}{'median':>9}{'p95':>8}{'on screen, median':>20}   "
        "(milliseconds)"
    )
    for name, (selector, share) in drags.items():
        page = page_at(browser, f"{url}#id={SOMEONE}", 1280)
        found = dragged(page, selector, share)
        answer = sorted(found["answer"])
        frame = found["answer-on-screen"]
        late = answer[int(0.95 * (len(answer) - 1))]
        middle = statistics.median(answer)
        drawn = statistics.median(frame)
        print(f"{name:<22}{len(answer):>8}{middle:>9.0f}{late:>8.0f}{drawn:>20.0f}")
        page.context.close()
        every += answer
    print(f"{'all':<22}{len(every):>8}{statistics.median(every):>9.0f}")


def asked(url: str, path: str, body: Any = None) -> Any:
    """Ask the service itself."""
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url + path, data, {"Content-Type": "application/json"})) as reply:
        return json.load(reply)


def slowest_people(url: str, n: int) -> list[int]:
    """Those of the refused whose answers take longest."""
    times = {}
    offset = 0
    while people := asked(url, f"people?offset={offset}&limit=500")["people"]:
        for one in people:
            if not one["reached"]:
                reply = asked(url, "recourse", {"id": one["id"]})
                times[one["id"]] = reply["milliseconds"]
        offset += len(people)
    ranked = sorted(times, key=lambda id: -times[id])
    print(f"of {len(times)} refused: median {statistics.median(times.values()):.0f} ms to answer, ")
    print(f"the slowest {n} from {times[ranked[n - 1]]:.0f} to {times[ranked[0]]:.0f} ms")
    return ranked[:n]


def report_slowest(browser: Any, url: str, n: int) -> None:
    """Drag the score on the people whose answers take longest.

    What is on screen may be an answer so far, marked as such; the whole one comes when the hand
    rests.
    """
    every: list[float] = []
    whole: list[float] = []
    for id in slowest_people(url, n):
        page = page_at(browser, f"{url}#id={id}", 1280)
        found = dragged(page, "#goal", -0.25, moves=30)
        every += found["answer"]
        whole += found["whole"]
        page.context.close()
    every.sort()
    late = every[int(0.95 * (len(every) - 1))]
    name = f"{n} slowest people"
    print(f"{name:<22}{len(every):>8}{statistics.median(every):>9.0f}{late:>8.0f}")
    if whole:
        print(
            f"made whole {len(whole)} times, after {statistics.median(whole):.0f} ms in the median"
        )


def report_others(browser: Any, url: str, n: int) -> None:
    """Open the other plans of some of the refused, and wait for the first that is another."""
    refused = [one["id"] for one in asked(url, "people?sort=score&limit=500")["people"]]
    some = [SOMEONE, *refused[:: max(1, len(refused) // n)]][:n]
    delays = {}
    for id in some:
        page = page_at(browser, f"{url}#id={id}", 1280)
        delays[id] = page.evaluate(FIRST_OTHER)
        page.context.close()
    found = sorted(one for one in delays.values() if one is not None)
    late = found[int(0.95 * (len(found) - 1))]
    name = f"first other plan ({len(found)}/{len(some)})"
    print(f"{name:<30}{statistics.median(found):>9.0f}{late:>8.0f}")
    print(f"person {SOMEONE}: {delays[SOMEONE]} ms")


def shown_ways(page: Any) -> None:
    page.click("#tab-ways")
    page.wait_for_selector("#panel-ways .use button")
    page.locator("#answer-tabs").evaluate("one => one.scrollIntoView()")


def shown_wish(page: Any) -> None:
    page.click("#tab-whynot")
    move = (
        "(one, value) => {one.value = value; "
        "one.dispatchEvent(new Event('input', {bubbles: true}))}"
    )
    for name, value in {"gcs_min": 15, "pain": 6}.items():
        slider = f"#panel-whynot [data-feature='{name}'] input[type=range]"
        page.locator(slider).evaluate(move, value)
    page.wait_for_selector(".findings")
    page.locator("#answer-tabs").evaluate("one => one.scrollIntoView()")


def shown_stages(page: Any) -> None:
    page.wait_for_selector(".seen.exploit", state="attached", timeout=30_000)


def nothing(page: Any) -> None:
    """As it stands."""


def save(page: Any, path: Path) -> None:
    """Write what is on screen as a small picture."""
    page.wait_for_timeout(400)
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    size = path.stat().st_size
    print(f"{path.name:<28}{size / 1000:>6.0f} kB{'   too large' if size > LARGE else ''}")


def picture(browser: Any, url: str, path: Path, do: Callable[[Any], None] = nothing) -> None:
    """Take one picture; its name says how wide and in which colours: page-1280-dark.png."""
    width, scheme = path.stem.split("-")[-2:]
    heights = {"390": 1100, "1280": 940, "1920": 1080}
    page = page_at(browser, url, int(width), scheme=scheme, height=heights[width])
    do(page)
    save(page, path)
    page.context.close()


def pictures(browser: Any, ward: str, moons: str, folder: Path) -> None:
    someone = f"{ward}#id={SOMEONE}"
    for width in (390, 1280, 1920):
        for scheme in ("light", "dark"):
            picture(browser, someone, folder / f"page-{width}-{scheme}.png")
    picture(browser, someone, folder / "page-ways-1280-light.png", shown_ways)
    picture(browser, someone, folder / "page-whynot-1280-light.png", shown_wish)
    picture(browser, f"{ward}#id={NOBODY}&score=0.75", folder / "page-no-1280-light.png")
    picture(browser, f"{moons}#id=486", folder / "page-map-1280-light.png", shown_stages)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--figures", type=Path, metavar="FOLDER", help="where to write the pictures"
    )
    parser.add_argument(
        "--slowest", type=int, metavar="N", default=0, help="how many of the slowest people, too"
    )
    parser.add_argument(
        "--others", type=int, metavar="N", default=0, help="the other plans of how many, too"
    )
    arguments = parser.parse_args()
    with serving("readiness") as ward, browsing() as browser:
        report(browser, ward)
        if arguments.slowest:
            report_slowest(browser, ward, arguments.slowest)
        if arguments.others:
            report_others(browser, ward, arguments.others)
        if arguments.figures:
            with serving("moons") as moons:
                pictures(browser, ward, moons, arguments.figures)


if __name__ == "__main__":
    main()
