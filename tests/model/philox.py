"""Philox4x64-10 in Random123's word order, and the hash `h` of the semantics page."""

MASK = 2**64 - 1
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
KEY_STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS = 10


def philox4x64(counter, key):
    """Four words for a counter of four words and a key of two (Salmon et al., SC11)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        left = MULTIPLIERS[0] * c0
        right = MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = ((right >> 64) ^ c1 ^ k0, right & MASK,
                          (left >> 64) ^ c3 ^ k1, left & MASK)
        k0 = (k0 + KEY_STEPS[0]) & MASK
        k1 = (k1 + KEY_STEPS[1]) & MASK
    return c0, c1, c2, c3


def h(data):
    """Upstream, Algorithms: 64-bit FNV-1a of the bytes, then the finish the page gives."""
    x = 0xCBF29CE484222325
    for byte in data:
        x = ((x ^ byte) * 0x100000001B3) & MASK
    x ^= x >> 33
    x = (x * 0xFF51AFD7ED558CCD) & MASK
    x ^= x >> 33
    x = (x * 0xC4CEB9FE1A85EC53) & MASK
    x ^= x >> 33
    return x
