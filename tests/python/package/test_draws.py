"""Draws of C++ recomputed by NumPy's Philox, which shares no code with ours."""

import random

import numpy as np
from halfopen import _core


def stable_hash(text):
    state = 0xCBF29CE484222325
    for byte in text.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    state ^= state >> 33
    state = state * 0xFF51AFD7ED558CCD % 2**64
    state ^= state >> 33
    state = state * 0xC4CEB9FE1A85EC53 % 2**64
    return state ^ state >> 33


def numpy_block(counter, key):
    """NumPy steps its counter before the first block: begin one before."""
    whole = sum(word << 64 * place for place, word in enumerate(counter))
    before = (whole - 1) % 2**256
    words = [before >> 64 * place & (2**64 - 1) for place in range(4)]
    generator = np.random.Philox(counter=np.array(words, dtype=np.uint64), key=np.array(key, dtype=np.uint64))
    return [int(word) for word in generator.random_raw(4)]


def test_blocks():
    dice = random.Random(5)
    edges = [[0] * 4, [2**64 - 1] * 4, [0, 0, 0, 1], [2**64 - 1, 0, 0, 0]]
    for counter in edges + [[dice.getrandbits(64) for _ in range(4)] for _ in range(200)]:
        key = [dice.getrandbits(64) for _ in range(2)]
        assert list(_core.philox4x64_10(counter, key)) == numpy_block(counter, key)
    assert f"{_core.philox4x64_10([0] * 4, [0] * 2)[0]:x}" == "16554d9eca36314c"  # Random123's known answer


def test_named_streams():
    dice = random.Random(6)
    for stream in ("arrivals:0", "service:api/10.0.0.1:8080", "probe:api/ü:1"):
        for _ in range(50):
            seed, index, entry = (dice.getrandbits(bits) for bits in (64, 40, 8))
            tryn, attempt = dice.getrandbits(32), dice.getrandbits(5)
            block = numpy_block([index, (tryn << 32) + attempt, entry, 1], [seed, stable_hash(stream)])
            ours = _core.draw(seed, stream, index, tryn=tryn, attempt=attempt, entry=entry, kind=1)
            assert ours == (block[0] >> 11) * 2.0**-53
