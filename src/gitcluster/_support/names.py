"""Texts for users: control characters escaped, numbers with their nouns."""

import re
from collections.abc import Sequence

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, marks that change the direction of a text, and halves of characters."""


def escape_control(text: str, *, lines: bool = False) -> str:
    r"""Return a text with escaped control characters; with ``lines``, line ends and tabs stay.

    Examples
    --------
    >>> escape_control("red \x1b[31m")
    'red \\x1b[31m'
    """

    def escape(match: re.Match[str]) -> str:
        return match[0] if lines and match[0] in "\n\t" else match[0].encode("unicode_escape").decode()

    return _CONTROL.sub(escape, text)


def count_of(number: int, what: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> count_of(1200, "edge"), count_of(1, "cluster")
    ('1,200 edges', '1 cluster')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def list_of(items: Sequence[str], most: int = 10) -> str:
    """Return items as "a, b and c", or the first ones and the number of the others.

    Examples
    --------
    >>> list_of(["a", "b", "c"]), list_of(["a", "b", "c", "d"], 2)
    ('a, b and c', 'a, b and 2 more')
    """
    shown = [*items] if len(items) <= most else [*items[:most], f"{len(items) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
