"""The four algorithms over a list of candidates (semantics, "Algorithms", "Slow start").

An endpoint here is anything with `address`, `port`, `weight`, `inflight`,
`added_at` (None: no slow-start entry) and `running` (its running weight).
Points of the ring are remembered between calls: they depend on nothing but
the three values they are made of.
"""

from bisect import bisect_left
from functools import lru_cache

from .philox import h, philox4x64
from .values import elapsed

ALGORITHMS = ("round_robin", "least_requests", "random", "ip_hash")
STEP_KEY = (1, h(b"balance:step"))
POINTS_PER_WEIGHT = 160


def effective_weight(endpoint, now, slow_start_ms):
    """Slow start: thousandths of the weight, ramping from the entry on machine time."""
    if slow_start_ms == 0:
        return endpoint.weight
    full = 1000 * endpoint.weight
    if endpoint.added_at is None:
        return full
    age = elapsed(now, endpoint.added_at)
    if age >= slow_start_ms:
        return full
    return max(1, full * age // slow_start_ms)


def round_robin(candidates, now, slow_start_ms):
    """Smooth weighted: all add, the largest wins (lowest index on ties), and pays the total."""
    total = 0
    for endpoint in candidates:
        weight = effective_weight(endpoint, now, slow_start_ms)
        endpoint.running += weight
        total += weight
    winner = candidates[0]
    for endpoint in candidates:
        if endpoint.running > winner.running:
            winner = endpoint
    winner.running -= total
    return winner


def least_requests(candidates):
    """Fewest in flight, lowest index on ties."""
    return min(candidates, key=lambda endpoint: endpoint.inflight)


def two_of(count, words):
    """Two distinct places out of `count`, by two 64-bit words."""
    i = (words[0] * count) >> 64
    j = (words[1] * (count - 1)) >> 64
    return i, j + (j >= i)


def random_two(candidates, pick_number):
    """Two distinct candidates, fewer in flight wins, the lower index on ties."""
    words = philox4x64((pick_number, 0, 0, 0), STEP_KEY)
    low, high = sorted(two_of(len(candidates), words))
    if candidates[high].inflight < candidates[low].inflight:
        return candidates[high]
    return candidates[low]


@lru_cache(maxsize=None)
def points(address, port, weight):
    """Where an endpoint stands on the ring."""
    head = address.encode() + port.to_bytes(2, "big")
    return [h(head + n.to_bytes(8, "big")) for n in range(POINTS_PER_WEIGHT * weight)]


@lru_cache(maxsize=256)
def ring(addresses):
    """Sorted (point, index) of the full set; of equal points the lower index owns."""
    owners = {}
    for index, (address, port, weight) in enumerate(addresses):
        for point in points(address, port, weight):
            owners.setdefault(point, index)
    return sorted(owners.items())


def ip_hash(endpoints, candidates, key):
    """First point at or after h(key), wrapping; owners that are no candidates are walked past.

    Answers the winner and whether an owner was walked past.
    """
    circle = ring(tuple((e.address, e.port, e.weight) for e in endpoints))
    start = bisect_left(circle, (h(key.encode()), -1))
    for n in range(len(circle)):
        owner = endpoints[circle[(start + n) % len(circle)][1]]
        if owner in candidates:
            return owner, n > 0
    raise AssertionError("a pick without candidates")
