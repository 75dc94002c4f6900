"""Formulas as pictures of lines, the same in every browser: no script, no font and no network behind a page.

Browsers draw MathML well only where a font for mathematics is installed, and few machines have one. matplotlib knows
the glyphs and sets TeX; every formula becomes an SVG in the colour of the text, with the TeX for those who listen.
"""

from html import escape
from typing import Any

from docutils import nodes
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from matplotlib.path import Path
from matplotlib.textpath import TextToPath
from sphinx.application import Sphinx

SIZE = 100.0
"""Points of an outline of glyphs; pictures are scaled to the size of the text around them."""
EDGE = 3.0
"""Points around it, so that no glyph is cropped."""
WIDER = 1.12
"""The glyphs are that much larger than those of the text, whose letters are high."""
FONT = FontProperties(size=SIZE, math_fontfamily="stix")
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


def formula_svg(tex: str) -> str:
    """A formula as an SVG that stands on the line of the text."""
    source = " ".join(tex.split())
    try:
        width, height, depth, *_ = MathTextParser("path").parse(f"${source}$", dpi=72, prop=FONT)
    except ValueError as error:
        raise ValueError(f"matplotlib cannot set {source!r}: {error}") from error
    path = Path(*TextToPath().get_text_path(FONT, f"${source}$", ismath=True))
    parts = []
    for points, code in path.iter_segments(curves=True, simplify=False):
        places = " ".join(f"{x:.1f} {-y:.1f}" for x, y in points.reshape(-1, 2))
        parts.append(LETTERS[code] + ("" if code == Path.CLOSEPOLY else places))
    width, height, below = width + 2 * EDGE, height + 2 * EDGE, depth + EDGE
    box = f"{-EDGE:.0f} {below - height:.1f} {width:.1f} {height:.1f}"
    em = WIDER / SIZE
    style = f"width:{width * em:.3f}em;height:{height * em:.3f}em;vertical-align:{-below * em:.3f}em"
    label = escape(source, quote=True)
    return (
        f'<svg class="tex" role="img" aria-label="{label}" viewBox="{box}" style="{style}"><path d="{"".join(parts)}"/>'
        "</svg>"
    )


def visit_inline(translator: Any, node: nodes.math) -> None:
    """A formula within a line."""
    translator.body.append(formula_svg(node.astext()))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """A formula on its own, with fractions in full size; it scrolls where the page is narrower."""
    formula = formula_svg(node.astext().replace(r"\frac", r"\dfrac"))
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("formulas", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
