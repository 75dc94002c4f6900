"""Kinds of data have the same weight in tables, however many sets there are of each."""

import pytest

from benchmarks.reporting.tables import untuned_summary, untuned_table


def line(name, family, method, ari, known="number"):
    return {"set": name, "family": family, "classes": 2, "clusters": 2, "clear": False, "method": method, "ari": ari,
            "known": known}  # fmt: skip


@pytest.fixture
def results():
    sets = [
        ("a", "blobs", 1.0),
        ("b", "blobs", 0.8),
        ("c", "small-tables", 0.4),
        ("wine", "real", 0.2),
        ("digits", "real", 0.5),
    ]
    lines = [line(name, family, "GIT", ari) for name, family, ari in sets]
    lines += [line(name, family, "peer", ari / 2) for name, family, ari in sets]
    return {(x["set"], x["method"]): x for x in lines}


def test_summary_is_of_kinds(results):
    head, _, git, peer = (
        [cell.strip() for cell in row.split("|")[1:-1]] for row in untuned_summary(results).splitlines()
    )
    assert head[2:6] == ["drawn 2", "tables 2", "images 1", "mean of kinds"]
    assert git[2:6] == ["0.900", "0.300", "0.500", "0.567"]
    assert peer[2:6] == ["0.450", "0.150", "0.250", "0.283"]


def test_table_has_families_by_kind(results):
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in untuned_table(results).splitlines()]
    assert rows[0] == ["sets", "peer", "GIT"]
    titles = [
        "blobs (2)",
        "**drawn** (2)",
        "small-tables (1)",
        "real (1)",
        "**tables** (2)",
        "real (1)",
        "**images** (1)",
    ]
    assert [row[0] for row in rows[2:9]] == titles
    assert rows[9] == ["**mean of kinds** (5)", "0.283", "0.567"]


def test_a_set_that_a_method_has_not_run_counts_for_none(results):
    del results["wine", "peer"]
    assert "| GIT | number | 0.900 | 0.400 | 0.500 | 0.600 |" in untuned_summary(results)
