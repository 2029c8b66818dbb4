# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as the report writes them."""


def percent(value, digits=2):
    """A percentage without its sign."""
    return f"{value:.{digits}f}"


def compare(ours, theirs):
    """Whether ours is above, equal or below, to the two digits that the paper prints."""
    difference = round(ours, 2) - theirs
    return "equal" if abs(difference) < 0.005 else "above" if difference > 0 else "below"


def small(value):
    """A share, 0 to 1, that may be tiny, in percent."""
    if value == 0:
        return "0"
    return f"{100 * value:.2g} %" if value < 1e-3 else f"{100 * value:.2f} %"


def number(value):
    """Three significant digits."""
    if value == 0:
        return "0"
    if 1e-2 <= abs(value) < 1e5:
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def kilobytes(size):
    """Bytes in KB of 1,024."""
    return f"{size / 1024:,.1f}"


def triple(facts, digits=2):
    """Average, median and minimum in one cell."""
    if isinstance(facts, dict):
        facts = (facts["average"], facts["median"], facts["minimum"])
    return " / ".join(percent(value, digits) for value in facts)


def headings(what, columns):
    """Head cells of columns that belong together. Each says it: tables scroll on a phone."""
    return [f"{what}: {column}" for column in columns]


def listing(items):
    """a, b and c"""
    items = list(items)
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
