"""Random numbers for compiled code, the same on every machine and with every version of a library.

Two generators, as levels and walks are made with one each: neither may change, for what they draw is kept.
"""

import numpy as np

from costtogo.compiled import njit


@njit(cache=True)
def split_mix(noise):
    """The next random number of 64 bits of a state, uint64 [1] (splitmix64, Steele et al. 2014)."""
    noise[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = noise[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@njit(cache=True)
def below(noise, count):
    """A random number 0 … count - 1 by split_mix."""
    return np.int64((split_mix(noise) >> np.uint64(32)) * np.uint64(count) >> np.uint64(32))


@njit(cache=True, inline="always")
def xor_shift(random):
    """The random number of 64 bits that follows another (xorshift64, Marsaglia 2003)."""
    random ^= random << np.uint64(13)
    random ^= random >> np.uint64(7)
    random ^= random << np.uint64(17)
    return random


@njit(cache=True, inline="always")
def remainder(random, count):
    """A number 0 … count - 1 by a random number of 64 bits."""
    return np.int64((random >> np.uint64(33)) % np.uint64(count))
