"""Every command in this process: what it writes, what it prints, how it refuses."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from gitcluster import GIT
from gitcluster._support.files import write_aside
from gitcluster.cli import main
from gitcluster.cli.compare import PEERS
from gitcluster.cli.models import Fitted, TableFacts, fit_table
from gitcluster.cli.screen import Bar, Screen
from gitcluster.cli.tables import Table

from .conftest import leftovers

IDS = ("--id", "customer")


@pytest.fixture
def model(csv, run):
    """A saved model of the customers."""
    assert run("fit", csv, *IDS, "-c", "3", "--save", "model.npz", "-q")[0] == 0
    return "model.npz"


def test_fit_writes_what_the_library_finds(csv, run, customers):
    code, out, err = run("fit", csv, *IDS, "-c", "3", "-o", "labels.csv", "--save", "model", "--probabilities")
    assert (code, err) == (0, "")
    labels = pd.read_csv("labels.csv", dtype={"customer": str})
    model = GIT(3).fit(customers.drop(columns="customer"))
    assert labels["customer"].tolist() == customers["customer"].tolist()
    assert labels["cluster"].tolist() == model.labels_.tolist()
    np.testing.assert_allclose(labels["probability"], model.probabilities_, atol=1e-4)
    np.testing.assert_allclose(labels["outlier_score"], model.outlier_scores_, atol=1e-4)
    assert GIT.load("model.npz").feature_names_in_.tolist() == ["age", "income", "visits_2025"]
    for word in ("200 rows, 3 columns, 3 clusters", "50.0%", "income", "Labels: labels.csv", "Model:  model.npz"):
        assert word in out
    assert leftovers(".") == ["customers.csv", "labels.csv", "model.npz"]


@pytest.mark.parametrize("name", ["l.csv", "l.tsv", "l.parquet", "l.arrow", "l.npz", "l.xlsx", "l.npy"])
def test_formats_of_labels(csv, run, name, customers):
    assert run("fit", csv, *IDS, "-c", "3", "-o", name)[0] == 0
    readers = {"csv": pd.read_csv, "tsv": lambda path: pd.read_csv(path, sep="\t"), "parquet": pd.read_parquet,
               "arrow": pd.read_feather, "xlsx": pd.read_excel, "npz": lambda path: dict(np.load(path)),
               "npy": lambda path: {"cluster": np.load(path)}}  # fmt: skip
    found = readers[name[2:]](name)
    assert list(found["cluster"]) == GIT(3).fit_predict(customers.drop(columns="customer")).tolist()
    if name != "l.npy":
        assert len(found["customer"]) == 200


def test_json_for_scripts(csv, run):
    code, out, err = run("fit", csv, *IDS, "--json", "-o", "labels.csv")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["n_clusters"] == 3
    assert found["sizes"] == [100, 60, 40]
    assert found["proportions"] == [0.5, 0.3, 0.2]
    assert set(found["seconds"]) == {"read", "fit", "write"}
    assert found["output"] == "labels.csv"


def test_labels_go_down_a_pipe_and_words_elsewhere(csv, run):
    code, out, err = run("fit", csv, *IDS, "-c", "3")
    assert code == 0
    assert out.startswith("customer,cluster\n0000,0\n")
    assert len(out.splitlines()) == 201
    assert "3 clusters" in err
    assert run("fit", csv, *IDS, "-c", "3", "-q")[2] == ""


def test_priors_and_other_options(csv, run):
    code, out, _ = run("fit", csv, *IDS, "--proportions", "5:3:2", "--n-neighbors", "8", "--noise", "0.05", "--json")
    found = json.loads(out)
    assert (code, found["n_clusters"], found["n_neighbors"], found["noise"]) == (0, 3, 8, 10)
    code, out, _ = run("fit", csv, "--columns", "age,visits*", "-c", "2", "--metric", "manhattan", "--json")
    assert json.loads(out)["features"] == ["age", "visits_2025"]
    code, out, _ = run("fit", csv, *IDS, "-c", "3", "--with-data", "-q")
    assert out.splitlines()[0] == "customer,age,income,visits_2025,cluster,membership,outlier_score"


def test_a_column_that_numbers_the_rows_is_doubted(folder, run, customers):
    customers.assign(customer=range(1, 201)).to_csv("numbered.csv", index=False)
    code, _, err = run("fit", "numbered.csv", "-c", "3", "-o", "labels.csv")
    assert code == 0
    assert "--id 'customer'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit"], "Missing argument 'TABLE'"),
        (["fit", "customers.csv", "-c", "many"], "'many' is neither a whole number nor 'auto'"),
        (["fit", "customers.csv", "--proportions", "1:x"], "neither shares such as 1:0.5:0.1 nor 'equal'"),
        (["fit", "customers.csv", "--missing", "guess"], "'guess' is not one of"),
        (["fit", "customers.csv", "--json", "-o", "-"], "both write to the standard output"),
        (["fit", "customers.csv", "--separator", "::"], "not one ASCII character"),
        (["fit", "customers.csv", "--decimal", "x"], "--decimal"),
        (["fit", "customers.csv", "--memory", "much"], "not a size such as"),
        (["cut", "model.npz"], "--proportions"),
        (["plot", "customers.csv", "-o", "picture.doc"], "must end in .png"),
        (["report", "customers.csv", "-o", "report.pdf"], "print it to PDF"),
        (["explain", "model.npz", "1", "2", "3"], "One or two rows"),
        (["paint"], "No such command 'paint'"),
    ],
)
def test_a_command_written_wrongly(csv, run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 2
    assert message in err
    assert out == ""
    assert leftovers(".") == ["customers.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nothing.csv", "-c", "2"], "nothing.csv: No such file"),
        (["fit", ".", "-c", "2"], "directory"),
        (["fit", "customers.csv", "-c", "500", "-o", "l.csv"], "more than the number of samples"),
        (["fit", "customers.csv", "-c", "3", "-o", "no/labels.csv"], "there is no folder"),
        (["fit", "customers.csv", "-c", "3", "-o", "."], "is a folder"),
        (["fit", "customers.csv", "-c", "3", "-o", "labels.doc"], ".doc"),
        (["fit", "customers.csv", "-c", "3", "--save", "/dev/null"], "is a device or a pipe"),
        (["fit", "customers.csv", "--columns", "agee"], "did you mean 'age'"),
        (["predict", "customers.csv", "customers.csv"], "not a saved model"),
        (["explain", "customers.csv", "500", "-c", "3"], "counted from 0 to 199"),
        (["plot", "customers.csv", "customers.csv", "-c", "3"], "is not a model"),
        (["plot", "customers.csv", "-c", "3", "-o", "no/p.png"], "there is no folder"),
    ],
)
def test_data_and_files_that_do_not_allow_it(csv, run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 1
    assert message in err
    assert err.startswith(("Error: ", "Warning: "))
    assert out == ""
    assert leftovers(".") == ["customers.csv"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk(csv, run):
    code, _, err = run("fit", csv, *IDS, "-c", "3", "-o", "/dev/full", "--output-format", "csv")
    assert code == 1
    assert "No space left on device" in err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a folder that nobody may write to")
def test_a_folder_that_nobody_may_write_to(csv, run):
    code, _, err = run("fit", csv, *IDS, "-c", "3", "-o", "/proc/labels.csv")
    assert code == 1
    assert "/proc" in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,b\n1,2\n", "has 1 row; clustering needs at least 2"),
        ("a,b\n,\n,\n", "No column is left"),
    ],
)
def test_too_little_to_cluster(folder, run, content, message):
    (folder / "table.csv").write_text(content)
    code, out, err = run("fit", "table.csv", "-o", "labels.csv")
    assert (code, out) == (1, "")
    assert message in err
    assert leftovers(folder) == ["table.csv"]


@pytest.mark.parametrize("name", ["table.csv", "table.npy"])
def test_ten_gigabytes_are_refused_with_the_estimate(folder, run, name):
    if name == "table.csv":
        (folder / name).write_text("a,b\n1.25,2.5\n3.25,4.5\n")
        os.truncate(name, 10_000_000_000)
        rows = 1_111_111_111
    else:
        rows = 625_000_000
        np.lib.format.open_memmap(name, mode="w+", shape=(rows, 2), dtype=np.float64)  # a hole, no bytes on the disk
    code, _, err = run("fit", name, "--memory", "8GB", "-o", "labels.csv")
    assert code == 1
    assert f"{rows:,} rows of 2 columns needs about" in err
    assert "8.0 GB allowed" in err
    assert "gitcluster predict, which reads in parts" in err


def test_a_stream_that_grows_beyond_memory(csv, run):
    code, _, err = run("fit", csv, *IDS, "--memory", "50kB")
    assert code == 1
    assert "0.0 GB allowed" in err


def test_predict_by_name_in_any_order(model, run, customers):
    shuffled = customers[["visits_2025", "age", "customer", "income"]].assign(note="text")
    shuffled.to_parquet("new.parquet")
    code, out, _ = run("predict", model, "new.parquet", *IDS, "-o", "labels.csv", "--probabilities")
    assert code == 0
    labels = pd.read_csv("labels.csv", dtype={"customer": str})
    assert labels["cluster"].tolist() == GIT.load(model).labels_.tolist()
    assert labels["probability"].between(0.3, 1).all()
    assert "200 rows of new.parquet" in out
    customers.drop(columns="age").to_csv("less.csv", index=False)
    code, _, err = run("predict", model, "less.csv", "-o", "l.csv")
    assert code == 1
    assert "fitted with the column 'age'" in err
    assert "l.csv" not in leftovers(".")
    code, out, _ = run("predict", model, "new.parquet", "--json")
    assert json.loads(out)["sizes"] == [100, 60, 40]


def test_predict_tells_rows_that_are_far_from_those_of_the_fit(model, run, customers):
    customers.head(3).assign(income=[10_000_000, *customers["income"][1:3]]).to_csv("new.csv", index=False)
    code, out, _ = run("predict", model, "new.csv", *IDS, "-o", "labels.csv", "--probabilities")
    assert code == 0
    assert "1 row" in next(line for line in out.splitlines() if line.startswith("Far from"))
    labels = pd.read_csv("labels.csv")
    assert labels["outlier_score"][0] > 0.9
    assert labels["probability"][0] < 0.4 < labels["probability"][1:].min()
    assert json.loads(run("predict", model, "new.csv", *IDS, "--json")[1])["far_out"] == 1


def test_a_model_file_is_a_plain_model_with_notes_of_the_table(model):
    loaded = GIT.load(model)
    assert loaded.verbose is False
    assert not hasattr(loaded, "table_")
    fitted = Fitted.load(model)
    assert fitted.facts.id == "customer"
    assert fitted.facts.ids.tolist()[:2] == ["0000", "0001"]
    loaded.save("again.npz")
    assert Fitted.load("again.npz").facts == TableFacts()


def test_a_fit_tells_its_stages_and_leaves_the_model_as_it_was(customers, monkeypatch):
    stages = []
    monkeypatch.setattr(Bar, "describe", lambda bar, text: stages.append(text))
    table = Table(customers.iloc[:, 1:], np.arange(200))
    assert fit_table(GIT(3), table, Screen(quiet=True)).verbose is False
    assert len(stages) > 2
    assert all(stage.startswith("Clustering 200 rows") for stage in stages)
    model = GIT(300)
    with pytest.raises(ValueError, match="more than the number of samples"):
        fit_table(model, table, Screen(quiet=True))
    assert model.verbose is False


def test_cut_again(model, run):
    code, out, err = run("cut", model, "-c", "2")
    expected = GIT.load(model).cut(n_clusters=2)
    assert code == 0
    assert out.splitlines()[0] == "customer,cluster"
    assert [int(line.split(",")[1]) for line in out.splitlines()[1:]] == expected.tolist()
    assert "200 rows, 2 clusters" in err
    code, out, _ = run("cut", model, "--proportions", "2:1", "--json")
    assert json.loads(out)["n_clusters"] == 2
    assert json.loads(run("cut", model, "--proportions", "3:1", "--exact", "--json")[1])["sizes"] == [150, 50]
    code, _, err = run("cut", model, "-c", "2", "--exact")
    assert code == 1
    assert "needs proportions" in err


def test_explain_one_row_and_two(model, run):
    loaded = GIT.load(model)
    assert run("explain", model, "0007")[1] == f"{loaded.explain('0007')}\n"
    assert loaded.explain("0007").sample == 7
    assert str(loaded.explain(7, 150)) in run("explain", model, "0007", "0150")[1]
    found = json.loads(run("explain", model, "0007", "--json")[1])
    assert found["samples"] == [7]
    assert run("explain", model, "7")[0] == 1
    assert run("explain", "customers.csv", "0007", *IDS, "-c", "3")[1] == run("explain", model, "0007")[1]


@pytest.mark.parametrize("name", ["labels.parquet", "labels.arrow", "labels.csv", "labels.npy"])
def test_labels_are_written_part_by_part(model, run, customers, name):
    many = pd.concat([customers] * 400, ignore_index=True)
    many.to_parquet("many.parquet", row_group_size=30_000)
    assert run("predict", model, "many.parquet", *IDS, "-o", name)[0] == 0
    readers = {"parquet": pd.read_parquet, "arrow": pd.read_feather, "csv": pd.read_csv, "npy": np.load}
    found = readers[name[7:]](name)
    labels = found if name.endswith("npy") else found["cluster"].to_numpy()
    np.testing.assert_array_equal(labels, np.tile(GIT.load(model).labels_, 400))


def test_compare_with_others(csv, run, customers):
    customers.assign(kind=np.repeat(["a", "b", "c"], [100, 60, 40])).to_csv("known.csv", index=False)
    code, out, _ = run("compare", "known.csv", "--exclude", "customer", "--truth", "kind", "--json", "-o", "all.csv")
    found = json.loads(out)
    assert code == 0
    names = ["GIT", *(name for name, method in PEERS.items() if method.is_installed)]
    assert [m["method"] for m in found["methods"]] == names
    assert {"k-means", "HDBSCAN", "spectral", "Ward", "Gaussian mixture"} < set(names)
    assert all(m["agreement_with_truth"] > 0.8 for m in found["methods"])
    assert list(pd.read_csv("all.csv").columns) == ["row", *names]
    code, out, _ = run("compare", csv, *IDS, "--rows", "150")
    assert "150 rows of 200, drawn at random" in out
    assert "spectral" in out


def test_completion(folder, run, monkeypatch):
    for shell in ("bash", "zsh", "fish"):
        assert "_GITCLUSTER_COMPLETE" in run("completion", shell)[1]
    monkeypatch.setenv("_GITCLUSTER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "gitcluster pre")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run()[1].split() == ["plain,predict"]
    monkeypatch.setenv("COMP_WORDS", "gitcluster fit data.csv --metric man")
    monkeypatch.setenv("COMP_CWORD", "4")
    assert run()[1].split() == ["plain,manhattan"]


@pytest.mark.parametrize("package", ["charset_normalizer", "click", "rich", "pandas", "pyarrow", "openpyxl"])
def test_without_the_extra(monkeypatch, capsys, package):
    monkeypatch.setattr("gitcluster.cli.is_installed", lambda name: name != package)
    with pytest.raises(SystemExit) as stop:
        main(["fit", "data.csv"])
    assert stop.value.code == 1
    assert f"gitcluster fit needs {package}: pip install 'gitcluster[cli]'" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        main(["demo"])
    assert stop.value.code == 0
    told = capsys.readouterr()
    assert "50.0%" in told.out
    assert "install" not in told.out + told.err
    for asked, answer in (("--help", "gitcluster fit "), ("--version", "gitcluster, version")):
        with pytest.raises(SystemExit) as stop:
            main([asked])
        assert stop.value.code == 0
        assert answer in capsys.readouterr().out


def test_help_has_its_options_in_groups(run):
    code, out, _ = run("fit", "--help")
    assert code == 0
    titles = [line[:-1] for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Prior knowledge", "Method", "Output", "Columns", "Format of the table", "Other options"]
    assert out.index("--n-clusters") < out.index("--separator")


@pytest.mark.parametrize("columns", [80, 120])
def test_help_is_not_cut_off(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in ([], ["fit"], ["predict"], ["cut"], ["compare"]):
        code, out, _ = run(*command, "--help")
        assert code == 0
        assert "..." not in out.split("\n", 1)[1]


def test_an_interrupted_writer_leaves_what_was_there(folder):
    (folder / "labels.csv").write_text("old")

    def write_half():
        with write_aside("labels.csv") as file:
            file.write(b"half")
            assert len(leftovers(folder)) == 2
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert leftovers(folder) == ["labels.csv"]
    assert (folder / "labels.csv").read_text() == "old"


def test_links_and_permissions_survive(folder):
    (folder / "real.csv").write_text("old")
    (folder / "real.csv").chmod(0o600)
    (folder / "link.csv").symlink_to("real.csv")
    with write_aside("link.csv") as file:
        file.write(b"new")
    assert (folder / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text() == "new"
    assert (folder / "real.csv").stat().st_mode & 0o777 == 0o600


def test_what_is_abandoned_is_gone_and_stays_unwritten(folder):
    code = (
        "from gitcluster._support.files import abandon, write_aside\n"
        "with write_aside('labels.csv') as file:\n"
        "    file.write(b'half')\n"
        "    abandon()\n"
        "    import os; os._exit(0 if os.listdir() == [] else 1)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_name_as_long_as_names_may_be(folder):
    with write_aside("n" * 255) as file:
        file.write(b"content")
    assert leftovers(folder) == ["n" * 255]
