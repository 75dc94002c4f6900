"""Formulas as MathML, which browsers draw themselves: no script, no font and no network behind a page.

Docutils turns TeX into MathML; Sphinx is told to use that instead of MathJax.
"""

from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx


def visit_inline(translator: Any, node: nodes.math) -> None:
    """A formula within a line."""
    translator.body.append(latex2mathml.tex2mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """A formula on its own, which scrolls where the page is narrower."""
    formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
