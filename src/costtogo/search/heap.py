"""Compiled heaps of open nodes: the least f first, the first pushed first among equals.

A binary heap is two arrays: f, and a number that breaks ties and names the entry. Where many searches share memory, the
open list of each is a skew heap: entries of one pool that point at each other, so that none needs room of its own.
"""

import numpy as np

from costtogo.compiled import njit

NOTHING = -1  # no entry


@njit(cache=True, inline="always")
def before(f, order, other_f, other_order):
    """True if (f, order) leaves the heap before the other."""
    return f < other_f or (f == other_f and order < other_order)


@njit(cache=True)
def grown(array):
    """The same array with room for twice as many rows."""
    larger = np.empty(2 * len(array), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True)
def push(fs, orders, size, f, order):
    """Insert an entry; the arrays must have room. order also names the entry: it indexes its record."""
    place = size
    while place > 0:
        parent = (place - 1) // 2
        if not before(f, order, fs[parent], orders[parent]):
            break
        fs[place], orders[place] = fs[parent], orders[parent]
        place = parent
    fs[place], orders[place] = f, order


@njit(cache=True)
def pop(fs, orders, size):
    """Remove the first entry of a heap of the given size and return its order."""
    first = orders[0]
    f, order = fs[size - 1], orders[size - 1]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and before(fs[child + 1], orders[child + 1], fs[child], orders[child]):
            child += 1
        if not before(fs[child], orders[child], f, order):
            break
        fs[place], orders[place] = fs[child], orders[child]
        place = child
    fs[place], orders[place] = f, order
    return first


@njit(cache=True)
def merged(f, left, right, one, other):
    """The top of two skew heaps made one.

    f, left, right: of all entries, which are numbered in the order they were pushed; that breaks ties.
    """
    top, last = NOTHING, NOTHING
    while one != NOTHING and other != NOTHING:
        if before(f[other], other, f[one], one):
            one, other = other, one
        # The top of less f hands its right heap on to be merged and puts its left one in that place.
        following = right[one]
        right[one] = left[one]
        if last == NOTHING:
            top = one
        else:
            left[last] = one
        last = one
        one = following
    rest = one if one != NOTHING else other
    if last == NOTHING:
        return rest
    left[last] = rest
    return top
