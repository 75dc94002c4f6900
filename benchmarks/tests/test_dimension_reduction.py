"""Methods on embedded images, on a stand-in for the images: few, made here."""

import json
from types import SimpleNamespace

import pytest

from benchmarks.experiments import dimension_reduction


def run(*options, names="pca5"):
    dimension_reduction.main(["--sets", "mnist", "--embeddings", names, *options])


def test_quick_prints_a_table_and_stores_nothing(images, capsys):
    run("--quick", "--methods", "GIT,GIT authors,k-means", names="raw,pca5")
    printed = capsys.readouterr()
    assert printed.out.count("| mnist |") == 2
    assert "**1.000** / **1.000** / **1.000**" in printed.out
    assert "mnist pca5 k-means" in printed.err
    assert "6/6" in printed.err
    assert sorted(path.name for path in images.iterdir()) == ["mnist.npz"]


def test_what_is_stored_is_not_run_again_and_is_drawn(images, capsys):
    options = ("--cache", str(images / "cache"), "--methods", "GIT,k-means")
    run(*options)
    stored = dimension_reduction.RESULTS.read_text()
    lines = [json.loads(line) for line in stored.splitlines()]
    assert [line["method"] for line in lines] == ["GIT", "k-means"]
    assert all(line["f1"] == line["cover"] == 1 and line["n"] == 400 for line in lines)
    assert {"versions", "machine", "date", "seconds", "of embedding"} <= set(lines[0])
    expected = "dimension_reduction --sets mnist --embeddings pca5 --methods GIT,k-means"
    assert lines[0]["command"] == f"python -m benchmarks {expected}"
    capsys.readouterr()
    run(*options)
    assert dimension_reduction.RESULTS.read_text() == stored
    assert capsys.readouterr().err == ""
    assert dimension_reduction.time_table().count("| mnist | pca5 |") == 1
    pytest.importorskip("matplotlib")
    from benchmarks.reporting.figures import draw_embeddings

    assert len(draw_embeddings().axes[0].lines) > 2


def test_the_papers_competitors_are_seeded_and_counted_both_ways(images):
    run("--cache", str(images / "cache"), "--methods", "k-means,Quickshift++ published,SpectACl published")
    lines = {line["method"]: line for line in map(json.loads, dimension_reduction.RESULTS.read_text().splitlines())}
    assert lines["Quickshift++ published"].keys() >= {"f1", "as published"}
    for method in ("k-means", "SpectACl published"):
        assert len(lines[method]["seeds"]) == len(lines[method]["seeds as published"]) == 10
    assert "| mnist | pca5 |" in dimension_reduction.published_table()
    assert dimension_reduction.claims_table().count("+12.5 (ahead on 4 of 4)") == 1


def test_the_four_claims_follow_from_the_published_figures():
    rows = [row.split(" | ") for row in dimension_reduction.claims_table().splitlines()[2:]]
    assert [row[2].split()[0] for row in rows] == [f"+{row[1]}" for row in rows]


def test_a_run_that_fails_or_takes_too_long_is_stored_as_such(images):
    assert dimension_reduction.run_apart(["k-means", "mnist", "pca5", "9"], images, 0)["error"] == "> 0 s"
    assert "KeyError" in dimension_reduction.run_apart(["none", "mnist", "pca5", "9"], images, 60)["error"]


def test_a_part_of_the_images_is_tried_where_all_are_too_many_and_the_line_says_why(monkeypatch, tmp_path):
    def run_apart(job, cache, timeout, gigabytes):
        return {"n": int(job[-1])} | ({"error": "> 9 s"} if int(job[-1]) > 20_000 else {"f1": 1.0})

    monkeypatch.setattr(dimension_reduction, "run_apart", run_apart)
    options = SimpleNamespace(images=None, cache=tmp_path, timeout=9, memory=8)
    job = ["SpectACl", "mnist", "pca5"]
    found = {"n": 20_000, "f1": 1.0, "stopped": "60,000 images: > 9 s"}
    assert dimension_reduction.run_sizes(job, 60_000, options) == found
    assert dimension_reduction.run_sizes(["k-means", *job[1:]], 60_000, options)["error"] == "> 9 s"
    options.images = 20_000
    assert dimension_reduction.run_sizes(job, 60_000, options) == {"n": 20_000, "f1": 1.0}


def test_tables_of_the_stored_results_name_every_run():
    lines = [*map(json.loads, dimension_reduction.RESULTS.read_text().splitlines())]
    keys = [tuple(line[key] for key in dimension_reduction.KEYS) for line in lines]
    assert len(set(keys)) == len(keys)
    rows = {(line["set"], line["embedding"]) for line in lines}
    assert len(dimension_reduction.table().splitlines()) == len(rows) + 2
