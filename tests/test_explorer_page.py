"""The page in a browser: it shows what Python says, cuts as Python cuts, and lets nothing in or out."""

import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from gitcluster import GIT
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

    def open_page(fitted, samples=None, *, device=None, before="", **options):
        path = write_explorer(fitted, samples, tmp_path / f"{len(contexts)}.html", **options)
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 800}} | (device or {})))
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: message.type == "error" and problems.append(message.text))
        page.on("request", lambda request: request.url != path.as_uri() and problems.append(request.url[:100]))
        page.add_init_script(before)
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [problem for problem in problems if not problem.startswith("blob:")] == []


def place_of(page, sample, panel="samples"):
    """Where a sample is on the screen."""
    return page.evaluate(
        """([sample, panel]) => {
          const {camera, model} = explorer.app, box = document.getElementById(panel).getBoundingClientRect();
          const [x, y] = camera.toScreen(box, ...model.samples.place.subarray(2 * sample, 2 * sample + 2));
          return [box.left + x, box.top + y];
        }""",
        [int(sample), panel],
    )


def settled(page):
    """After the next frame is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


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
        assert story["together"] == found.together
        assert story["togetherUpTo"] == found.together_until
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
    assert "Apart" in page.inner_text("#explanation")
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
    assert page.evaluate("explorer.app.picked") == [1, int(model.peaks_[0])]
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
    page.wait_for_function("explorer.app.camera.zoom > 1.2")


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
    assert page.inner_text("#message") == "No sample of that index or name."


def test_every_colouring_shows(visit):
    page = visit(model, X, columns={"number": np.where(y == 0, np.nan, X[:, 0]), "word": np.array(list("abcd"))[y]})
    seen = {picture(page, "samples")}
    options = page.locator("#colour option").all()
    for option in options[1:]:
        page.select_option("#colour", option.get_attribute("value"))
        seen.add(picture(page, "samples"))
    assert len(seen) == len(options) == 7
    assert "missing" not in page.inner_text("#legend")
    page.select_option("#colour", label="number")
    assert "missing" in page.inner_text("#legend")


def test_the_picture_is_a_png(visit):
    page = visit(model, X)
    with page.expect_download() as download:
        page.click("#png")
    png = Path(download.value.path()).read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width > height > 300
    chunks, at = b"", 8
    while at < len(png):
        length = struct.unpack(">I", png[at : at + 4])[0]
        chunks += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    assert len(set(zlib.decompress(chunks))) > 100  # not of one colour


def test_names_stay_text(visit):
    page = visit(model, X, names=[NASTY] * 300, columns={NASTY: [NASTY] * 300}, title=NASTY)
    assert page.title() == NASTY
    page.mouse.move(*place_of(page, 3))
    assert NASTY in page.inner_text("#tooltip")
    page.evaluate("explorer.app.pick(3)")
    assert NASTY in page.inner_text("#explanation")
    page.select_option("#colour", label=NASTY)
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
    assert "not among those shown" in page.inner_text("#message")


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
    found = model.profile(pd.DataFrame({"x": X[:, 0], NASTY: word}))
    for cluster in (0, 2):
        page.click(f"[data-cluster='{cluster}']")
        shown = [row.inner_text().split("\t") for row in page.query_selector_all(".profile tr")[1:]]
        told = {contrast.title: contrast for contrast in found[cluster].strongest()}
        assert shown
        for name, here, elsewhere, effect in shown:
            assert float(effect.replace("\N{MINUS SIGN}", "-")) == pytest.approx(told[name].effect, abs=0.06)
            if name == "x":
                assert float(here) == pytest.approx(told[name].inside, rel=0.01)
                assert float(elsewhere) == pytest.approx(told[name].elsewhere, rel=0.01)
            else:
                assert float(here.rstrip(" %")) / 100 == pytest.approx(told[name].inside, abs=0.006)
        page.click(f"[data-cluster='{cluster}']")
        assert not page.query_selector_all(".profile")
