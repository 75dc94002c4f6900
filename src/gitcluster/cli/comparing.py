"""``compare``: GIT beside other methods on the user's data."""

import warnings
from time import perf_counter
from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.cli.models import learn_features, read
from gitcluster.cli.options import (
    GroupedCommand,
    label_options,
    model_of,
    model_options,
    table_options,
    voice_options,
)
from gitcluster.cli.peers import PEERS
from gitcluster.cli.screen import Screen, make_table
from gitcluster.cli.tables import Table
from gitcluster.cli.writing import STANDARD, check_apart, check_target, format_of, print_json, standard_or, write_table
from gitcluster.preprocessing.sources import Points
from gitcluster.samples import scale_points

SILHOUETTE_ROWS = 2000


@click.command(cls=GroupedCommand)
@click.argument("table", metavar="TABLE")
@click.option("--truth", metavar="NAME", help="Column of true classes, to score every method; it is not clustered by.")
@click.option("--rows", type=click.IntRange(2), default=5000, show_default=True,
              help="Compare on at most this many rows, drawn at random.")  # fmt: skip
@model_options
@label_options
@table_options
@voice_options
def compare(table: str, truth: str | None, rows: int, **options: Any) -> None:
    """GIT beside k-means, HDBSCAN, spectral clustering, Ward, a Gaussian mixture, and Genie if it is installed.

    All methods get the same rows, divided by their standard deviations (unless --no-scale). HDBSCAN finds its own
    number of clusters; the others are told the number that GIT has. -o writes the labels of all.

    gitcluster compare data.csv -c 3
    """
    output = standard_or(options["output"])
    if options["as_json"] and output == STANDARD:
        raise click.UsageError("--json and -o - both write to the standard output. Name a file for the labels.")
    check_target(output, stream=True)
    check_apart({"-o": output}, [table])
    screen = Screen(quiet=options["quiet"] or options["as_json"], on_error_stream=output == STANDARD)
    read_in = read(table, options | {"truth": truth}, screen)
    chosen = np.sort(np.random.default_rng(0).permutation(read_in.n_rows)[:rows])
    samples = read_in.data.iloc[chosen].reset_index(drop=True)
    known = pd.factorize(read_in.truth.to_numpy()[chosen])[0] if read_in.truth is not None else None
    model = model_of(options).set_params(columns=read_in.kinds or None, weights=read_in.weights or None)
    results, labels = compare_methods(model, samples, known, screen)
    if output:
        found = label_rows(read_in, chosen, labels)
        form = format_of(output, options["output_format"])
        write_table(output, found, form, safe=options["safe_formulas"])
    if options["as_json"]:
        print_json({"rows": len(samples), "of_rows": read_in.n_rows, "methods": results, "output": output})
        return
    screen.say(_comparison(results, len(samples), read_in.n_rows, with_truth=known is not None))
    screen.say("Agreement is the adjusted Rand index: 1 the same, 0 chance. The silhouette favours round clusters.")


def label_rows(table: Table, chosen: NDArray[np.int64], labels: dict[str, NDArray[np.int64]]) -> pd.DataFrame:
    """The labels of all methods beside the ids, or the numbers, of their rows."""
    return pd.DataFrame({table.id_name or "row": table.row_names().to_numpy()[chosen], **labels})


def scale_rows(model: GIT, samples: pd.DataFrame) -> NDArray[Any]:
    """Return the rows as all methods get them: columns encoded, missing numbers imputed, features scaled."""
    features = learn_features(samples, model.columns, model.weights)
    kinds = features.columns.feature_kinds if features.columns.encoded else None
    points = Points(features.matrix, kinds=kinds)
    return np.asarray(scale_points(points, None if model.scale is None else "std"))


def compare_methods(
    model: GIT, samples: pd.DataFrame, truth: Any, screen: Screen
) -> tuple[list[dict[str, Any]], dict[str, NDArray[np.int64]]]:
    """Results and labels of every method on the same rows; a method that fails says why."""
    scaled = scale_rows(model, samples)
    names = ["GIT", *(name for name, method in PEERS.items() if method.is_installed)]
    results: list[dict[str, Any]] = []
    labels: dict[str, NDArray[np.int64]] = {}
    with screen.bar("Comparing", "compare") as bar:
        for i, name in enumerate(names):
            bar.what = f"Comparing: {name}"
            start = perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("default" if name == "GIT" else "ignore", UserWarning)
                    found = np.asarray(model.fit_predict(samples)) if name == "GIT" else _run_peer(name, scaled, model)
            except (ImportError, ValueError, RuntimeError, np.linalg.LinAlgError) as error:
                if name == "GIT":
                    raise
                results.append({"method": name, "failed": str(error).splitlines()[0]})
                continue
            seconds = perf_counter() - start
            labels[name] = found
            results.append(
                {"method": name, "seconds": round(seconds, 3), **_scores(scaled, found, labels["GIT"], truth)}
            )
            bar.advance((i + 1) / len(names))
    return results, labels


def _run_peer(name: str, scaled: NDArray[Any], model: GIT) -> NDArray[np.int64]:
    method = PEERS[name]
    if method.most_samples is not None and len(scaled) > method.most_samples:
        raise ValueError(f"above {method.most_samples:,} rows it takes too much memory: lower --rows")
    return method.fit(scaled, model.n_clusters_)


def _scores(scaled: NDArray[Any], found: NDArray[np.int64], git: NDArray[np.int64], truth: Any) -> dict[str, Any]:
    sizes = np.sort(np.bincount(found[found >= 0]))[::-1]
    scores: dict[str, Any] = {
        "n_clusters": len(sizes),
        "sizes": sizes,
        "noise": int((found < 0).sum()),
        "silhouette": _silhouette(scaled, found),
        "agreement_with_git": round(adjusted_rand_score(git, found), 4),
    }
    if truth is not None:
        scores["agreement_with_truth"] = round(adjusted_rand_score(truth, found), 4)
    return scores


def _silhouette(scaled: NDArray[Any], found: NDArray[np.int64]) -> float | None:
    from sklearn.metrics import silhouette_score

    kept = np.flatnonzero(found >= 0)[:: max(1, len(found) // SILHOUETTE_ROWS)]
    if not 2 <= len(set(found[kept].tolist())) < len(kept):
        return None
    return round(float(silhouette_score(scaled[kept], found[kept])), 4)


def _comparison(results: list[dict[str, Any]], n_used: int, n_rows: int, *, with_truth: bool) -> Any:
    rows = []
    for r in results:
        if "failed" in r:
            rows.append([r["method"], *[""] * (4 + with_truth), "", f"failed: {r['failed']}"])
            continue
        shares = ", ".join(f"{size / n_used:.0%}" for size in r["sizes"][:3]) + (", ..." if r["n_clusters"] > 3 else "")
        truth = [f"{r['agreement_with_truth']:.3f}"] if with_truth else []
        silhouette = "" if r["silhouette"] is None else f"{r['silhouette']:.2f}"
        rows.append([r["method"], str(r["n_clusters"]), f"{r['noise']:,}", *truth, f"{r['agreement_with_git']:.3f}",
                     silhouette, f"{r['seconds']:.2f}", shares])  # fmt: skip
    truth = ["truth"] if with_truth else []
    headings = ["method", "clusters", "noise", *truth, "GIT", "silhouette", "seconds", "shares"]
    title = f"{n_used:,} rows" + (f" of {n_rows:,}, drawn at random" if n_used < n_rows else "")
    return make_table(title, headings, rows, left=(0, len(headings) - 1))
