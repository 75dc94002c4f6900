"""Every numbered item, claim and question of the paper: whether it reproduces, how it is computed, and the evidence.

Numbers are as printed. A test compares ``labels``, the names in the paper's source, with that source. A status is
"works", or says how the item differs and why; it names the variant it is true of. ``python -m benchmarks reproduce``
runs the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.reporting.tables import markdown
from benchmarks.runner import FOLDER, Store


class Item(NamedTuple):
    """One item; several equations that belong together are one."""

    kind: str
    numbers: tuple[int, ...]
    labels: tuple[str, ...]
    what: str
    status: str
    steps: tuple[str, ...]
    """Arguments of ``python -m benchmarks``, or of ``python -m`` for pytest and docs.images."""
    evidence: str
    """A page and heading under ``docs/``, or a file of the repository."""
    tables: tuple[str, ...] = ()
    """Tables of the experiments that show the result, in place of a row for every fit."""
    quick: tuple[str, ...] = ()
    """Selection of a part of the fits, if all of them take long."""
    packages: tuple[str, ...] = ()
    """Packages that gitcluster does not need."""

    @property
    def name(self) -> str:
        """Return kind and numbers, or for a claim its text."""
        if not self.numbers:
            return f"{self.kind}: {self.what}"
        return f"{self.kind} {self.numbers[0]}" + (f"-{self.numbers[-1]}" if len(self.numbers) > 1 else "")


PAGE = "reproduce.md#"
HDB = ("hdbscan",)
SMALL = "accuracy --only group=small setting=published"
LARGE = "accuracy --only group=large setting=published"
SHAPES = "accuracy --only group=shapes setting=published"
COUNTED = "statements --only variant=statistics"
EXPLAINED = "statements --only variant=orders,largest"
STAGES = "statements --only variant=stages"
PCA, AE = "embedding=pca5,pca10,pca20,pca30", "embedding=ae5,ae10,ae20,ae30"
EMBEDDED = f"{PCA},{AE.removeprefix('embedding=')}"
REDUCED = (
    f"sensitivity --only {EMBEDDED}",
    "dimension_reduction",
)
SPEED = 'speed --only "sweep=paper n,paper d,paper k"'
METRICS, ORACLE, STAGE_TESTS, THEOREMS = (
    f"pytest tests/test_{name}.py" for name in ("metrics", "oracle", "stages", "theorems")
)
VARIANTS = 'pytest tests/test_variants.py -k "not diffs"'  # without a test for contributors
TESTS = ("pytest", "hypothesis")
DRAWN = ("matplotlib", "pandas", "pillow")

LONG = 90.0
"""Seconds of an item from which on the table shows those of its part too."""
RECORDED = ("step", "only")
"""What identifies recorded seconds: a step of an item, and the selection of its fits."""

ITEMS = (
    Item("Table", (1,), ("tab:symbols",), "symbols", "works: every symbol has an expression in code", ("pytest benchmarks/tests/test_paper_items.py::test_every_symbol_of_table_1_is_an_expression",), "algorithm/index.md#the-papers-symbols", packages=TESTS),
    Item("Table", (2,), ("Table:datset",), "statistics of the real sets", "differs, because two figures are misprinted: codon has 64 features, MNIST's balance is .80", (COUNTED,), f"{PAGE}the-data", quick=("set=iris,wine,hepatitis,cancer",)),
    Item("Table", (3,), ("table:GIT_density_small",), "accuracy on small sets", "works with `authors`: GIT equal to three digits on all four sets; `paper` on iris and hepatitis; DPA and FSFDP are swapped in print between hepatitis and cancer", (SMALL,), f"{PAGE}small-sets", quick=("set=iris,wine",), packages=HDB),
    Item("Table", (4,), ("table:GIT_density_large",), "accuracy on large sets", "differs, because with `authors` GIT's figure on olivetti depends on the order of equal sizes, that on frogs came from an earlier state of the code, and that on codon is unreproduced; MNIST and FMNIST are equal to three digits; `paper` is not close on any", (LARGE, EXPLAINED), f"{PAGE}large-sets", quick=("set=olivetti,frogs", ), packages=HDB),
    Item("Table", (5,), ("tab:shapes",), "pictures of shapes, three best methods", "differs, because by the notebooks and here HDBSCAN is first on moons, and DPA and HDBSCAN on the S-set; circles, impossible and smile work; GIT with `authors` is equal to three digits on all", (SHAPES,), f"{PAGE}shapes", ("top_three",), packages=HDB),
    Item("Table", (6,), ("tab:noises_scales",), "pictures of noise and scale", "differs, because no k was published for circles with noise .2, and none from 3 to 100 gives the picture with `authors`; the others work", ('pictures --only "picture=moons,impossible,scaled circles,noisy circles"',), f"{PAGE}noise-and-scale", quick=("picture=scaled circles",)),
    Item("Table", (7,), ("tab:symbols_appendix",), "symbols of the metrics", "works", (METRICS,), "metrics.md", packages=TESTS),
    Item("Table", (8,), ("tab:contingency",), "contingency table", "works", (METRICS,), "metrics.md", packages=TESTS),
    Item("Figure", (1,), ("fig:pipeline",), "the pipeline", "works with the default", ("docs.images pipeline",), f"{PAGE}the-method", packages=DRAWN),
    Item("Figure", (2,), ("fig:motivation_1d",), "the idea in one dimension", "works with the default", ("docs.images motivation",), f"{PAGE}the-method", packages=DRAWN),
    Item("Figure", (3,), ("fig:density_growing_process",), "how local clusters grow", "works with the default", ("docs.images growth",), f"{PAGE}the-method", packages=DRAWN),
    Item("Figure", (4,), ("fig:speed",), "running time over n, d, k", "differs, because with `authors` and `paper` the time grows faster than n log n, in the published seconds too", (SPEED,), f"{PAGE}speed-and-complexity", quick=("sweep=paper k",)),
    Item("Figure", (5,), ("fig:robustness_change",), "F1 over noise and scale", "works with `authors`: GIT equal to three digits along both curves", ("robustness --only curve=moons,circles",), f"{PAGE}noise-and-scale", quick=("curve=circles",), packages=HDB),
    Item("Figure", (6,), ("fig:dim_reduction",), "F1 after dimension reduction", "works with `authors` on principal components: GIT and Quickshift++ equal to three digits; differs on autoencoders, because the published ones are lost and ours are others", REDUCED, f"{PAGE}dimension-reduction", quick=("embedding=pca5",), packages=("torch",)),
    Item("Figure", (7,), ("fig:visualization",), "UMAP pictures of five-dimensional embeddings", "differs, because the published autoencoder is lost; drawn with ours and `authors`", ("pictures --only picture=mnist,fmnist",), f"{PAGE}dimension-reduction", quick=("picture=mnist",), packages=("torch", "umap-learn")),
    Item("Figure", (8,), ("fig:3d_find_peak",), "peaks and gradient over intensity contours", "works with the default", ("docs.images ascent",), f"{PAGE}the-method", packages=DRAWN),
    Item("Figure", (9,), ("fig: raw_data ",), "F1 over k, raw images", "works with `authors`: equal to three digits at every k", ("sensitivity --only embedding=raw",), f"{PAGE}sensitivity-to-k", quick=("set=mnist", "k=40")),
    Item("Figure", (10, 11), ("fig:PCA_MNIST", "fig:PCA_FMNIST"), "F1 over k, principal components", "works with `authors`: within .0002 at every k", (f"sensitivity --only {PCA}",), f"{PAGE}sensitivity-to-k", quick=("embedding=pca5",)),
    Item("Figure", (12, 13), ("fig:AE_MNIST", "fig:AE_FMNIST"), "F1 over k, autoencoders", "differs, because the published autoencoders are lost; ours with `authors`", (f"sensitivity --only {AE}",), f"{PAGE}sensitivity-to-k", quick=("embedding=ae5",), packages=("torch",)),
    Item("Equation", (1,), ("eq:intensity",), "intensity, scaled distance", "works with `paper`; `authors` has another kernel", (ORACLE,), "algorithm/intensity.md", packages=TESTS),
    Item("Equation", (2, 3), (), "super-level sets, local clusters at time t", "works with `paper`", (STAGE_TESTS,), "algorithm/local_clusters.md", packages=TESTS),
    Item("Equation", (4,), ("eq:Prx",), "parent by steepest slope", "differs, because it is printed with unscaled distances, which would undo Theorem 1: `paper` scales them, `paper-literal` is as printed", (VARIANTS,), f"{PAGE}how-the-paper-is-read", packages=TESTS),
    Item("Equation", (5, 6, 7), ("eq: local_cluster_recursive1", "eq: local_cluster_recursive2", "eq: local_cluster_init"), "the recursion", "works with `paper`; the paper does not say how ties are broken: by index", (STAGE_TESTS,), "algorithm/local_clusters.md", packages=TESTS),
    Item("Equation", (8, 9), ("eq: distance_local_clusters1", "eq: distance_local_clusters2"), "average linkage, weight of an edge", "works with `paper`", (ORACLE,), "algorithm/topo_graph.md", packages=TESTS),
    Item("Equation", (10,), ("eq: point_distance",), "similarity of a boundary pair", "differs, because it is printed with unscaled distances: `paper` scales them, `paper-literal` is as printed", (VARIANTS,), f"{PAGE}how-the-paper-is-read", packages=TESTS),
    Item("Equation", (11,), ("eq:Wasserstein",), "score of proportions", "differs, because with the printed cost of 1 the score is constant; all variants use the distance of the shares, as the authors' code", (METRICS,), "algorithm/edge_cutting.md", packages=TESTS),
    Item("Equation", tuple(range(12, 22)), (), "proof of Theorem 2", "works with `paper`, and more is true", (THEOREMS,), f"{PAGE}the-two-theorems", packages=TESTS),
    Item("Equation", (22,), ("eq: F1_score",), "F1", "works", (METRICS,), "metrics.md", packages=TESTS),
    Item("Equation", (23, 24), ("eq: RI", "eq: ARI"), "Rand index, adjusted", "works", (METRICS,), "metrics.md", packages=TESTS),
    Item("Equation", (25,), (), "NMI", "differs, because as printed it exceeds 1 (cancer with `authors`: 1.025); the tables have MI over the mean entropy", ("statements --only variant=nmi",), "metrics.md", ("nmi",)),
    Item("Equation", (26, 27, 28), ("eq: update_C", "eq: update_M", "eq: update_N"), "bookkeeping of the sweep", "works with `paper`, without copies of the tables", (ORACLE,), "algorithm/edge_cutting.md", packages=TESTS),
    Item("Algorithm", (1,), ("algorithm: local_cluster_detecting",), "local clusters and boundary pairs", "differs, because it has two misprints: the condition of line 11 is always true, and lines 15 to 17 record pairs by roots that are not final (with `paper`, 764 of 819 pairs on iris); Eq. 4 and Eq. 10, which all variants follow, work", ("statements --only variant=pairs", ORACLE), f"{PAGE}how-the-paper-is-read", quick=("set=iris",), packages=TESTS),
    Item("Algorithm", (2,), ("algorithm: topo-graph construction and pruning",), "topo-graph", "differs, because its weight contradicts Eq. 10: `paper` follows Eq. 10, `paper-algorithm2` is as printed", (VARIANTS,), f"{PAGE}how-the-paper-is-read", packages=TESTS),
    Item("Algorithm", (3,), ("algorithm: topo-graph construction and pruning",), "sweep over the edges", "works with `paper`: the first merge is always accepted, because the best score starts at 9999; the paper does not say what becomes of clusters that are left over: they are joined", (ORACLE, "pytest tests/test_cutting.py"), f"{PAGE}how-the-paper-is-read", packages=TESTS),
    Item("Theorem", (1,), (), "the intensity has no scale", "works, for labels too, in the default and `paper`; differs in `authors`, because it measures similarities in raw units", (THEOREMS, "statements --only variant=adaptive,paper,paper-literal,authors,intensity"), f"{PAGE}the-two-theorems", ("theorems",), ("set=iris,wine,toy_circles",), TESTS),
    Item("Theorem", (2,), (), "the intensity is Lipschitz continuous", "works with `paper`, with constant 1 and without the condition", (THEOREMS, "statements --only variant=intensity"), f"{PAGE}the-two-theorems", quick=("set=iris,wine,toy_circles",), packages=TESTS),
    Item("Claim", (), (), "first by F1, among the first two by NMI and three by ARI, on all small and large sets", "differs, because k-means and spectral clustering, which Table 3 leaves out, are ahead of `authors` on iris, and Quickshift++ with the notebook's other k on MNIST; true of the methods in the tables", (SMALL, LARGE, COUNTED), f"{PAGE}does-it-reproduce", ("ranks",), ("set=iris,wine,hepatitis,cancer",), HDB),
    Item("Claim", (), (), "about 10 points of F1 ahead on MNIST and FMNIST", "works with `authors` after dimension reduction; on raw images it is 8 and 9 points", (LARGE, COUNTED), f"{PAGE}does-it-reproduce", ("ranks",), ("set=mnist,fmnist", "method=GIT authors,k-means++"), HDB),
    Item("Claim", (), (), "the gain falls with the number of features", "differs, because with `authors` there is no correlation over the nine sets, in the published figures and here", (SMALL, LARGE, COUNTED), f"{PAGE}does-it-reproduce", ("ranks",), ("set=iris,wine,hepatitis,cancer",), HDB),
    Item("Claim", (), (), "much faster on large sets than HDBSCAN, Quickshift++ and SpectACl", "works with `authors` on MNIST and FMNIST in the published seconds; differs on olivetti, frogs and codon, where HDBSCAN and Quickshift++ are faster in the published seconds too", (LARGE,), f"{PAGE}large-sets", quick=("set=olivetti,frogs",), packages=HDB),
    Item("Claim", (), (), "deterministic", "works with all variants: a fit that is repeated gives the same labels", ('pytest tests/test_laws.py -k "forgets or threads"',), "promises.md", packages=TESTS),
    Item("Claim", (), (), "the number of classes must be known", "differs, because the default can choose it, if not always rightly", ("statements --only variant=number",), "accuracy.md#public-sets"),
    Item("Claim", (), (), "6 and 8 points ahead on frogs and codon with given proportions", "differs, because the state of the code that gave .662 on frogs is not the published one (with `authors` .711, 11 points ahead), and codon's .454 and two of its competitors are unreproduced", (LARGE, EXPLAINED), f"{PAGE}large-sets", quick=("set=frogs",), packages=HDB),
    Item("Claim", (), (), "equal shares give good results, the true ones better", "works with `authors` and `paper`: better on all three sets on which other shares were given; with equal ones `authors` is behind spectral clustering on frogs and codon; differs in the default, because the true shares make it worse on frogs", ("statements --only variant=shares", 'accuracy --only "method=GIT,GIT proportions" set=toy_impossible,frogs,codon setting=untuned'), f"{PAGE}does-it-reproduce", ("shares",), ("set=toy_impossible,frogs",)),
    Item("Claim", (), (), "competitors for the next experiment are the best of the one before", "differs, because FSFDP has a higher mean F1 than HDBSCAN on the small sets, and spectral clustering than k-means++ on the large ones, in the published figures", (SMALL, LARGE), f"{PAGE}does-it-reproduce", quick=("set=iris,wine,hepatitis,cancer",), packages=HDB),
    Item("Claim", (), (), "users can draw the topo-graph", "works with all variants: `plot_topo_graph`", ("pytest tests/test_plots.py -k topo_graph",), "plots.md#the-topo-graph", packages=(*TESTS, "matplotlib", "pandas")),
    Item("Claim", (), (), "up to 12.5, 17.1, 9.5, 10.4 points ahead after dimension reduction", "works with `authors` on principal components and MNIST's autoencoders; differs on those of FMNIST, because the published ones are lost: ahead by less, and on five numbers Quickshift++ is first", REDUCED, f"{PAGE}dimension-reduction", ("dimension_reduction_claims",), ("embedding=pca5",), ("torch",)),
    Item("Claim", (), (), "dimension reduction helps all methods but SpectACl", "differs, because it is not so for any of them: of 16 embeddings GIT (`authors`) is better on 14, Quickshift++ on 10, k-means on 9, in the published figures", (*REDUCED, LARGE), f"{PAGE}dimension-reduction", ("dimension_reduction_raw",), ("embedding=pca5", "set=mnist", "method=GIT authors,k-means,k-means++"), ("torch",)),
    Item("Claim", (), (), "better than k-means++ for the vast majority of k", "works with `authors`: 126 of 144 published figures", ("sensitivity", "dimension_reduction --only method=k-means", "accuracy --only set=mnist,fmnist method=k-means++ setting=published"), f"{PAGE}sensitivity-to-k", ("sensitivity_claim",), ("embedding=pca5",), ("torch",)),
    Item("Claim", (), (), "O(d n log n)", "differs, because of the search in ten dimensions, with `authors` and `paper`", (SPEED,), f"{PAGE}speed-and-complexity", quick=("sweep=paper k",)),
    Item("Claim", (), (), "best and steadiest under strong noise", "works with `authors` above noise .22 by F1; differs below, where SpectACl or HDBSCAN is ahead in the published figures too", ("robustness --only curve=moons",), f"{PAGE}noise-and-scale", quick=("level=0.24,0.26",), packages=HDB),
    Item("Claim", (), (), "k is all there is to tune, from 30 to 100 on large sets", "works with `authors` and `paper`; on frogs, codon and olivetti the paper used 18, 15 and 3; the default needs no k", (f"sensitivity --only {PCA}",), f"{PAGE}sensitivity-to-k", quick=("embedding=pca5",)),
    Item("Claim", (), (), "GIT is best on all synthetic sets, then SpectACl, Quickshift++, HDBSCAN and spectral clustering", "differs, because HDBSCAN is ahead of `authors` on moons, and it and DPA on the S-set; the second in turn are SpectACl, GIT, HDBSCAN, GIT and DPA", (SHAPES,), f"{PAGE}shapes", ("top_three",), packages=HDB),
    Item("Claim", (), (), "HDBSCAN and DPA drop too many valid points", "works: with the published parameters HDBSCAN covers less than .8 of the samples on 6 of 15 sets, DPA on 5 of 10; on the others they cover .81 or more", ("accuracy --only method=HDBSCAN,DPA setting=published",), f"{PAGE}does-it-reproduce", quick=("group=small,shapes",), packages=HDB),
    Item("Claim", (), (), "cutting edges by a threshold or by spectral clustering is worse", "works with `paper`: of ten sets, the best threshold is ahead on circles alone, and spectral clustering of the topo-graph on none", (STAGES,), f"{PAGE}other-cuts-and-densities", ("stages",), ("set=iris,wine,toy_circles",)),
    Item("Claim", (), (), "the intensity is better than KDE and the k-NN density", "differs, because with `paper` KDE is ahead on three of ten sets and the k-NN density on two; both are behind or level on the others", (STAGES,), f"{PAGE}other-cuts-and-densities", ("stages",), ("set=iris,wine,toy_circles",)),
    Item("Claim", (), (), "noise does no harm, because it changes intensities little and edges depend on many pairs", "works with `paper`: 50 % uniform noise leaves the order of the intensities nearly the same (rank correlation .99); an edge has 8 pairs in the median, and 7 with that noise", ("statements --only variant=noise",), f"{PAGE}other-cuts-and-densities"),
    Item("Question", (1,), (), "are labels used to tune?", "works: yes, as the paper says; but the reported result is not always the best: on 7 of 18 inputs, all of MNIST, another k has a higher published F1 (`authors`)", (f"sensitivity --only {PCA}",), f"{PAGE}sensitivity-to-k", quick=("embedding=pca5",)),
    Item("Question", (2,), (), "does Table 5 show the three best of all methods?", "differs, because on moons and the S-set the order is another, see Table 5", (SHAPES,), f"{PAGE}shapes", ("top_three",), packages=HDB),
    Item("Question", (3,), (), "are uncovered samples left out of the scores?", "works: yes, and results that cover less than .8 are left out", ("pytest benchmarks/tests/test_scoring.py",), f"{PAGE}how-it-is-counted", packages=TESTS),
    Item("Question", (4,), (), "how are the UMAP pictures drawn?", "works: from five dimensions to two, as in Figure 7; with our autoencoder", ("pictures --only picture=mnist,fmnist",), f"{PAGE}dimension-reduction", quick=("picture=mnist",), packages=("torch", "umap-learn")),
    Item("Question", (5,), (), "why no means over random seeds?", "works for GIT, which has no random start; differs for SpectACl, spectral clustering and k-means++, because their figures have one seed, for SpectACl an unknown one", ("accuracy --only group=small method=SpectACl,spectral,k-means++ setting=published",), f"{PAGE}does-it-reproduce", quick=("set=iris,wine",)),
    Item("Question", (6,), (), "are competitors chosen in favour of GIT?", "differs, because the methods taken along are not always the best of the experiment before, see the claim on competitors", (SMALL, LARGE), f"{PAGE}does-it-reproduce", quick=("set=iris,wine,hepatitis,cancer",), packages=HDB),
)  # fmt: skip


def selection(step: str, only: Sequence[str]) -> str:
    """Return the selection of the fits of a step; tests and pictures have none."""
    return "" if step.startswith(("pytest", "docs.images")) else " ".join(only)


def measured(item: Item, only: Sequence[str]) -> float | None:
    """Return the sum of the recorded seconds of the steps of an item, if all of them are recorded."""
    lines = Store("reproduce", RECORDED, FOLDER).lines
    keys = [(step, selection(step, only)) for step in item.steps]
    return sum(lines[key]["seconds"] for key in keys) if all(key in lines for key in keys) else None


def duration(seconds: float | None) -> str:
    """Return seconds as a short text.

    >>> duration(7.2), duration(400.0), duration(7000.0), duration(None)
    ('7 s', '7 min', '1.9 h', '')
    """
    if seconds is None:
        return ""
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 3600
        else f"{seconds / 3600:.1f} h"
    )


def count() -> str:
    """Return how many items work, work in part, or differ."""
    parts = [item for item in ITEMS if item.status.startswith("works") and "differs" in item.status]
    differ = [item for item in ITEMS if item.status.startswith("differs")]
    whole = len(ITEMS) - len(parts) - len(differ)
    return f"Of {len(ITEMS)} rows {whole} work, {len(parts)} work in part, and {len(differ)} differ; each says why."


def table() -> str:
    """Return the items in the order of the list."""
    rows = []
    for item in ITEMS:
        page, _, anchor = item.evidence.partition("#")
        link = f"#{anchor}" if page == "reproduce.md" else item.evidence
        shown = (anchor or page.removesuffix(".md").split("/")[-1]).replace("-", " ").replace("_", " ")
        whole, part = measured(item, ()), measured(item, item.quick)
        texts = [duration(whole)] if whole else []
        texts += [f"{duration(part)} quick"] if part and (whole or np.inf) > LONG and item.quick else []
        time = " / ".join(texts)
        rows.append([item.name.split(":")[0], item.what, item.status, time, f"[{shown}]({link})"])
    return markdown(["item", "what", "status", "time", "evidence"], rows)
