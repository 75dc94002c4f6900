"""The report: its content, that it needs no other file, and that it fits on phones and paper."""

import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons

from gitcluster import GIT
from scripts.find_chromium import find_chromium, install_line

NASTY = '<b>a & "b" $x$</b>'


@pytest.fixture
def mixed(folder):
    """A table with gaps, texts, a category, a column with a name of its own, and one row that is far out."""
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], [80, 50, 30])
    table = pd.DataFrame({
        "who": [f"c{i:03d}" for i in range(160)],
        NASTY: np.array([0.0, 6.0, 12.0])[group] + rng.normal(size=160),
        "income": np.array([20.0, 60.0, 30.0])[group] + 4 * rng.normal(size=160),
        "city": np.array(["Oslo", "Rome", "Lyon"])[np.where(rng.random(160) < 0.9, group, 0)],
        "note": [f"called on day {i} about {i * 7 % 13}" for i in range(160)],
    })  # fmt: skip
    table.loc[3, "income"] = np.nan
    table.loc[9, [NASTY, "income"]] = [-25.0, 150.0]
    table.to_csv("t.csv", index=False)
    return table


def write(run, *options):
    assert run("fit", "t.csv", "--id", "who", *options, "--save", "m.npz", "-q")[0] == 0
    code, _, err = run("report", "m.npz", "t.csv", "-o", "r.html")
    assert code == 0, err
    return Path("r.html").read_text()


def test_it_describes_the_clustering(mixed, run):
    page = write(run)
    words = unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(style|svg)[ >].*?</\1>", " ", page, flags=re.DOTALL)))
    model = GIT().fit(pd.read_csv("t.csv").drop(columns="who"))
    assert model.summary().split(" Next: ")[0] in words
    for fact in ("note", "1 missing", "gitcluster report m.npz", "neighbours", "scikit-learn"):
        assert fact in words
    assert not re.search(r"\bk\b", words)
    far = words.split("largest differences")[-1].split()
    assert far[0] == "c009"
    cells = re.findall(r'<td style="background-color: rgba\(([^)]*)\)">(.*?)<small>(.*?)</small>', page)
    assert {value.split()[0] for _, value, _ in cells} >= {"Oslo", "Rome", "Lyon"}
    for colour, _, effect in cells:
        assert colour.startswith("47, 111, 178" if float(effect) > 0 else "200, 87, 60") or abs(float(effect)) < 0.05
        assert float(colour.split(", ")[3]) == pytest.approx(min(1, abs(float(effect)) / 2) * 0.6, abs=0.02)


def test_it_needs_no_other_file(mixed, run):
    page = write(run)
    assert "<b>a" not in page
    assert not re.search(r"(?:src|href)=.?(?:https?:|//)", page)
    pictures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(pictures) == 4
    for picture in pictures:
        ElementTree.fromstring(picture)
    links = re.findall(r'href="#([^"]*)"', re.search("<nav>.*?</nav>", page)[0])
    assert links == re.findall(r'<h2 id="([^"]*)"', page)


@pytest.mark.parametrize(
    "options", [("-c", "3"), ("--proportions", "8:5:3", "--noise", "0.1"), ("--variant", "paper", "-c", "3")]
)
def test_its_sections_depend_on_the_fit(mixed, run, options):
    page = write(run, *options)
    assert "Best numbers" not in page
    assert ("noise" in re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)) == ("--noise" in options)
    assert ("Hierarchy of" in page) == ("paper" not in options)


@pytest.fixture(scope="module")
def browser():
    chromium = find_chromium()
    if chromium is None:
        pytest.skip(f"wants Chromium: {install_line()}")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


def test_it_fits_on_screens_and_paper(run, browser, folder):
    """A table of more clusters and columns than fit side by side."""
    rng = np.random.default_rng(2)
    values = 1e4 * rng.normal(size=(14, 20))[np.arange(280) % 14] + rng.normal(size=(280, 20))
    table = pd.DataFrame(values, columns=[f"what was measured in sensor {i}" for i in range(20)])
    table.assign(who=[f"c{i:03d}" for i in range(280)]).to_csv("t.csv", index=False)
    write(run)
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="light")
    page = context.new_page()
    page.goto(Path("r.html").resolve().as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.emulate_media(media="print")
    for width, height in ((210, 297), (216, 279)):  # A4 and letter, in millimetres
        inner = round((width - 30) / 25.4 * 96), (height - 31) / 25.4 * 96
        page.set_viewport_size({"width": inner[0], "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == inner[0]
        parts = "[...document.querySelectorAll('figure, .git-cluster, table')]"
        boxes = page.evaluate(f"{parts}.map(e => [e.scrollWidth, e.tagName, e.offsetHeight])")
        assert all(wide <= inner[0] and (tag == "TABLE" or high < inner[1]) for wide, tag, high in boxes)
    context.close()


def test_it_shows_the_commands(csv, model, run):
    assert run("report", model, csv, "-o", "r.html")[0] == 0
    page = Path("r.html").read_text()
    assert "gitcluster fit customers.csv --id customer -c 3 --save model.npz -q" in page
    assert "gitcluster report model.npz customers.csv -o r.html" in page


def test_equal_rows_leave_no_doubt_and_no_differences(folder, run):
    pd.DataFrame({"who": range(40), "a": [3] * 40, "b": [7] * 40}).to_csv("t.csv", index=False)
    page = write(run)
    assert "How the clusters differ" not in page


def test_it_shows_the_stability(folder, run):
    moons, _ = make_moons(240, noise=0.1, random_state=0)
    table = pd.DataFrame(moons, columns=["x", "y"])
    table.to_csv("t.csv", index=False)
    model = GIT(8).fit(table)
    stability = model.stability(n_draws=8)
    model.save("m.npz")
    assert run("report", "m.npz", "t.csv", "-o", "r.html")[0] == 0
    assert " ".join(stability.sentences()) in unescape(Path("r.html").read_text())
