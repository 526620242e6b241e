"""Retry budget and nominal backoff (semantics, "Upstream": Retries, Retry budget)."""

from .values import elapsed

WINDOW_MS = 10000
REQUEST, RETRY = "request", "retry"


def nominal_backoff(base, cap, retry):
    """The largest delay before the n-th retry: `min(base * 2^(n-1), max(cap, base))`."""
    top = max(cap, base)
    delay = base
    for _ in range(min(retry - 1, 64)):
        delay = min(delay * 2, top)
    return delay


class RetryBudget:
    """One list of requests and granted retries together, in the order they came."""

    def __init__(self):
        self.window = []

    def count(self, kind):
        return sum(what == kind for _, what in self.window)

    def drop(self, now):
        """From the old end, up to the first that has not aged."""
        while self.window and elapsed(now, self.window[0][0]) >= WINDOW_MS:
            self.window.pop(0)

    def request(self, now):
        """A request is entered once, at its first admitted attempt."""
        self.drop(now)
        self.window.append((now, REQUEST))

    def reserve(self, now, percent):
        """Granted when `(retries + 1) * 100 <= percent * requests`; charged in the same step."""
        self.drop(now)
        granted = (self.count(RETRY) + 1) * 100 <= percent * self.count(REQUEST)
        if granted:
            self.window.append((now, RETRY))
        return granted
