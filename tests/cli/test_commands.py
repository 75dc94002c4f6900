"""Every command in this process: what it writes, what it prints, how it refuses. And the page about the commands."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gitcluster import GIT
from gitcluster.cli import main
from gitcluster.cli.commands import PLOTS, app

from .conftest import IDS, READERS, leftovers, linux, run_shell

PAGE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()


def blocks(kind):
    return [block.split("```")[0] for block in PAGE.split(f"```{kind}\n")[1:]]


def test_the_commands_of_the_page_run_and_print_what_it_says(folder):
    lines = [line for block in blocks("sh") for line in block.splitlines() if not line.startswith("pip ")]
    done = run_shell("\n".join(lines))
    assert done.returncode == 0, done.stdout + done.stderr
    shown = {" ".join(line.split()) for line in done.stdout.splitlines()}
    for line in "".join(blocks("text")).splitlines():
        assert " ".join(line.split()) in shown
    assert leftovers(folder) == sorted(set(re.findall(r"[a-z]+\.(?:csv|npz|parquet|html|pdf|png)", "".join(lines))))
    assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert len((folder / "labels.csv").read_text().splitlines()) == 1001


def test_the_page_has_every_command_and_option():
    used = set(re.findall(r"^(?:.*\| )?gitcluster (\w+)", "\n".join(blocks("sh")), flags=re.M))
    assert used == set(app.commands)
    assert {row.split()[0].strip("`") for row in re.findall(r"^\| (`\w+)", PAGE, flags=re.M)} >= set(app.commands)
    options = {name for command in app.commands.values() for param in command.params for name in param.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) <= options | {"--help"}


def test_fit_writes_what_the_library_finds(csv, run, customers):
    code, out, err = run("fit", csv, *IDS, "-c", "3", "-o", "labels.csv", "--save", "model.npz", "--probabilities")
    assert (code, err) == (0, "")
    labels = pd.read_csv("labels.csv", dtype={"customer": str})
    model = GIT(3).fit(customers.drop(columns="customer"))
    assert labels["customer"].tolist() == customers["customer"].tolist()
    assert labels["cluster"].tolist() == model.labels_.tolist()
    np.testing.assert_allclose(labels["membership"], model.probabilities_, atol=1e-4)
    np.testing.assert_allclose(labels["outlier_score"], model.outlier_scores_, atol=1e-4)
    for word in ("3 groups in 200 rows and 3 columns", "50.0%", "income", "Labels: labels.csv", "Model:  model.npz"):
        assert word in out
    assert leftovers(".") == ["customers.csv", "labels.csv", "model.npz"]


@pytest.mark.parametrize("form", READERS)
def test_labels_are_written_in_every_format(model, run, customers, form):
    customers.to_parquet("new.parquet")
    assert run("predict", model, "new.parquet", *IDS, "-o", f"l.{form}")[0] == 0
    written = READERS[form](f"l.{form}")
    assert written["cluster"].tolist() == GIT.load(model).labels_.tolist()
    assert form == "npy" or len(written["customer"]) == 200


def test_json_for_scripts(csv, run):
    code, out, err = run("fit", csv, *IDS, "--json", "-o", "labels.csv")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert (facts["n_clusters"], facts["sizes"], facts["proportions"]) == (3, [100, 60, 40], [0.5, 0.3, 0.2])
    assert facts["output"] == "labels.csv"


def test_labels_go_to_a_pipe_and_the_summary_elsewhere(csv, run):
    code, out, err = run("fit", csv, *IDS, "-c", "3")
    assert code == 0
    assert out.startswith("customer,cluster\n0000,0\n")
    assert len(out.splitlines()) == 201
    assert "3 groups" in err
    assert run("fit", csv, *IDS, "-c", "3", "-q")[2] == ""


def test_options_reach_the_estimator(csv, run, customers):
    code, out, _ = run("fit", csv, *IDS, "--proportions", "5:3:2", "--n-neighbors", "8", "--noise", "0.05", "--json")
    facts = json.loads(out)
    assert (code, facts["n_clusters"], facts["n_neighbors"], facts["noise"]) == (0, 3, 8, 10)
    assert run("fit", csv, *IDS, "--metric", "manhattan", "--scale", "none", "--min-size", "9", "--max-size", "150",
               "--jobs", "1", "--save", "m.npz", "-q")[0] == 0  # fmt: skip
    parameters = GIT.load("m.npz").get_params()
    names = ("metric", "scale", "min_cluster_size", "max_cluster_size", "n_jobs")
    assert [parameters[name] for name in names] == ["manhattan", None, 9, 150, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit"], "TABLE"),
        (["fit", "customers.csv", "-c", "many"], "-c"),
        (["fit", "customers.csv", "--proportions", "1:x"], "--proportions"),
        (["fit", "customers.csv", "--json", "-o", "-"], "--json"),
        (["fit", "customers.csv", "--separator", "none"], "--separator"),
        (["fit", "customers.csv", "--decimal", "x"], "--decimal"),
        (["fit", "customers.csv", "--weight", "city"], "--weight"),
        (["fit", "customers.csv", "--scale", "maximal"], "--scale"),
        (["fit", "customers.csv", "--save", "model.csv"], ".npz"),
        (["cut", "model.npz"], "--proportions"),
        (["plot", "model.npz", "-o", "picture.doc"], ".png"),
        (["fit", "customers.csv", "-o", "labels.doc"], ".parquet"),
        (["report", "model.npz", "customers.csv", "-o", "report.pdf"], ".html"),
        (["report", "model.npz"], "TABLE"),
        (["explain", "model.npz", "1", "2", "3"], "rows"),
        (["paint"], "paint"),
    ],
)
def test_a_command_written_wrongly(csv, run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert leftovers(".") == ["customers.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nothing.csv", "-c", "2"], "nothing.csv: No such file"),
        (["fit", ".", "-c", "2"], "directory"),
        (["fit", "customers.csv", "-c", "500", "-o", "l.csv"], "500"),
        (["fit", "customers.csv", "-o", "no/labels.csv"], "folder"),
        (["fit", "customers.csv", "-o", "."], "folder"),
        (["fit", "customers.csv", "--columns", "agee"], "did you mean 'age'"),
        (["fit", "customers.csv", "-o", "/proc/labels.csv"], "/proc"),
        (["predict", "customers.csv", "customers.csv"], "customers.csv"),
        (["explain", "nothing.npz", "500"], "nothing.npz"),
        (["fit", "customers.csv", "--id", "name"], "--id"),
        (["fit", "customers.csv", "--id", "visits_2025"], "visits_2025"),
        (["fit", "customers.csv", "--encoding", "utf-9"], "utf-9"),
    ],
)
@linux
def test_data_and_files_that_do_not_allow_it(csv, run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert message in err
    assert err.startswith(("Error: ", "Warning: "))
    assert leftovers(".") == ["customers.csv"]


@pytest.mark.parametrize("content", ["", "a,b\n", "a,b\n1,2\n", "a,b\n,\n,\n"])
def test_too_little_to_cluster(folder, run, content):
    (folder / "table.csv").write_text(content)
    code, out, _ = run("fit", "table.csv", "-o", "labels.csv")
    assert (code, out) == (1, "")
    assert leftovers(folder) == ["table.csv"]


def test_predict_by_name_in_any_order(model, run, customers):
    shuffled = customers[["visits_2025", "age", "customer", "income"]].assign(note="text")
    shuffled.loc[0, "income"] = 10_000_000
    shuffled.to_parquet("new.parquet")
    code, out, _ = run("predict", model, "new.parquet", *IDS, "-o", "labels.csv", "--probabilities")
    assert code == 0
    labels = pd.read_csv("labels.csv", dtype={"customer": str})
    assert labels["cluster"].tolist()[1:] == GIT.load(model).labels_.tolist()[1:]
    assert "200 rows of new.parquet" in out
    assert "far from all rows of the fit" in out
    assert labels["outlier_score"][0] > 0.9
    assert labels["membership"][0] < 0.4
    assert json.loads(run("predict", model, "new.parquet", "--json")[1])["far_out"] >= 1
    customers.drop(columns="age").to_csv("less.csv", index=False)
    code, _, err = run("predict", model, "less.csv", "-o", "l.csv")
    assert code == 1
    assert "'age'" in err
    assert "l.csv" not in leftovers(".")


def test_cut_again(model, run):
    code, out, err = run("cut", model, "-c", "2")
    assert code == 0
    labels = GIT.load(model).cut(n_clusters=2).tolist()
    assert out.splitlines() == ["customer,cluster", *(f"{i:04d},{label}" for i, label in enumerate(labels))]
    assert "200 rows, 2 clusters" in err
    assert json.loads(run("cut", model, "--proportions", "2:1", "--json")[1])["n_clusters"] == 2


def test_explain_one_row_and_two(model, run, customers):
    loaded = GIT.load(model)
    assert run("explain", model, "0007")[1] == f"{loaded.explain('0007')}\n"
    assert str(loaded.explain(7, 150)) in run("explain", model, "0007", "0150")[1]
    assert json.loads(run("explain", model, "0007", "--json")[1])["text"] == str(loaded.explain("0007"))
    assert run("explain", model, "7")[0] == 1
    loaded.fit(customers.drop(columns="customer")).save("numbered.npz")
    assert run("explain", "numbered.npz", "7")[1] == f"{loaded.explain(7)}\n"


def test_profiles(model, csv, run, customers):
    for arguments in ((model, csv), (model,)):
        code, out, _ = run("profile", *arguments)
        assert code == 0
        for words in ("Cluster 2: 40 rows (20.0%)", "visits_2025", "Rule: "):
            assert words in out
    code, out, _ = run("profile", model, csv, "--json", "-o", "p.csv")
    profile = pd.read_csv("p.csv")
    assert len(json.loads(out)["columns"]) == len(profile) == 9
    income = profile.query("cluster == 0 and column == 'income'")["inside"].item()
    assert income == pytest.approx(customers["income"][GIT.load(model).labels_ == 0].mean())


def test_pictures_and_pages_of_a_saved_model(csv, run):
    model = "auto.npz"
    assert run("fit", csv, *IDS, "--save", model, "-q")[0] == 0
    for kind in PLOTS:
        code, _, err = run("plot", model, "--kind", kind, "-o", f"{kind}.svg")
        assert (code, err) == (0, "")
        assert Path(f"{kind}.svg").read_text().rstrip().endswith("</svg>")
    code, out, _ = run("explore", model, csv, "-o", "page.html")
    assert (code, out) == (0, f"Written: {Path('page.html').resolve()}\n")
    assert csv in Path("page.html").read_text()
    pd.read_csv(csv)[:50].to_csv("part.csv", index=False)
    assert "50 rows" in run("explore", model, "part.csv", "-o", "part.html")[2]


def test_without_the_extra(monkeypatch, capsys):
    monkeypatch.setattr("gitcluster.cli.is_installed", lambda name: name != "pyarrow")
    for arguments, code, answer in (
        (["fit", "data.csv"], 1, "gitcluster fit needs pyarrow: pip install 'gitcluster[cli]'"),
        (["demo"], 0, "50.0%"),
        (["--version"], 0, "gitcluster, version"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == code
        shown = capsys.readouterr()
        assert answer in shown.out + shown.err


def test_the_demonstration_writes_its_table(folder, run):
    code, out, _ = run("demo", "-o", "example.csv")
    assert code == 0
    assert "C      150  15.0%     15.0%" in out
    assert len(pd.read_csv("example.csv")) == 1000


def test_the_help_is_in_groups_and_not_cut_off(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for command in ([], *([name] for name in app.commands)):
        code, out, _ = run(*command, "--help")
        assert code == 0
        assert "..." not in out.split("\n", 1)[1].replace("...] ", "")
    titles = [line[:-1] for line in run("fit", "-h")[1].splitlines() if re.fullmatch("[A-Z][a-z ]+:", line)]
    assert titles == [
        "Prior knowledge",
        "Method",
        "Output",
        "History",
        "Columns",
        "Format of the table",
        "Other options",
    ]


def test_a_later_table_continues_the_model_and_diff_shows_the_changes(model, csv, run, customers, folder, monkeypatch):
    fewer = customers[customers["income"] < 7000]
    pd.concat([fewer, fewer[:50].assign(age=200, customer=[f"n{i}" for i in range(50)])]).to_csv("may.csv", index=False)
    plain = {"format": "gitcluster-edits", "version": 1, "n_samples": 200, "n_clusters": None,
             "rows": customers["customer"].tolist(), "labels": GIT.load(model).labels_.tolist(),
             "edits": [{"kind": "rename", "cluster": 0, "name": "young"}]}  # fmt: skip
    Path("edits.json").write_text(json.dumps(plain))
    options = ("--previous", model, "--edits", "edits.json", "--save", "may.npz", "-o", "may_labels.csv")
    assert run("fit", "may.csv", *IDS, *options)[0] == 0
    assert GIT.load("may.npz").cluster_ids_.tolist() == [0, 1, 3]
    labels = pd.read_csv("may_labels.csv")
    assert set(labels["cluster_name"]) == {"young", "1", "3"}
    code, out, _ = run("diff", model, "may.npz", "-o", "diff.html")
    assert code == 0
    assert "Cluster 3 (50 rows) is new" in out
    assert "no longer exists" in out
    page = Path("diff.html").read_text()
    assert "<svg" in page
    assert "young" in page
    assert "@@" not in page
    code, out, _ = run("diff", model, "may_labels.csv", "--json")
    assert code == 0
    assert len(json.loads(out)["clusters"]) == 4
    assert "do not fit" in run("diff", model, "may.csv")[1]
    assert "No cluster changed" in run("diff", model, csv)[1]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("may.csv").read_bytes())))
    for before, after, words in (
        ("may.csv", csv, "cluster"), (model, "missing.npz", "missing.npz"), (model, "edits.json", "edits.json"),
        (model, "-", "AFTER must be a file"),
    ):  # fmt: skip
        code, _, err = run("diff", before, after)
        assert code == 1
        assert words in err
    Path("edits.json").write_text("{}")
    code, _, err = run("fit", "may.csv", *IDS, "--edits", "edits.json", "--save", "june.npz")
    assert code == 1
    assert "edits.json" in err
    assert "june.npz" not in leftovers(folder)
