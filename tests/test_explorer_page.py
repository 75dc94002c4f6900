"""Journeys through the page in a browser: it shows the model's results, exports them, and sends nothing."""

import json
import struct
import warnings
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from gitcluster import GIT
from gitcluster.explorer import write_explorer
from scripts.find_chromium import find_chromium, install_line

NASTY = "</script><script>document.body.remove()</script><!--<img src=x onerror=alert(1)>"
X, y = make_blobs([120, 90, 60, 30], 2, cluster_std=1.3, random_state=4)
model = GIT(4).fit(X)
TABLE = pd.DataFrame(
    {
        "income": np.round(20_000 + 10_000 * X[:, 0], 2),
        "random": np.round(np.random.default_rng(0).normal(size=300), 3),
        "city": np.array(["Rome", "Oslo", "Bern", "Bonn"])[y],
        "joined": pd.Timestamp("2020-02-27") + pd.to_timedelta(y, unit="D"),
        "born": 1960 + 10 * y,
    },
    index=[f"C{i:03d}" for i in range(300)],
)
FIRST, OTHER = (int(np.flatnonzero(model.labels_ == c)[0]) for c in (0, 3))


@pytest.fixture(scope="module")
def browser():
    chromium = find_chromium()
    if chromium is None:
        pytest.skip(f"needs Chromium: {install_line()}")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open the page of a model from disk; fail at the end if the page had an error or requested anything."""
    contexts, problems = [], []

    def open_page(fitted, samples=None, *, device=None, **options):
        path = write_explorer(fitted, samples, tmp_path / f"{len(contexts)}.html", **options)
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 800}} | (device or {})))
        contexts.append(context)
        page = context.new_page()
        own = (path.as_uri(), "blob:", "data:")
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and problems.append(message.text))
        page.on("request", lambda request: request.url.startswith(own) or problems.append(request.url[:100]))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def positions(page, panel="samples"):
    """Return where the samples are on the screen."""
    script = """(panel) => {
      const {camera, xy} = explorer.app, box = document.getElementById(panel).getBoundingClientRect();
      return Array.from({length: xy.length / 2}, (_, i) => {
        const [x, y] = camera.toScreen(box, xy[2 * i], xy[2 * i + 1]);
        return [box.left + x, box.top + y];
      });
    }"""
    return np.array(page.evaluate(script, panel))


def pick(page, *samples):
    page.evaluate("(samples) => (explorer.app.clear(), samples.forEach((i) => explorer.app.pick(i)))", samples)


def picture(page, panel):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.locator(f"#{panel}").screenshot()


def download(page, selector):
    with page.expect_download() as file:
        page.click(selector)
    return Path(file.value.path())


def exported_labels(page):
    return pd.read_csv(download(page, "#csv"))["label"].to_numpy()


def explanation_rows(page):
    """Return the rows of the tables of the explanation by their first cell."""
    lines = [row.inner_text().split("\t") for row in page.query_selector_all(".profile tr")]
    return {name: cells for name, *cells in lines}


def lasso(page, samples):
    """Draw a rectangle around samples, and return all shown samples within it."""
    places = positions(page)
    (left, top), (right, bottom) = places[samples].min(axis=0) - 4, places[samples].max(axis=0) + 4
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, bottom), (left, bottom)):
        page.mouse.move(*corner)
    page.mouse.up()
    return np.flatnonzero(((places > [left, top]) & (places < [right, bottom])).all(axis=1))


def svg_parts(page):
    """Return the texts and the colours of the circles of the exported picture."""
    root = ElementTree.parse(download(page, "#svg")).getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = ["".join(text.itertext()) for text in root.iter(f"{space}text")]
    return texts, [circle.get("fill") for circle in root.iter(f"{space}circle")]


def test_the_page_shows_the_fitted_model(visit):
    page = visit(model, X, title="Four groups", names=TABLE.index, columns=TABLE)
    assert page.title() == "Four groups"
    assert page.inner_text("#summary") == model.summary().split(" Next: ")[0]
    assert page.inner_text("#nodes") == f"{len(model.peaks_)} local clusters"
    assert page.get_attribute("meta[http-equiv]", "content").startswith("default-src 'none'; script-src 'sha256-")
    np.testing.assert_allclose(page.evaluate("[...explorer.app.membership]"), model.probabilities_, atol=1e-6)
    graph, samples = picture(page, "graph"), picture(page, "samples")
    page.mouse.move(*positions(page)[17])
    shown = dict(line.inner_text().split("\n") for line in page.locator("#tooltip .column").all())
    assert "C017" in page.inner_text("#tooltip")
    values = {name: str(value).removesuffix(" 00:00:00") for name, value in TABLE.iloc[17].items()}
    assert all(shown[name] == values[name] for name in set(shown) & set(values))
    assert len(shown) == 6
    assert picture(page, "graph") != graph  # what is under the pointer is marked in the other panel too
    page.mouse.move(*positions(page, "graph")[model.peaks_[2]])
    assert "local cluster 2" in page.inner_text("#tooltip")
    assert picture(page, "samples") != samples
    page.mouse.move(5, 5)
    assert page.locator("#tooltip").is_hidden()
    assert (picture(page, "graph"), picture(page, "samples")) == (graph, samples)
    page.click("summary")
    page.locator("#outliers button").first.click()
    assert page.evaluate("explorer.app.picked") == [int(model.outlier_scores_.argmax())]


def test_another_number_of_clusters_is_a_cut_of_the_model(visit):
    fitted = GIT().fit(X)
    page = visit(fitted, X)
    best, scores = fitted.n_clusters_, fitted.n_clusters_scores_
    colours = "[...explorer.app.cut.labels].map((label) => explorer.app.slots[label])"
    before = first = page.evaluate(colours)
    assert page.locator(".mark").first.inner_text() == str(best)
    for number in range(best + 1, best + 4):
        page.press("#slider", "ArrowRight")
        assert page.input_value("#number") == str(number)
        np.testing.assert_array_equal(exported_labels(page), fitted.cut(n_clusters=number))
        slots = page.evaluate(colours)
        changed = np.array(slots) != np.array(before)
        (old,) = set(np.array(before)[changed])  # one cluster splits, and its smaller part gets a new colour
        sizes = fitted.topo_graph_.sizes
        assert sizes[changed].sum() <= sizes[np.array(slots) == old].sum()
        before = slots
    score = scores["score"][scores["n_clusters"] == number][0]
    assert page.inner_text("#other-cut").startswith(f"Another cut, into {number} clusters. Score: {score:.2f}.")
    for typed, becomes in (("9999", "20"), ("-3", "1")):
        page.fill("#number", typed)
        page.keyboard.press("Enter")
        assert page.input_value("#number") == becomes
    page.locator(".mark").first.click()
    assert page.locator("#clusters button").count() == best
    page.fill("#number", "2")
    page.click("#fitted")
    np.testing.assert_array_equal(exported_labels(page), fitted.labels_)
    assert page.evaluate(colours) == first
    limited = GIT(4, max_cluster_size=110).fit(X, cannot_link=[(FIRST, OTHER)])
    page = visit(limited, X)
    numbers = page.evaluate("explorer.app.model.cutNumbers")
    assert min(numbers) == 3  # 300 samples in clusters of up to 110
    for number in numbers[:6]:
        page.fill("#number", str(number))
        np.testing.assert_array_equal(exported_labels(page), limited.cut(n_clusters=number))


def test_samples_are_explained_and_compared(visit):
    page = visit(model, X, columns=TABLE, names=TABLE.index)
    for sample in range(0, 300, 29):
        pick(page, sample)
        shares = model.predict_proba(X[sample : sample + 1])[0]
        second = np.argsort(shares)[-2]
        other = f", {shares[second]:.3f} in cluster {second}" if shares[second] > 5e-4 else ""
        assert f"{shares.max():.3f}{other}" in page.inner_text("#explanation").splitlines()
    page.click("[data-cluster='3']")
    assert "C290 is" in page.inner_text("#explanation")
    assert explanation_rows(page)["income"][1] == f"{TABLE['income'][model.labels_ == 3].mean():.0f}"
    for a, b in np.random.default_rng(1).permutation(300)[:50].reshape(25, 2).tolist():
        pick(page, a, b)
        shown, expected = page.evaluate("explorer.app.connection"), model.explain(a, b)
        assert (shown["together"], shown["togetherUpTo"]) == (expected.same_cluster, expected.joined_until)
        assert shown["edges"] == expected.edges.tolist()
        assert set(shown["cut"]) == set(expected.edges[expected.cut].tolist())
        assert not shown["edges"] or shown["weakest"] == expected.weakest
    page.keyboard.press("Escape")
    page.mouse.click(*positions(page)[FIRST])
    page.mouse.click(*positions(page)[OTHER])
    text = page.inner_text("#explanation")
    assert "Different clusters" in text
    assert f"{len(page.evaluate('explorer.app.connection.path'))} local clusters, numbered in the graph" in text
    rows = explanation_rows(page)
    assert rows["city"] == [TABLE["city"].iloc[FIRST], TABLE["city"].iloc[OTHER], "1.0"]
    spread = abs(TABLE["income"].iloc[FIRST] - TABLE["income"].iloc[OTHER]) / TABLE["income"].std(ddof=0)
    assert float(rows["income"][2]) == pytest.approx(spread, abs=0.051)


def test_stability_is_shown_for_the_fitted_clusters(visit):
    samples, _ = make_moons(240, noise=0.1, random_state=0)
    fitted = GIT(8).fit(samples)
    stability = fitted.stability(n_draws=8)
    unstable = stability.clusters < 0.75
    assert 0 < unstable.sum() < 8
    page = visit(fitted, samples)
    shown = [text.split() for text in page.locator("#clusters .stability").all_inner_texts()]
    assert [len(words) > 1 for words in shown] == unstable.tolist()
    assert [float(words[-1]) for words in shown] == stability.clusters.round(2).tolist()
    sample = int(stability.samples.argmin())
    pick(page, sample)
    share = f"{100 * stability.samples[sample]:.0f} % of the half-samples"
    assert share in page.inner_text("#explanation")
    page.keyboard.press("Escape")
    before = picture(page, "samples")
    page.select_option("#colour", label="Stability")
    assert picture(page, "samples") != before
    assert page.inner_text("#legend").split("\n") == ["Stability", "50 %", "100 %"]
    page.fill("#number", "3")
    assert page.locator("#clusters .stability").count() == 0
    assert page.locator("#stability").is_hidden()
    assert page.inner_text("#legend h2") == "Stability of the fitted clusters"


def test_a_picked_cluster_has_its_profile(visit):
    word = np.array(["north", "south", "east", "west"])[y]
    word[::9] = "north"
    columns = {"x": X[:, 0], NASTY: word, "feature 0": X[:, 0], "feature 1": X[:, 1]}
    page = visit(model, X, columns=columns)
    profile = model.profile(pd.DataFrame(columns))
    for cluster in (0, 2):
        page.click(f"[data-cluster='{cluster}']")
        expected = {contrast.title: contrast for contrast in profile[cluster].strongest()}
        rows = explanation_rows(page)
        assert set(rows) - {""} == set(expected)
        for name, contrast in expected.items():
            here, elsewhere, effect = rows[name]
            assert float(effect.replace("\N{MINUS SIGN}", "-")) == pytest.approx(contrast.effect, abs=0.06)
            unit = 100 if "%" in here else 1
            shown = [float(value.rstrip(" %")) / unit for value in (here, elsewhere)]
            assert shown == pytest.approx([contrast.inside, contrast.elsewhere], rel=0.01, abs=0.006)
    rows = pd.read_csv(download(page, "#rows"))
    np.testing.assert_array_equal(rows["index"], np.flatnonzero(model.labels_ == 2))


def test_a_lasso_selects_and_exports_rows(visit):
    columns = {
        "second": (pd.Timestamp("2024-05-31 10:31:07") + pd.to_timedelta(np.arange(300), unit="min")).to_numpy(),
        "id": 12_345_678_901 + np.arange(300),
        "=1+1": np.array(["-5", "-five", "@x", 'a "b"'])[y],
        "ratio": np.r_[np.inf, X[1:, 0]],
    }
    page = visit(model, X, columns=columns, names=["+name", *map(str, range(1, 300))])
    page.click("#lasso")
    inside = lasso(page, model.labels_ == 3)
    assert page.evaluate("[...explorer.app.selection]") == inside.tolist()
    assert f"{len(inside)} samples selected" in page.inner_text("#explanation")
    before = picture(page, "samples")
    page.evaluate("explorer.app.select(Int32Array.from({length: 300}, (_, i) => i))")
    assert picture(page, "samples") != before
    rows = pd.read_csv(download(page, "#rows"), float_precision="round_trip")
    np.testing.assert_array_equal(rows["label"], model.labels_)
    np.testing.assert_array_equal(rows["second"], pd.Series(columns["second"]).dt.strftime("%Y-%m-%d %H:%M:%S"))
    np.testing.assert_array_equal(rows["id"], columns["id"])
    np.testing.assert_array_equal(rows["ratio"], columns["ratio"])
    np.testing.assert_array_equal(rows["'=1+1"], np.array(["-5", "'-five", "'@x", 'a "b"'])[y])
    assert rows["name"][0] == "'+name"
    page.keyboard.press("Escape")
    assert page.evaluate("explorer.app.picked") == []


def test_clusters_are_edited_and_saved(visit):
    frame = TABLE.assign(x=X[:, 0], y=X[:, 1])
    fitted = GIT(4).fit(frame[["x", "y"]])
    fitted.cluster_names_ = {1: NASTY[:30]}
    page = visit(fitted, frame, device={"viewport": {"width": 1280, "height": 1100}})
    assert page.inner_text("[data-cluster='1'] .tag") == NASTY[:15] + "…"

    def click_cluster(number):
        page.evaluate("explorer.app.clear()")
        page.click(f"[data-cluster='{page.evaluate(f'explorer.app.cut.ids.indexOf({number})')}']")

    click_cluster(3)
    page.select_option("select[aria-label='Merge with']", "0")
    assert page.locator("#slider").is_disabled()
    page.get_by_role("button", name="Split", exact=True).click()  # the merged cluster stays picked
    split = np.array(page.evaluate("explorer.app.ids"))
    assert set(split) == {0, 1, 2, 4}
    assert (fitted.local_labels_[split == 4][:, None] != fitted.local_labels_[split == 0]).all()  # along the tree
    click_cluster(2)
    page.get_by_role("button", name="Split by lasso").click()
    group = np.flatnonzero(split == 2)
    inside = lasso(page, group[X[group, 0] < np.quantile(X[group, 0], 0.3)])
    assert page.inner_text("#explanation h3") == f"Cluster 5: {np.isin(inside, group).sum()} samples"
    page.fill("#name", "Gold")
    page.keyboard.press("Enter")
    page.click("#lasso")
    chosen = lasso(page, [0, 1])
    page.select_option("select[aria-label='Move to']", "5")
    pick(page, 7)
    page.select_option("select[aria-label='Move to']", "new")
    assert page.evaluate("explorer.app.ids[7]") == 6
    page.focus("#samples")
    page.keyboard.press("Control+z")
    click_cluster(0)
    page.fill("#name", "Gold")
    page.keyboard.press("Enter")
    assert "already" in page.inner_text("#notice")
    assert page.locator("#edits li").count() == 5
    leave = "dispatchEvent(new Event('beforeunload', {cancelable: true}))"
    assert not page.evaluate(leave)  # the browser asks
    file = json.loads(download(page, "#save-edits").read_text())
    assert page.evaluate(leave)
    assert [edit["kind"] for edit in file["edits"]] == ["merge", "split", "split", "rename", "move"]
    assert (file["rows"], file["labels"]) == (TABLE.index.tolist(), fitted.labels_.tolist())
    again = GIT(4).fit(frame[["x", "y"]], edits=file)
    assert (again.labels_[chosen] == 5).all()
    exported = pd.read_csv(download(page, "#csv"), keep_default_na=False)
    np.testing.assert_array_equal(exported["label"], again.labels_)
    assert set(exported["cluster_name"][again.labels_ == 5]) == {again.cluster_names_[5]} == {"Gold"}
    assert page.evaluate("explorer.app.cut.sizes") == np.unique(again.labels_, return_counts=True)[1].tolist()
    page.evaluate("while (explorer.app.nEdits) explorer.app.undo()")
    np.testing.assert_array_equal(exported_labels(page), fitted.labels_)
    assert page.locator("#slider").is_enabled()


def test_numbers_and_names_of_clusters_last(visit):
    """A fit with edits has gaps in its numbers; its page shows them and can be edited again."""
    page = visit(model, X)
    page.evaluate("explorer.app.merge(1, 2), explorer.app.split(0, null), explorer.app.rename(4, 'Gold')")
    files = [json.loads(page.evaluate("explorer.app.editsJson()"))]
    page = visit(GIT(4).fit(X, edits=files), X)
    assert page.locator("#clusters .tag").all_inner_texts() == ["0", "1", "3", "Gold"]
    page.click("[data-cluster='3']")
    assert page.inner_text("#explanation h3").startswith("Gold (cluster 4)")
    page.evaluate("explorer.app.move([0, 1, 2], null), explorer.app.merge(3, 4)")
    files.append(json.loads(page.evaluate("explorer.app.editsJson()")))
    np.testing.assert_array_equal(GIT(4).fit(X, edits=files).labels_, exported_labels(page))


def test_random_edits_are_replayed_from_the_file(visit):
    estimator = GIT(5, noise=0.05)
    page = visit(estimator.fit(X), X, max_samples=250)
    results = page.evaluate(
        """() => {
          const {app} = explorer;
          let seed = 1;
          const below = (n) => (seed = (seed * 48271) % 2147483647) % n;
          const one = (list) => list[below(list.length)];
          const some = () => app.ids.map((_, i) => i).filter(() => below(8) === 0);
          return Array.from({length: 80}, (_, script) => {
            app.recut(script % 3 ? null : 2 + below(8));
            for (let step = 1 + below(8); step > 0; step--) {
              const {ids} = app.cut;
              const steps = [
                () => app.merge(one(ids), one(ids)), () => app.split(one(ids), null), () => app.split(one(ids), some()),
                () => app.move(some(), one(ids)), () => app.move(some(), null), () => app.undo(),
                () => app.rename(one(ids), one(["a", "b", ""])),
              ];
              one(steps)();
            }
            const result = [app.editsJson(), app.ids, app.cut.names, app.cut.sizes.length];
            while (app.nEdits > 0) app.undo();
            return [...result, app.ids];
          });
        }"""
    )
    kinds = Counter()
    for text, ids, names, n_clusters, undone in results:
        file = json.loads(text)
        again = estimator.fit(X, edits=file)
        np.testing.assert_array_equal(again.labels_[file["rows"]], ids)
        assert {str(number): name for number, name in again.cluster_names_.items()} == names
        assert (n_clusters, undone) == (len(set(ids) - {-1}), file["labels"])
        kinds.update(edit["kind"] for edit in file["edits"])
    assert min(kinds[kind] for kind in ("merge", "split", "move", "rename")) > 12


def test_colours_and_exported_pictures_agree(visit):
    words = np.array(["\N{PARTY POPPER}" * 30, "bell \x07 rings", "half \ud83c", None], dtype=object)[y]
    columns = pd.DataFrame({"word": words, "number": np.where(y == 0, np.nan, X[:, 0]), "rating": y + 1})
    columns["text"] = [f"text {i}" for i in range(300)]
    page = visit(model, X, columns=columns, names=[NASTY] * 300, title=f"odd \x00 {NASTY}")
    page.mouse.move(*positions(page)[3])
    pick(page, 3)
    for element in ("#tooltip", "#explanation", "#title"):  # names stay text
        assert NASTY in page.inner_text(element)
    page.mouse.move(5, 5)
    page.keyboard.press("Escape")
    options = page.locator("#colour option").all_inner_texts()
    seen = []
    for name in options:
        page.select_option("#colour", label=name)
        seen.append(picture(page, "samples"))
    assert len(set(seen)) == len(seen) == 11
    for name, line in (("rating", "4"), ("text", "276 more"), ("number", "missing")):
        page.select_option("#colour", label=name)
        assert page.inner_text("#legend").endswith(line)
    page.select_option("#colour", label="word")
    texts, circles = svg_parts(page)
    assert texts[:2] == [f"odd  {NASTY}", "300 samples, 4 clusters"]
    counts = f"{(model.labels_ == 3).sum()} · 10 %"
    assert {"word", "missing", "\N{PARTY POPPER}" * 23 + "…", "Cluster 3", counts} <= set(texts)
    np.testing.assert_array_equal(np.array(circles[:300]) == "rgb(140,146,154)", y == 3)
    png = download(page, "#png").read_bytes()
    width, height = struct.unpack(">II", png[16:24])
    panel = page.locator("#samples").bounding_box()
    assert (width > 4 * panel["width"], height > 2 * panel["height"]) == (True, True)


def test_search_and_gestures_find_samples(visit):
    page = visit(model, X, names=[f"name {i % 100}" for i in range(300)])
    for word, sample in (("42", 42), ("NAME 77", 77), ("NAME 77", 177)):
        page.fill("#search", word)
        page.keyboard.press("Enter")
        assert page.evaluate("explorer.app.picked") == [sample]
    page.fill("#search", "nobody")
    page.keyboard.press("Enter")
    assert page.inner_text("#notice").startswith("No sample matches “nobody”")
    page.keyboard.press("Escape")
    page.click("#show-all")
    before = positions(page)[0]
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(before[0] + 60, before[1] + 30, steps=4)
    page.mouse.up()
    np.testing.assert_allclose(positions(page)[0], [before[0] + 60, before[1] + 30], atol=8)
    page.mouse.wheel(0, -200)
    waited = 0
    while page.evaluate("explorer.app.camera.zoom") < 1.2 and waited < 100:
        page.wait_for_timeout(50)
        waited += 1
    assert waited < 100
    for key, direction in (("0", 0), ("ArrowLeft", -1), ("+", -1), ("-", -1), ("0", 0)):
        page.press("#samples", key)
        assert np.sign(page.evaluate("explorer.app.camera.x")) == direction
    page.click("#help-button")
    assert page.locator("#help").is_visible()


def test_the_page_works_on_a_phone(visit):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "color_scheme": "dark"}
    page = visit(model, X, device=phone, title="A rather long title of a page " * 3)
    boxes = [page.locator(f"#{panel}").bounding_box() for panel in ("samples", "graph")]
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]
    page.locator("#samples").scroll_into_view_if_needed()
    page.touchscreen.tap(*positions(page)[model.peaks_[0]])
    assert len(page.evaluate("explorer.app.picked")) == 1
    assert 0 < page.locator("#explanation").bounding_box()["y"] < 844 - 100  # visible without scrolling
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.get_attribute("html", "data-theme") == "dark"


def test_unusual_models_are_shown(visit):
    two = np.array([[0.0, 1.0], [2.0, 3.0]])
    for samples, n_clusters in ((two, 1), (two, 2), (np.zeros((5, 2)), 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = GIT(n_clusters).fit(samples)
        page = visit(fitted, samples)
        pick(page, 0, 1)
        assert "Sample 1" in page.inner_text("#explanation")
        np.testing.assert_array_equal(exported_labels(page), fitted.labels_)
    far = np.vstack([X, [[1e6, 0.0], [0.0, -1e7]]])
    page = visit(GIT(proportions=[4, 3, 2, 1], noise=0.05).fit(far), far)
    assert page.inner_text("#outside").startswith("2 samples far outside")
    assert "noise" in page.inner_text("#noise")
    page = visit(GIT(4, variant="paper").fit(X), X)
    pick(page, 0, 1)
    assert "up to" not in page.inner_text("#explanation")  # the cuts of this variant are not nested
    assert page.locator(".editing").count() == 0  # nor can a fit replay edits
    assert "variant" in page.inner_text("#edits-hint")


def test_many_samples_are_shown_as_tiles(visit):
    samples, _ = make_blobs(6_000, 2, centers=8, cluster_std=1.5, random_state=0)
    for variant in ("adaptive", "paper"):
        fitted = GIT(8, n_neighbors=6, variant=variant).fit(samples)
        page = visit(fitted, samples, max_samples=3_000)
        assert page.evaluate("explorer.samples.tiles() !== null")
        rows = pd.read_csv(download(page, "#csv"))
        np.testing.assert_array_equal(rows["label"], fitted.labels_[rows["index"]])
        page.mouse.move(*positions(page)[5])
        assert "in this tile" in page.inner_text("#tooltip")
        page.fill("#search", str(next(row for row in range(6_000) if row not in set(rows["index"]))))
        page.keyboard.press("Enter")
        assert "not in the shown subset" in page.inner_text("#notice")
        nodes = "explorer.graph.nodes.map(({size, label, locals}) => [size, label, locals.length])"
        before = np.array(page.evaluate(nodes))
        assert 200 <= len(before) < len(fitted.peaks_)  # a node is a branch of the hierarchy
        assert before[:, 2].sum() == len(fitted.peaks_)
        np.testing.assert_array_equal(np.bincount(before[:, 1], before[:, 0]), np.bincount(fitted.labels_))
        page.evaluate("explorer.app.camera.zoomAt({width: 10, height: 10}, 30)")
        picture(page, "samples")
        assert len(page.evaluate(nodes)) == len(fitted.peaks_)
        assert page.evaluate("explorer.samples.tiles() === null")
