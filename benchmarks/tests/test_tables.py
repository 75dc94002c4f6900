"""Tables are drawn from stored lines alone."""

import pytest

from benchmarks.experiments import accuracy, dimension_reduction, kinds, speed, statements
from benchmarks.reporting.published import PUBLISHED
from benchmarks.reporting.report import PAGES, TABLES, fill
from benchmarks.runner import Store


def rows_of(table):
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()]


def test_results_by_kind_have_both_figures_of_peers(results):
    store = Store("kinds", kinds.FIELDS, results)
    store.add({"kind": "mixed", "set": "tae", "method": "GIT", "ari": 0.4})
    store.add({"kind": "mixed", "set": "tae", "method": "k-means", "ari": 0.3, "mean": 0.2})
    assert rows_of(kinds.table())[2][:6] == ["mixed", "1", ".400", "", "", ".300 / .200"]


@pytest.fixture
def accuracy_results(results, monkeypatch):
    monkeypatch.setattr(accuracy, "stored", lambda: store.lines)
    store = Store("accuracy", accuracy.FIELDS, results)
    return store


def test_rows_that_differ_are_listed_and_arbitrary_ones_are_not_counted(accuracy_results):
    for name, method, seeds in (
        ("iris", "GIT authors", [0.8768]),
        ("iris", "DPA", [0.80]),
        ("wine", "spectral", [0.1]),
        ("frogs", "SpectACl", [0.77, 0.79]),
    ):
        line = {"set": name, "method": method, "setting": "published", "samples": 150, "of": 150}
        line |= {"published": [sum(seeds) / len(seeds), 0, 0]} | ({"seeds published": seeds} if seeds[1:] else {})
        accuracy_results.add(line)
    assert rows_of(accuracy.gaps_table())[2:] == [
        ["iris", "DPA", "0.831", "0.800", "-0.031", ""],
        ["frogs", "SpectACl", "0.601", "0.780", "+0.179", "2: 0.770 to 0.790"],
    ]
    assert accuracy.close_rows().startswith("1 of 3 rows")
    assert "SpectACl on frogs: 2" in accuracy.seed_counts()


def test_claims_follow_from_the_published_figures():
    rows = rows_of(dimension_reduction.claims_table())[2:]
    assert [row[2].split()[0] for row in rows] == [f"+{row[1]}" for row in rows]


def test_git_is_first_among_the_methods_of_the_papers_tables_and_third_among_all_on_iris():
    for name, _, *cells in rows_of(statements.ranks_table())[2:-1]:
        of_table, of_all, _ = ([int(rank) for rank in cell.split(" (")[0].split(" / ")] for cell in cells)
        assert all(rank <= most for rank, most in zip(of_table, (1, 3, 2), strict=True))
        assert of_all == ([3, 3, 3] if name == "iris" else of_table)


def test_given_shares_decide_the_lead_over_spectral_clustering():
    shares = {row[0]: row[1] for row in rows_of(statements.shares_table())}
    for name in ("frogs", "codon"):
        equal, given = map(float, shares[name].split(" / "))
        assert equal < PUBLISHED[name]["spectral"].scores[0] < given


def test_the_best_run_with_a_command_counts(results, monkeypatch):
    monkeypatch.setattr(speed, "FOLDER", results)
    monkeypatch.setattr(speed, "CASES", {"tested": (50_000, 2, 20), "alone": (50_000, 4, 20)})
    store = Store("speed", ("method", "shape", "seconds"), results)
    run = {"shape": (50_000, 2, 20), "method": "GIT k", "peak MB": 100}
    for line in (
        run | {"seconds": 1.0},
        run | {"seconds": 2.0, "command": "now"},
        run | {"seconds": 2.5, "command": "now"},
        run | {"error": "> 1 s", "command": "now"},
        run | {"shape": (50_000, 4, 20), "seconds": 3.0},
    ):
        store.add(line)
    speed.read_best.cache_clear()
    try:
        assert rows_of(speed.table())[2] == ["GIT k", "2.0 (0.1)", "3.0 (0.1)*"]
        assert "2: 2.0, 4: 3.0*" in speed.sweep_table()
    finally:
        speed.read_best.cache_clear()


def test_every_table_of_the_pages_is_drawn_and_every_drawn_table_is_on_a_page():
    text = "".join(page.read_text() for page in PAGES)
    assert [name for name in TABLES if f"<!-- table {name} -->" not in text] == []
    assert "Of " in fill("<!-- table paper_count -->\nold\n<!-- end -->")
