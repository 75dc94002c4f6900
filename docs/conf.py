"""How the documentation is built: ``scripts/docs`` runs it, with warnings as errors and without the network."""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from docutils import nodes

import gitcluster
from gitcluster.cli.demo import make_example

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
mpl.use("agg")

import drawing  # noqa: E402

project = "gitcluster"
copyright = "the gitcluster developers"
version = release = gitcluster.__version__

extensions = [
    "formulas",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_math_renderer = "formulas"

myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

GALLERY_ORDER = [
    "plot_first_steps.py",
    "plot_customer_segments.py",
    "plot_digits.py",
    "plot_single_cell.py",
    "plot_frogs.py",
    "plot_images_umap.py",
    "plot_dimension_reduction.py",
]
sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]+\.py$",
    "within_subsection_order": "conf.GalleryOrder",
    "reference_url": {"gitcluster": None},
    "download_all_examples": False,
    "show_signature": False,
    "copyfile_regex": "",
    "min_reported_time": 1000,
    "write_computation_times": False,
}


class GalleryOrder:
    """From the first steps on; examples that are not in the list come last."""

    def __init__(self, src_dir: str) -> None:
        del src_dir

    def __call__(self, name: str) -> tuple[int, str]:
        """Sort key of a file."""
        return (GALLERY_ORDER.index(name) if name in GALLERY_ORDER else len(GALLERY_ORDER)), name


html_theme = "pydata_sphinx_theme"
html_title = "gitcluster"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {page: [] for page in ("index", "live", "api", "gallery/index", "contributing", "changelog")}
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "text": "gitcluster"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "pygments_light_style": "github-light",
    "pygments_dark_style": "github-dark",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_version_warning_banner": False,
    "back_to_top_button": False,
}
copybutton_exclude = ".linenos, .gp, .go"


def draw_pictures(app: Any) -> None:
    """The pictures of the pages, drawn anew by every build."""
    del app
    drawing.draw_all(HERE / "pictures")


def write_live_explorer(app: Any, error: Exception | None) -> None:
    """``live_explorer.html``: the explorer of the demo, for the page ``live``."""
    if error is None and app.builder.name == "html":
        X = make_example()
        model = gitcluster.GIT(proportions=[50, 30, 15, 5]).fit(X)
        model.explore(
            X, Path(app.outdir) / "live_explorer.html", title="Two half rings, a cloud and a small dense group"
        )


MARKS = {"yes": "✓", "no": "·", "wrong": "✗", "crash": "✗"}
"""Signs in the table of features; those who listen hear the word."""


def mark_features(app: Any, doctree: nodes.document, page: str) -> None:
    """Signs and colours in place of yes and no, so that the table is read at a glance."""
    if page != "features" or app.builder.name != "html":
        return
    for table in doctree.findall(nodes.table):
        table["classes"].append("marks")
        for cell in table.findall(nodes.entry):
            word = cell.astext()
            if word in MARKS:
                told = "" if word in ("yes", "no") else f" {word}"
                sign = f'<span aria-hidden="true">{MARKS[word]}{told}</span><span class="visually-hidden">{word}</span>'
                cell["classes"].append(f"mark-{word}")
                cell.clear()
                cell += nodes.raw("", sign, format="html")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("doctree-resolved", mark_features)
    app.connect("builder-inited", draw_pictures)
    app.connect("build-finished", write_live_explorer)
