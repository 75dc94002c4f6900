"""Pairwise combinations: every pair is there, and there are few rows."""

from itertools import combinations, product

import pytest
from combinations import label, pairwise

TABLES = {
    "two axes": {"name": "abcd", "size": [1, 2, 3]},
    "many values first": {"name": range(40), "size": [1, 2, 3], "noise": [None, "auto", 0.5], "jobs": [1, 2]},
    "many values last": {"jobs": [1, 2], "size": [1, 2, 3], "name": range(12)},
    "values that cannot be hashed": {"name": "ab", "options": [{}, {"a": 1}, {"b": [2]}], "more": [[], [1]]},
    "seven axes": {name: [1, 2, 3] for name in "abcdefg"},
}


def pairs_of(row):
    return {(a, repr(row[a]), b, repr(row[b])) for a, b in combinations(row, 2)}


def all_rows(axes):
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


@pytest.mark.parametrize("table", TABLES)
def test_every_pair_is_there(table):
    axes = TABLES[table]
    rows = pairwise(**axes)
    assert set().union(*map(pairs_of, rows)) == set().union(*map(pairs_of, all_rows(axes)))
    assert len({label(row) for row in rows}) == len(rows)
    assert rows == pairwise(**axes)


@pytest.mark.parametrize("table", TABLES)
def test_each_value_of_the_first_axis_has_a_row_of_defaults(table):
    axes = {name: list(values) for name, values in TABLES[table].items()}
    lead, *others = axes
    for value in axes[lead]:
        assert {lead: value, **{name: axes[name][0] for name in others}} in pairwise(**axes)


def test_there_are_few_rows():
    assert len(pairwise(**TABLES["two axes"])) == 12
    assert len(pairwise(**TABLES["many values first"])) < 130
    assert len(pairwise(**TABLES["seven axes"])) < 30


def test_rows_that_are_not_allowed_are_left_out():
    axes = {"name": "abc", "variant": ["adaptive", "paper", "authors"], "number": ["auto", 2], "links": [None, "links"]}

    def allowed(row):
        return row["variant"] == "adaptive" or (row["number"] == 2 and row["links"] is None)

    rows = pairwise(allowed, **axes)
    assert all(map(allowed, rows))
    assert set().union(*map(pairs_of, rows)) == set().union(*map(pairs_of, filter(allowed, all_rows(axes))))
