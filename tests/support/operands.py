# SPDX-License-Identifier: BSD-3-Clause
"""Operands that are likely to show a mistake: special values, boundaries, and random ones."""

import itertools
import random

import oracle

RANDOM_PAIRS = 1000  # of each kind
MAGNITUDES = {
    'fp16': (0, 1, 2, 3, 0x200, 0x3FE, 0x3FF, 0x400, 0x401, 0x7FF, 0x800, 0x37FF, 0x3800, 0x3BFF,
             0x3C00, 0x3C01, 0x3E00, 0x4000, 0x4248, 0x7800, 0x7BFE, 0x7BFF, 0x7C00, 0x7C01,
             0x7DFF, 0x7E00, 0x7E01, 0x7FFF),
    'bf16': (0, 1, 2, 3, 0x40, 0x7E, 0x7F, 0x80, 0x81, 0xFF, 0x100, 0x3EFF, 0x3F00, 0x3F7F, 0x3F80,
             0x3F81, 0x3FC0, 0x4000, 0x4049, 0x7F00, 0x7F7E, 0x7F7F, 0x7F80, 0x7F81, 0x7FBF, 0x7FC0,
             0x7FC1, 0x7FFF),
    'posit16': (0, 1, 2, 3, 4, 5, 7, 8, 0xF, 0x10, 0xFF, 0x100, 0xFFF, 0x1000, 0x2FFF, 0x3000,
                0x3FFF, 0x4000, 0x4001, 0x4800, 0x5000, 0x5FFF, 0x6000, 0x7000, 0x7FF0, 0x7FFC,
                0x7FFD, 0x7FFE, 0x7FFF),
}
MAGNITUDES['posit16_es2'] = MAGNITUDES['posit16']


def special_slots(form):
    """The slots at the edges of a format, both signs, NaNs and infinities or NaR included."""
    slots = set(MAGNITUDES[form.name])
    slots |= {form.negate(slot) for slot in slots}
    if isinstance(form, oracle.Posit):
        slots.add(form.nan)
    return sorted(slots)


def by_operation(name):
    """Pairs of slots for the table set called `name`: operation -> list of (x, y).

    Every operation gets all pairs of special slots and its own random ones. Over all operations
    together, each of the 65,536 slots is x and y of random pairs at least once.
    """
    tables = oracle.table_set(name)
    form = tables.format
    draw = random.Random(name)
    every_pair = list(zip(shuffled_slots(draw), shuffled_slots(draw)))
    made = {}
    for share, op in enumerate(oracle.OPERATIONS):
        made[op] = list(itertools.product(special_slots(form), repeat=2))
        made[op] += every_pair[share::len(oracle.OPERATIONS)]
        made[op] += neighbours(draw, form)
        if isinstance(tables, oracle.LogSet):
            made[op] += at_the_guard(draw, tables)
    return made


def shuffled_slots(draw):
    return draw.sample(range(0x10000), 0x10000)


def neighbours(draw, form):
    """Magnitudes at most 40 apart, for cancellation and for theta around 0."""
    made = []
    for _ in range(RANDOM_PAIRS):
        magnitude = draw.randrange(40, 0x8000 - 40)
        near = magnitude + draw.randint(-40, 40)
        made.append((either_sign(draw, form, magnitude), either_sign(draw, form, near)))
    return made


def at_the_guard(draw, tables):
    """Log words that differ by about the guard, where an operand begins to be returned."""
    with_word = {word: magnitude for magnitude, word in enumerate(tables.log) if magnitude}
    words = list(with_word)
    made = []
    for _ in range(RANDOM_PAIRS):
        word = draw.choice(words)
        other = word + tables.guard + draw.randint(-2, 2)
        if other in with_word:
            slots = [either_sign(draw, tables.format, with_word[w]) for w in (word, other)]
            made.append(tuple(draw.sample(slots, 2)))
    return made


def either_sign(draw, form, magnitude):
    return draw.choice((magnitude, form.negate(magnitude)))
