"""The page in a browser: it shows what Python says, cuts as Python cuts, and lets nothing in or out."""

import struct
import warnings
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from gitcluster import GIT
from gitcluster.explorer import columns as packing_columns
from gitcluster.explorer import write_explorer
from gitcluster.fitted.attributes import agreement_words
from scripts.find_chromium import find_chromium, install_line

NASTY = "</script><script>document.body.remove()</script><!--<img src=x onerror=alert(1)>"
X, y = make_blobs([120, 90, 60, 30], 2, cluster_std=1.3, random_state=4)
model = GIT(4).fit(X)


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


@pytest.fixture
def visit(browser, tmp_path):
    """``visit(model, X, **options)`` -> the page of a model, opened from disk; in the end nothing may have failed."""
    contexts, problems = [], []

    def open_page(fitted, samples=None, *, device=None, before="", address="", **options):
        path = write_explorer(fitted, samples, tmp_path / f"{len(contexts)}.html", **options)
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 800}} | (device or {})))
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and problems.append(message.text))
        page.on("request", lambda request: is_foreign(request.url, path) and problems.append(request.url[:100]))
        page.add_init_script(before)
        page.goto(path.as_uri() + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def is_foreign(url, path):
    """Whether a request is for anything but the page itself and what it made."""
    return url.split("#")[0] != path.as_uri() and not url.startswith(("blob:", "data:"))


def place_of(page, sample, panel="samples"):
    """Where a sample is on the screen."""
    return page.evaluate(
        """([sample, panel]) => {
          const {camera, place} = explorer.app, box = document.getElementById(panel).getBoundingClientRect();
          const [x, y] = camera.toScreen(box, ...place.subarray(2 * sample, 2 * sample + 2));
          return [box.left + x, box.top + y];
        }""",
        [int(sample), panel],
    )


def settled(page):
    """After the next frame is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_until(page, true):
    """Playwright's own way would evaluate texts in the page, which forbids it."""
    for _ in range(100):
        if page.evaluate(true):
            return
        page.wait_for_timeout(50)
    raise AssertionError(true)


def picture(page, panel):
    settled(page)
    return page.locator(f"#{panel}").screenshot()


def quiet_cut(fitted, **wish):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fitted.cut(**wish)


def test_a_page_loads(visit):
    page = visit(model, X, title="Four groups")
    assert page.title() == "Four groups"
    assert page.inner_text("#summary") == f"300 samples · {len(model.peaks_)} local clusters · 4 clusters, as fitted"
    assert page.inner_text("#firmness") == agreement_words(model.agreement_)
    assert page.locator("#clusters button").count() == 4
    assert (
        page.locator("#clusters button")
        .nth(0)
        .get_attribute("aria-label")
        .startswith(f"Cluster 0: {(model.labels_ == 0).sum()} ")
    )
    assert page.evaluate("explorer.app.membership.length") == 300
    found = page.evaluate("[...explorer.app.membership]")
    np.testing.assert_allclose(found, model.probabilities_, atol=1e-6)
    unlabelled = "input:not([aria-label]), select"
    for control in page.locator(unlabelled).all():
        assert page.locator(f"label[for={control.get_attribute('id')}]").count() == 1


def test_pointing_at_one_panel_shows_in_the_other(visit):
    page = visit(model, X, names=[f"number {i}" for i in range(300)], columns={"class": y})
    graph, samples = picture(page, "graph"), picture(page, "samples")
    page.mouse.move(*place_of(page, 17))
    assert page.evaluate("explorer.app.hover.sample") == 17
    assert "number 17" in page.inner_text("#tooltip")
    assert "class" in page.inner_text("#tooltip")
    assert picture(page, "graph") != graph
    peak = model.peaks_[2]
    page.mouse.move(*place_of(page, peak, "graph"))
    assert "local cluster 2" in page.inner_text("#tooltip")
    assert picture(page, "samples") != samples
    page.mouse.move(5, 5)
    assert page.locator("#tooltip").is_hidden()
    assert (picture(page, "graph"), picture(page, "samples")) == (graph, samples)
    page.locator("#clusters button").nth(1).hover()
    assert picture(page, "samples") != samples


@pytest.mark.parametrize("variant", ["adaptive", "paper", "authors"])
def test_cuts_are_those_of_python(visit, variant):
    moons, _ = make_moons(400, noise=0.12, random_state=0)
    lattice = np.round(np.random.default_rng(2).normal(size=(250, 2)), 1)
    rng = np.random.default_rng(0)
    weights = None if variant == "authors" else rng.exponential(size=len(lattice))
    for fitted, samples in (
        (GIT(3, variant=variant, noise=0.05).fit(X), X),
        (GIT(proportions=[3, 2, 1], variant=variant).fit(moons), moons),
        (GIT(3, variant=variant).fit(lattice, sample_weight=weights), lattice),
    ):
        page = visit(fitted, samples)
        priors = [[3, 2, 1], [10, 20, 30]]
        priors += [rng.random(rng.integers(1, 12)).tolist() for _ in range(12)]
        priors += [rng.integers(1, 5, rng.integers(1, 7)).tolist() for _ in range(8)]
        wishes = [{"proportions": prior} for prior in priors] + [{"nClusters": c} for c in range(1, 21)]
        wishes += [{"nClusters": c, "proportions": "equal"} for c in range(1, 6)]
        found = page.evaluate("(wishes) => wishes.map((wish) => explorer.recut(wish))", wishes)
        for wish, labels in zip(wishes, found, strict=True):
            expected = quiet_cut(fitted, n_clusters=wish.get("nClusters"), proportions=wish.get("proportions"))
            labels = np.where(fitted.labels_ < 0, -1, np.array(labels)[fitted.local_labels_])
            np.testing.assert_array_equal(labels, expected, err_msg=str(wish))


def exported(page):
    with page.expect_download() as download:
        page.click("#csv")
    return np.array([line.split(",") for line in Path(download.value.path()).read_text().splitlines()[1:]], dtype=int).T


def test_the_slider_and_the_proportions_cut_anew(visit):
    page = visit(model, X)
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#number") == "5"
    assert page.locator("#clusters button").count() == 5
    np.testing.assert_array_equal(exported(page), [np.arange(300), model.cut(n_clusters=5)])
    page.fill("#number", "2")
    np.testing.assert_array_equal(exported(page)[1], model.cut(n_clusters=2))
    page.fill("#proportions", "5, 3 2")
    np.testing.assert_array_equal(exported(page)[1], model.cut(proportions=[5, 3, 2]))
    assert page.locator(".bar i").count() == 3
    page.fill("#proportions", "5, none")
    assert "none" in page.inner_text("#problem")
    np.testing.assert_array_equal(exported(page)[1], model.cut(proportions=[5, 3, 2]))
    page.click("#equal")
    np.testing.assert_array_equal(exported(page)[1], model.cut(n_clusters=3, proportions="equal"))
    page.click("#fitted")
    np.testing.assert_array_equal(exported(page)[1], model.labels_)
    assert page.locator("#problem").is_hidden()


def test_two_samples_are_explained(visit):
    page = visit(model, X)
    for a, b in np.random.default_rng(1).integers(0, 300, (25, 2)):
        story = page.evaluate("(pair) => (explorer.app.picked = pair, explorer.app.pair())", [int(a), int(b)])
        found = model.explain(int(a), int(b))
        assert story["together"] == found.same_cluster
        assert story["togetherUpTo"] == found.joined_until
        assert story["edges"] == found.edges.tolist()
        assert set(story["cut"]) == set(found.edges[found.cut].tolist())
        if story["edges"]:
            assert story["weakest"] == found.weakest


def test_one_sample_is_explained(visit):
    page = visit(model, X)
    cuts = {c: model.cut(n_clusters=c) for c in range(1, len(model.peaks_) + 1)}
    for sample in range(0, 300, 29):
        story = page.evaluate("(sample) => explorer.app.story(sample)", sample)
        climb = [sample]
        while model.parents_[climb[-1]] != climb[-1]:
            climb.append(int(model.parents_[climb[-1]]))
        assert story["climb"] == climb
        members = [set(np.flatnonzero(labels == labels[sample])) for labels in cuts.values()]
        own = members[model.n_clusters_ - 1]
        assert story["splitsAt"] == next((c for c, other in enumerate(members, 1) if other < own), None)
        assert story["mergesAt"] == max((c for c, other in enumerate(members, 1) if other > own), default=None)
        if story["mergesAt"]:
            joined = members[story["mergesAt"] - 1] - own
            assert joined == set(np.flatnonzero(model.labels_ == story["mergesWith"]))
        page.evaluate("(sample) => (explorer.app.clear(), explorer.app.pick(sample))", sample)
        shares = model.predict_proba(X[sample : sample + 1])[0]
        others = np.delete(np.arange(4), model.labels_[sample])
        second = others[shares[others].argmax()]
        text = f"{shares.max():.3f}" + (f", {shares[second]:.3f} in cluster {second}" if shares[second] > 5e-4 else "")
        assert text in page.inner_text("#explanation").splitlines()


def test_clicks_and_keys_pick_samples(visit):
    page = visit(model, X)
    first, second = (int(np.flatnonzero(model.labels_ == c)[0]) for c in (0, 3))
    page.mouse.click(*place_of(page, first))
    assert f"Sample {first}" in page.inner_text("#explanation")
    page.mouse.click(*place_of(page, second))
    assert "Different clusters" in page.inner_text("#explanation")
    assert page.get_attribute("#explanation", "aria-live") == "polite"
    page.keyboard.press("Escape")
    assert page.evaluate("explorer.app.picked") == []
    page.mouse.move(5, 5)
    page.focus("#samples")
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.inner_text("#message") == f"sample 1, cluster {model.labels_[1]}"
    page.keyboard.press("Enter")
    assert page.evaluate("explorer.app.picked") == [1]
    page.focus("#graph")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    assert page.evaluate("explorer.app.picked") == [1, int(model.peaks_[model.topo_graph_.sizes.argmax()])]
    zoom = page.evaluate("explorer.app.camera.zoom")
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("explorer.app.camera.zoom") > zoom
    assert page.evaluate("explorer.app.camera.x") < 0
    page.keyboard.press("0")
    assert page.evaluate("[explorer.app.camera.zoom, explorer.app.camera.x]") == [1, 0]
    page.click("[aria-label='Zoom in']")
    assert page.evaluate("explorer.app.camera.zoom") == 1.5
    page.keyboard.press("Enter")
    assert page.evaluate("explorer.app.camera.zoom") == 2.25
    page.click("[aria-label='Show all']")
    before = place_of(page, 0)
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(before[0] + 60, before[1] + 30, steps=4)
    page.mouse.up()
    np.testing.assert_allclose(place_of(page, 0), [before[0] + 60, before[1] + 30], atol=8)
    page.mouse.wheel(0, -200)
    wait_until(page, "explorer.app.camera.zoom > 1.2")


def test_samples_are_found_by_index_and_name(visit):
    page = visit(model, X, names=[f"name {i % 100}" for i in range(300)])
    page.keyboard.press("/")
    page.keyboard.type("42")
    page.keyboard.press("Enter")
    assert page.evaluate("explorer.app.picked") == [42]
    page.fill("#search", "NAME 77")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("explorer.app.picked") == [177]
    page.fill("#search", "nobody")
    page.keyboard.press("Enter")
    assert page.locator("#notice").is_visible()
    assert page.inner_text("#notice").startswith("Nothing found for “nobody”")
    assert page.get_attribute("#search", "aria-invalid") == "true"


def colour_by(page, word):
    page.click("#colour")
    page.fill("#colour", word)
    page.keyboard.press("Enter")


def test_every_colouring_shows(visit):
    columns = {"number": np.where(y == 0, np.nan, X[:, 0]), "word": np.array(list("abcd"))[y]}
    page = visit(model, X, columns=columns)
    page.click("#colour")
    names = [option.inner_text().split("\n")[0] for option in page.locator("#colour-list [role=option]").all()]
    assert names[-4:] == ["number", "word", "feature 0", "feature 1"]
    seen = []
    for name in names:
        colour_by(page, name)
        assert page.input_value("#colour") == name
        seen.append(picture(page, "samples"))
    assert len(set(seen)) == len(seen) == 9
    assert "missing" not in page.inner_text("#legend")
    colour_by(page, "number")
    assert "missing" in page.inner_text("#legend")


def test_any_of_many_columns_is_found_by_typing(visit):
    wide = pd.DataFrame(np.column_stack([X] * 75), columns=[f"pixel {i}" for i in range(150)])
    wide["remark"] = [f"remark {i}" for i in range(300)]
    page = visit(model, X, columns=wide)
    page.click("#colour")
    assert "more: type to find" in page.inner_text("#colour-list")
    page.fill("#colour", "149")
    assert page.locator("#colour-list [role=option]").count() == 1
    page.keyboard.press("Enter")
    assert page.inner_text("#legend h2") == "pixel 149"
    page.fill("#colour", "no such column")
    assert page.inner_text("#colour-list") == "Nothing found"
    page.keyboard.press("Escape")
    assert page.input_value("#colour") == "pixel 149"
    page.keyboard.press("ArrowDown")  # what is chosen is not among the first hundred: the last of these is marked
    active = "[...document.querySelectorAll('#colour-list li')].findIndex((item) => item.matches('.active'))"
    assert page.evaluate(active) == 99
    for key, place in (("ArrowDown", 0), ("ArrowUp", 99), ("ArrowUp", 98)):
        page.keyboard.press(key)
        assert page.evaluate(active) == place
    colour_by(page, "remark")
    assert "276 more" in page.inner_text("#legend")


def test_whole_numbers_of_few_values_are_classes(visit):
    page = visit(model, X, columns={"rating": y + 1, "age": np.arange(300) % 60})
    colour_by(page, "rating")
    assert page.inner_text("#legend .categories").split() == ["1", "2", "3", "4"]
    colour_by(page, "age")
    assert page.locator("#legend .ramp").count() == 1


def test_categories_have_other_colours_than_clusters(visit):
    page = visit(model, X, columns={"word": np.array(list("abcd"))[y]})
    colours = "(where) => [...document.querySelectorAll(where)].map((one) => one.style.background)"
    clusters = page.evaluate(colours, "#clusters .swatch")
    colour_by(page, "word")
    assert len(set(page.evaluate(colours, "#legend .swatch")) | set(clusters)) == 8


def test_sixty_clusters_have_sixty_colours(visit):
    many, _ = make_blobs(900, 2, centers=90, cluster_std=0.1, random_state=0)
    page = visit(GIT(60).fit(many), many)
    colours = page.evaluate("Array.from({length: 60}, (_, label) => explorer.app.colourOf(label))")
    assert len({tuple(colour) for colour in colours}) == 60
    apart = np.linalg.norm(np.array(colours)[:, None] - np.array(colours), axis=2)
    assert apart[np.triu_indices(60, 1)].min() > 25


def test_clusters_keep_their_colours_through_cuts(visit):
    page = visit(model, X)
    cuts = (
        "(wish) => (explorer.app.recut(wish), [...explorer.app.cut.labels].map((label) => explorer.app.slots[label]))"
    )
    first = page.evaluate(cuts, {})
    sizes = model.topo_graph_.sizes
    before = first
    for number in (5, 6, 7):
        slots = page.evaluate(cuts, {"nClusters": number})
        changed = np.array(slots) != np.array(before)
        assert len(set(np.array(slots)[changed])) == 1  # one part has a new colour, and it is the smaller one
        parent = np.array(before)[changed][0]
        assert sizes[changed].sum() <= sizes[(np.array(slots) == parent)].sum()
        before = slots
    page.evaluate(cuts, {"proportions": [1, 1]})
    assert page.evaluate(cuts, {"nClusters": 7}) == before  # whichever cuts came between
    assert page.evaluate(cuts, {}) == first


def test_the_picture_is_a_png_of_twice_the_pixels(visit):
    page = visit(model, X)
    with page.expect_download() as download:
        page.click("#png")
    png = Path(download.value.path()).read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    panel = page.locator("#samples").bounding_box()
    assert width > 2 * 2 * panel["width"]
    assert height > 2 * panel["height"]
    chunks, at = b"", 8
    while at < len(png):
        length = struct.unpack(">I", png[at : at + 4])[0]
        chunks += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    assert len(set(zlib.decompress(chunks))) > 100  # not of one colour


def test_the_picture_as_svg_has_legend_caption_and_counts(visit):
    page = visit(model, X, title=NASTY, columns={"word": np.array(list("abcd"))[y]})
    colour_by(page, "word")
    with page.expect_download() as download:
        page.click("#svg")
    root = ElementTree.parse(download.value.path()).getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = ["".join(element.itertext()) for element in root.iter(f"{space}text")]
    assert texts[0] == NASTY
    assert texts[1].startswith("300 samples, 4 clusters")
    assert {"word", "a", "Cluster 3", f"{(model.labels_ == 3).sum()} · 10 %"} <= set(texts)
    assert len(list(root.iter(f"{space}circle"))) > 300 + len(model.peaks_)


def test_pictures_of_missing_values_and_odd_texts(visit):
    words = np.array(["\N{PARTY POPPER}" * 30, "bell \x07 rings", "half \ud83c", None], dtype=object)[y]
    columns = pd.DataFrame({"word": words, "empty": pd.Categorical([None] * 300, ["unused"])})
    columns["empty"] = columns["empty"].cat.remove_unused_categories()
    page = visit(model, X, columns=columns, title="odd \x00 title")
    for name, lacking in (("word", y == 3), ("empty", y >= 0)):
        colour_by(page, name)
        items = page.locator("#legend li")
        assert items.count() == (4 if name == "word" else 1)
        assert items.last.inner_text() == "missing"
        with page.expect_download() as download:
            page.click("#svg")
        root = ElementTree.parse(download.value.path()).getroot()
        space = "{http://www.w3.org/2000/svg}"
        texts = ["".join(element.itertext()) for element in root.iter(f"{space}text")]
        assert {"odd  title", name, "missing"} <= set(texts)
        assert ("\N{PARTY POPPER}" * 23 + "…" in texts) == (name == "word")
        fills = [circle.get("fill") for circle in root.find(f"{space}svg").iter(f"{space}circle")][:300]
        np.testing.assert_array_equal(np.array(fills) == "rgb(140,146,154)", lacking)
    colour_by(page, "word")
    with page.expect_download():
        page.click("#png")
    assert page.locator("#notice").is_hidden()
    page.evaluate(
        "Object.defineProperty(Image.prototype, 'src', {set() { this.setAttribute('src', 'data:image/svg+xml,<'); }})"
    )
    page.click("#png")
    wait_until(page, "!document.getElementById('notice').hidden")
    assert "could not be drawn as a PNG" in page.inner_text("#notice")


def test_names_stay_text(visit):
    page = visit(model, X, names=[NASTY] * 300, columns={NASTY: [NASTY] * 300}, title=NASTY)
    assert page.title() == NASTY
    page.mouse.move(*place_of(page, 3))
    assert NASTY in page.inner_text("#tooltip")
    page.evaluate("explorer.app.pick(3)")
    assert NASTY in page.inner_text("#explanation")
    colour_by(page, NASTY)
    assert NASTY in page.inner_text("#legend")
    assert page.locator("img").count() == 0


def test_the_page_allows_its_own_script_only(visit):
    page = visit(model, X)
    policy = page.get_attribute("meta[http-equiv]", "content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_a_phone_shows_one_panel_below_the_other(visit):
    device = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = visit(model, X, device=device, title="A rather long title of a page " * 3)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    boxes = [page.locator(f"#{panel}").bounding_box() for panel in ("samples", "graph")]
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"]
    page.locator("#samples").scroll_into_view_if_needed()
    page.touchscreen.tap(*place_of(page, model.peaks_[0]))
    assert len(page.evaluate("explorer.app.picked")) == 1
    sheet = page.locator("#explanation").bounding_box()
    assert 0 < sheet["y"] < 844 - 100  # in view without scrolling
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_light_and_dark(visit):
    page = visit(model, X, device={"color_scheme": "dark", "viewport": {"width": 900, "height": 700}})
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.get_attribute("html", "data-theme") == "dark"
    dark = page.evaluate(background)
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "light"
    assert page.evaluate(background) != dark


def test_a_page_works_without_webgl(visit):
    refuse = """const original = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind === "webgl" ? null : original.call(this, kind, ...rest);
      };"""
    page = visit(model, X, before=refuse)
    assert page.locator("#no-webgl").is_visible()
    before = picture(page, "samples")
    page.fill("#number", "2")
    assert picture(page, "samples") != before


def test_models_with_constraints_are_only_shown(visit):
    page = visit(GIT(4, max_cluster_size=110).fit(X), X)
    assert page.locator("#slider").is_disabled()
    assert page.locator("#proportions").is_disabled()
    assert "constraints" in page.inner_text("#constrained")


def test_small_models(visit):
    two = np.array([[0.0, 1.0], [2.0, 3.0]])
    for samples, n_clusters in ((two, 1), (two, 2), (np.zeros((5, 2)), 1), (X, 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = GIT(n_clusters).fit(samples)
        page = visit(fitted, samples)
        assert page.locator("#clusters button").count() == fitted.n_clusters_
        page.evaluate("explorer.app.pick(0), explorer.app.pick(1)")
        assert "Sample 1" in page.inner_text("#explanation")
        np.testing.assert_array_equal(exported(page)[1], fitted.labels_)
        if len(fitted.peaks_) == 1:
            page.fill("#proportions", "2, 1")
            assert page.inner_text("#problem") == "There is only 1 intensity peak."
            page.fill("#number", "9")
            page.keyboard.press("Enter")
            assert page.inner_text("#notice").startswith("There is 1 local cluster, so")


def test_a_sampled_page_knows_the_rows(visit):
    page = visit(model, X, max_samples=100)
    rows = exported(page)
    assert rows.shape == (2, 100)
    np.testing.assert_array_equal(rows[1], model.labels_[rows[0]])
    assert (
        page.locator("#clusters button")
        .nth(0)
        .get_attribute("aria-label")
        .startswith(f"Cluster 0: {(model.labels_ == 0).sum()} ")
    )
    page.fill("#search", str(rows[0][50]))
    page.keyboard.press("Enter")
    assert f"Sample {rows[0][50]}" in page.inner_text("#explanation")
    page.fill("#search", str(next(row for row in range(300) if row not in set(rows[0]))))
    page.keyboard.press("Enter")
    assert "not among those shown" in page.inner_text("#notice")


def test_a_hundred_thousand_samples(visit):
    samples, _ = make_blobs(100_000, 2, centers=8, cluster_std=1.5, random_state=0)
    fitted = GIT(8, n_neighbors=12).fit(samples)
    page = visit(fitted, samples)
    before = picture(page, "samples")
    page.mouse.move(*place_of(page, 99_999))
    assert page.evaluate("explorer.app.hover.sample") >= 0
    page.fill("#number", "20")
    np.testing.assert_array_equal(exported(page)[1], fitted.cut(n_clusters=20))
    assert picture(page, "samples") != before


def test_a_chosen_cluster_tells_what_sets_it_apart(visit):
    word = np.array(["north", "south", "east", "west"])[y]
    word[::9] = "north"
    page = visit(model, X, columns={"x": X[:, 0], NASTY: word})
    found = model.profile(pd.DataFrame({"x": X[:, 0], NASTY: word, "feature 0": X[:, 0], "feature 1": X[:, 1]}))
    for cluster in (0, 2):
        page.click(f"[data-cluster='{cluster}']")
        shown = [row.inner_text().split("\t") for row in page.query_selector_all(".profile tr:has(td)")]
        told = {contrast.title: contrast for contrast in found[cluster].strongest()}
        assert shown
        for name, here, elsewhere, effect in shown:
            assert float(effect.replace("\N{MINUS SIGN}", "-")) == pytest.approx(told[name].effect, abs=0.06)
            if name in ("x", "feature 0", "feature 1"):
                assert float(here) == pytest.approx(told[name].inside, rel=0.01)
                assert float(elsewhere) == pytest.approx(told[name].elsewhere, rel=0.01)
            else:
                assert float(here.rstrip(" %")) / 100 == pytest.approx(told[name].inside, abs=0.006)
        page.click(f"[data-cluster='{cluster}']")
        assert not page.query_selector_all(".profile")


TABLE = pd.DataFrame(
    {
        "income": np.round(20_000 + 10_000 * X[:, 0], 2),
        "noise": np.round(np.random.default_rng(0).normal(size=300), 3),
        "city": np.array(["Rome", "Oslo", "Bern", "Bonn"])[y],
        "joined": pd.Timestamp("2020-02-27") + pd.to_timedelta(y, unit="D"),
    },
    index=[f"C{i:03d}" for i in range(300)],
)


def test_tooltips_show_what_matters_for_the_cluster_as_it_is_in_the_table(visit):
    noise = {f"noise {i}": np.random.default_rng(i).normal(size=300).round(3) for i in range(9)}
    page = visit(model, X, columns=pd.DataFrame(noise).join(TABLE.reset_index(drop=True)), names=TABLE.index)
    page.mouse.move(*place_of(page, 17))
    shown = dict(line.inner_text().split("\n") for line in page.locator("#tooltip .column").all())
    assert shown["income"] == f"{TABLE['income'].iloc[17]:,.2f}".rstrip("0").rstrip(".")
    assert shown["city"] == TABLE["city"].iloc[17]
    assert shown["joined"] == str(TABLE["joined"].iloc[17].date())


def test_two_samples_are_compared_column_by_column(visit):
    page = visit(model, X, columns=TABLE, names=TABLE.index)
    first, second = (int(np.flatnonzero(model.labels_ == c)[0]) for c in (0, 3))
    page.evaluate("([a, b]) => (explorer.app.pick(a), explorer.app.pick(b))", [first, second])
    rows = {
        row[0]: row[1:] for row in (line.inner_text().split("\t") for line in page.query_selector_all(".profile tr"))
    }
    assert rows["city"] == [TABLE["city"].iloc[first], TABLE["city"].iloc[second], "1.0"]
    spread = abs(TABLE["income"].iloc[first] - TABLE["income"].iloc[second]) / TABLE["income"].std(ddof=0)
    assert float(rows["income"][2]) == pytest.approx(spread, abs=0.051)
    path = page.evaluate("explorer.app.pair().path")
    assert f"numbered 1 to {len(path)} in the graph" in page.inner_text("#explanation")


def test_columns_that_were_not_used_stand_apart_from_the_reasons(visit):
    table = TABLE.assign(x=X[:, 0], y=X[:, 1])
    fitted = GIT(4, columns=dict.fromkeys(TABLE.columns, "ignore")).fit(table)
    page = visit(fitted, table)
    first, second = (int(np.flatnonzero(fitted.labels_ == c)[0]) for c in (0, 3))
    picks = (f"pick({first})", f"pick({second})", f"clear(), explorer.app.pick({first}), explorer.app.pickCluster(2)",
             "clear(), explorer.app.pickCluster(1)")  # fmt: skip
    for pick in picks:
        page.evaluate(f"explorer.app.{pick}")
        reasons, others = page.inner_text("#explanation").split("Not used for clustering:")
        assert not any(name in reasons for name in TABLE.columns)
        assert {"x", "y"} & {line.split("\t")[0] for line in reasons.splitlines()}
        assert "income" in others


def test_samples_far_outside_are_counted(visit):
    far = np.vstack([X, [[1e6, 0.0], [0.0, -1e7]]])
    page = visit(GIT(4).fit(far), far)
    assert page.inner_text("#outside").startswith("2 samples far outside")
    assert visit(model, X).inner_text("#outside") == ""


def test_a_sample_is_compared_to_a_cluster_it_is_not_in(visit):
    page = visit(model, X, columns=TABLE, names=TABLE.index)
    sample = int(np.flatnonzero(model.labels_ == 0)[0])
    page.fill("#search", f"c{sample:03d}")
    page.keyboard.press("Enter")
    page.click("[data-cluster='3']")
    text = page.inner_text("#explanation")
    assert f"C{sample:03d} is not in cluster 3" in text
    assert f"{TABLE['income'][model.labels_ == 3].mean():,.0f}" in text
    assert "The strongest path between them" in text


def test_words_of_the_method_are_explained_where_they_stand(visit):
    page = visit(model, X)
    page.hover("[data-term=bridge] .term")
    assert "no pair of neighbours" in page.inner_text("#tooltip")
    page.focus("[data-term=cut] .term")
    assert "between two clusters" in page.inner_text("#tooltip")


def test_numbers_out_of_range_are_corrected_visibly(visit):
    page = visit(model, X)
    page.fill("#number", "9999")
    page.keyboard.press("Enter")
    most = str(len(model.peaks_))
    assert page.input_value("#number") == most
    assert f"9999 became {most}" in page.inner_text("#notice")
    page.fill("#number", "-3")
    page.keyboard.press("Enter")
    assert page.input_value("#number") == "1"
    assert "-3 became 1" in page.inner_text("#notice")


def test_proportions_are_read_as_people_write_them(visit):
    page = visit(model, X)
    for text in ("50% 30% 20%", "50 %, 30 %, 20 %", "0,5 0,3 0,2", "0,5; 0,3; 0,2", "50,30,20", ".5 .3 .2"):
        page.fill("#proportions", "1")
        page.fill("#proportions", text)
        np.testing.assert_array_equal(exported(page)[1], model.cut(proportions=[5, 3, 2]), err_msg=text)


def test_the_slider_shows_scores_and_recommended_numbers(visit):
    fitted = GIT().fit(X)
    page = visit(fitted, X)
    scores = fitted.n_clusters_scores_
    best = fitted.n_clusters_
    assert page.locator(".mark").first.inner_text() == str(best)
    assert page.get_attribute(f"#curve rect:nth-child({best})", "class") == "now"
    page.fill("#number", str(best + 1))
    told = page.inner_text("#firmness")
    score = scores["score"][scores["n_clusters"] == best + 1][0]
    assert told.startswith(f"{best + 1} has a score of {score:.2f}; the best number, {best}, has")
    page.locator(".mark").first.click()
    assert page.locator("#clusters button").count() == best


def test_a_large_graph_is_drawn_by_nodes_that_open(visit):
    samples, _ = make_blobs(3000, 2, centers=5, random_state=0)
    fitted = GIT(5, n_neighbors=5).fit(samples)
    assert len(fitted.peaks_) > 200
    page = visit(fitted, samples)
    nodes = "explorer.graph.graph.nodes.map(({size, label, locals}) => [size, label, locals.length])"
    before = np.array(page.evaluate(nodes))
    assert len(before) == 120
    assert before[:, 2].sum() == len(fitted.peaks_)
    np.testing.assert_array_equal(np.bincount(before[:, 1], before[:, 0]), np.bincount(fitted.labels_))
    assert page.evaluate("explorer.graph.graph.links.length") < 3 * len(before)
    middle = page.evaluate("explorer.graph.graph.nodes.find(({locals}) => locals.length > 1).middle")
    page.mouse.click(*place_of(page, fitted.peaks_[middle], "graph"))
    settled(page)
    assert len(page.evaluate(nodes)) > len(before)
    page.click("#close-nodes")
    settled(page)
    np.testing.assert_array_equal(page.evaluate(nodes), before)


def test_other_views_of_the_same_samples(visit):
    rng = np.random.default_rng(0)
    hidden = np.column_stack([rng.normal(0, 6, (200, 2)), np.repeat([0.0, 2.0], [150, 50]) + rng.normal(0, 0.1, 200)])
    fitted = GIT(2, scale=[0.01, 0.01, 1]).fit(hidden)
    page = visit(fitted, hidden, embedding=hidden[:, :2])
    assert page.locator("#view option").all_inner_texts() == ["Embedding", "PCA", "Discriminant", "Graph layout"]
    assert page.inner_text(".among") == "drawn among cluster 0"
    page.select_option("#view", label="Discriminant")
    assert page.locator(".among").count() == 0
    place = np.array(page.evaluate("[...explorer.app.place]")).reshape(-1, 2)[:, 0]
    first, second = (place[fitted.labels_ == c] for c in (0, 1))
    assert first.max() < second.min() or second.max() < first.min()
    page.select_option("#view", label="Embedding")
    page.click("#see-apart")
    assert page.locator("#view option:checked").inner_text() == "Graph layout"
    page.select_option("#view", label="Embedding")
    page.evaluate(
        "(samples) => { for (const x of samples) explorer.app.model.samples.noise[x] = 1; explorer.app.recut({}); }",
        np.flatnonzero(fitted.labels_ == 1).tolist(),
    )
    assert page.locator(".among").count() == 0  # a cluster of which nothing is drawn is among no other


def test_panels_follow_the_data_and_can_be_resized(visit):
    wide = X / np.ptp(X, axis=0) * [2.5, 1]
    page = visit(GIT(4).fit(wide), wide)
    assert page.get_attribute("#panels", "data-layout") == "column"
    page = visit(model, X)
    assert page.get_attribute("#panels", "data-layout") == "row"
    width = page.locator("#samples").bounding_box()["width"]
    bar = page.locator("#splitter").bounding_box()
    page.mouse.move(bar["x"] + 6, bar["y"] + 200)
    page.mouse.down()
    page.mouse.move(bar["x"] + 106, bar["y"] + 200)
    page.mouse.up()
    assert page.locator("#samples").bounding_box()["width"] == pytest.approx(width + 100, abs=8)
    page.click("[data-large=graph]")
    assert page.locator("#samples").is_hidden()
    assert page.locator("#graph").bounding_box()["width"] > 1.8 * width
    page.click("[data-large=graph]")
    assert page.locator("#samples").is_visible()


def test_a_lasso_selects_sums_up_and_exports(visit):
    page = visit(model, X, columns=TABLE, names=TABLE.index)
    wanted = np.flatnonzero(model.labels_ == 3)
    box = np.array([place_of(page, sample) for sample in wanted])
    (left, top), (right, bottom) = box.min(axis=0) - 4, box.max(axis=0) + 4
    places = np.array([place_of(page, sample) for sample in range(300)])
    inside = ((places > [left, top]) & (places < [right, bottom])).all(axis=1)
    page.click("#lasso")
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, bottom), (left, bottom)):
        page.mouse.move(*corner)
    page.mouse.up()
    np.testing.assert_array_equal(page.evaluate("[...explorer.app.selection]"), np.flatnonzero(inside))
    assert f"{inside.sum()} samples selected" in page.inner_text("#explanation")
    with page.expect_download() as download:
        page.click(".rows")
    rows = pd.read_csv(download.value.path())
    np.testing.assert_array_equal(rows["index"], np.flatnonzero(inside))
    np.testing.assert_array_equal(rows["cluster"], model.labels_[inside])
    np.testing.assert_array_equal(
        rows[["name", "income", "city"]], TABLE[inside].reset_index()[["index", "income", "city"]]
    )
    page.keyboard.press("Escape")
    assert page.evaluate("explorer.app.selection") is None
    seen = []
    for samples in ([0, 1, 2], [0, 5, 9]):
        page.evaluate("(samples) => explorer.app.select(Int32Array.from(samples))", samples)
        seen.append(picture(page, "samples"))
    assert seen[0] != seen[1]


def test_rows_are_those_of_the_table(visit, monkeypatch):
    monkeypatch.setattr(packing_columns, "MOST_CHARACTERS", 3200)  # room for one of the two features
    step = pd.to_timedelta(np.arange(300), unit="min")
    columns = {
        "minute": (pd.Timestamp("2024-05-31 00:01") + step).to_numpy(),
        "second": (pd.Timestamp("2024-05-31 10:31:07") + step).to_numpy(),
        "id": 12_345_678_901 + np.arange(300),
        "=1+1": np.array(["-5", "-five", "@x", 'a "b"'])[y],
        "ratio": np.r_[np.inf, X[1:, 0]],
    }
    page = visit(model, X, columns=columns, names=["+name", *map(str, range(1, 300))])
    assert page.inner_text("#left-out") == "1 column that differs least between clusters is not in this page."
    page.evaluate("explorer.app.select(Int32Array.from({length: 300}, (_, i) => i))")
    with page.expect_download() as download:
        page.click(".rows")
    texts = {"minute": str, "second": str}
    rows = pd.read_csv(download.value.path(), dtype=texts, float_precision="round_trip")
    np.testing.assert_array_equal(rows["minute"], pd.Series(columns["minute"]).dt.strftime("%Y-%m-%d %H:%M"))
    np.testing.assert_array_equal(rows["second"], pd.Series(columns["second"]).dt.strftime("%Y-%m-%d %H:%M:%S"))
    np.testing.assert_array_equal(rows["id"], columns["id"])
    np.testing.assert_array_equal(rows["'=1+1"], np.array(["-5", "'-five", "'@x", 'a "b"'])[y])
    assert rows["name"][0] == "'+name"
    np.testing.assert_array_equal(rows["ratio"], columns["ratio"])
    deviation = page.evaluate("explorer.app.stats.find(({column}) => column.name === 'ratio').deviation")
    assert deviation == pytest.approx(X[1:, 0].std())
    page.evaluate("explorer.app.pick(0), explorer.app.pick(1)")
    compared = [line.inner_text().split("\t") for line in page.query_selector_all(".profile tr")]
    assert ["ratio", "∞"] in [[row[0], row[-1]] for row in compared]
    page.mouse.move(*place_of(page, 7))
    assert "12,345,678,908" in page.inner_text("#tooltip")


def test_the_address_holds_what_is_seen(visit):
    page = visit(model, X, columns=TABLE)
    page.fill("#number", "6")
    colour_by(page, "income")
    page.evaluate(
        "explorer.app.pick(3), explorer.app.pick(200), explorer.app.camera.zoomAt({width: 10, height: 10}, 2)"
    )
    wait_until(page, "location.hash.includes('at=') && location.hash.includes('samples=3')")
    again = visit(model, X, columns=TABLE, address=page.evaluate("location.hash"))
    state = "[explorer.app.cut.nClusters, explorer.app.colourBy, explorer.app.picked, explorer.app.camera.zoom]"
    assert again.evaluate(state) == page.evaluate(state) == [6, "column 0", [3, 200], 2]
    assert again.input_value("#colour") == "income"
    odd = visit(model, X, address="#clusters=x&view=none&colour=column:none&samples=-4,9999&cluster=77&at=1,2")
    assert odd.evaluate(state) == [4, "cluster", [], 1]
    odd = visit(model, X, address="#samples=1.5&cluster=1.6&at=0,0,1e300")
    assert odd.evaluate(state) == [4, "cluster", [], 2000]
    assert odd.evaluate("explorer.app.cluster") == -1


def test_odd_samples_are_listed(visit):
    page = visit(model, X)
    page.click("#odd-title")
    page.locator("#odd button").first.click()
    assert page.evaluate("explorer.app.picked") == [int(model.outlier_scores_.argmax())]


def test_tiles_stand_for_samples_that_are_not_drawn(visit):
    page = visit(model, X, max_samples=290)
    rows = page.evaluate("[...explorer.app.model.samples.row]")
    axes = page.evaluate("explorer.app.view.axes.map(({centre, unit}) => [centre, unit])")
    side = page.evaluate("explorer.app.view.density.side")
    centre, unit = np.array(axes).T
    tiles = np.clip(np.floor(((X - centre) / unit + 1) / 2 * side), 0, side - 1)
    edge = rows.index(X[:, np.ptp(X, axis=0).argmax()].argmax())  # on the upper edge of the window
    for sample in (5, edge):
        page.mouse.move(*place_of(page, sample))
        there = int((tiles == tiles[rows[sample]]).all(axis=1).sum())
        assert page.inner_text("#tooltip .hint") == f"{there} sample{'s' if there > 1 else ''} in this tile"
    assert page.locator("#tiles").is_visible()
    page.evaluate("explorer.app.camera.zoomAt({width: 10, height: 10}, 30)")
    settled(page)
    assert page.locator("#tiles").is_hidden()  # the samples themselves, from near


def test_values_that_are_compared_are_not_cut(visit):
    """Two samples side by side: answers wrap, and texts without end stop after four lines."""
    answers = np.array(["strongly disagree", "neither agree nor disagree", "strongly agree, always"])[y % 3]
    notes = [f"{i} " + "a long story " * 40 for i in range(len(X))]
    page = visit(model, X, columns={"answer": answers, "note": notes})
    page.evaluate("explorer.app.pick(0), explorer.app.pick(1)")
    cut = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.innerText)"
    assert page.eval_on_selector_all(".profile td", cut) == []
    heights = page.eval_on_selector_all(".profile td", "cells => cells.map(cell => cell.clientHeight)")
    assert max(heights) < 120
