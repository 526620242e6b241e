"""What the four sources of operations share: the clock, the moods, the malformed lines."""

import json

from ..values import U64

encode = json.JSONEncoder(separators=(",", ":")).encode

RATIOS = (0.07, 0.28, 1 / 3, 0.5, 0.5, 0.56, 2 / 3, 1.0, 1)
MOODS = (0.0, 0.05, 0.3, 0.5, 0.8, 1.0)

# f failures of n at ratio r where f / n >= r holds and f >= r * n does not.
DIVIDED = ((7, 100, 0.07), (7, 25, 0.28), (14, 25, 0.56), (15, 29, 15 / 29), (28, 100, 0.28))

BLANK = ("", " ", "\t ")

# Errors for every machine: each line is refused and changes nothing.
MALFORMED = (
    "{", "[]", "null", "7", '"check"', "{}", "nonsense", "{'op':'report'}", '{"t":3}',
    '{"op":5,"t":1}', '{"op":"nope","t":1}', '{"op":"Report","t":1,"failure":true}',
    '{"op":["report"],"t":1,"failure":true}', '{"op":"report","t":-1,"failure":true}',
    '{"op":"report","t":18446744073709551616,"failure":true}',
    '{"op":"report","t":"1","failure":true}', '{"op":"report","t":1.5,"failure":true}',
    '{"op":"report","t":true,"failure":true}', '{"op":"report","t":1,"failure":true',
    '{"op":"report","t":1,"failure":true} {}', '{"op":"report","t":1,"failure":true}]',
    '{"op":"report","t":1,"t":1,"failure":true}', '{"op":"report","t":1}',
    '{"op":"report","t":1,"failure":1}', '{"op":"report","t":1,"failure":"true"}',
    '{"op":"report","t":1,"failure":NaN}', '{"op":"report","t":1,"failure":null}',
    '{"op":"request","t":-1}', '{"op":"pick","t":-5}', '{"op":"check","t":1e}',
    '{"op":"params","t":1,"window_ms":0,"open_ms":0}', '{"op":"check" "t":1}',
)

# Keys that no operation names: ignored, whatever they hold.
IGNORED = ({"note": "x"}, {"unused": [1, {"a": None}]}, {"Failure": 3}, {"T": -1})


class Source:
    """A stream of operations; `next` gives (text, op), op None when only text will do."""

    malformed = ()
    window_ms = 50

    def __init__(self, rng, options, machine):
        self.rng = rng
        self.options = options
        self.machine = machine
        self.t = self.base = rng.choice((0, 1, 1000, 1700000000000))
        self.failing = 0.5
        self.queue = []
        self.unit = options.get("unit", 8)
        self.back = options.get("back", 0.01)
        self.saturate = options.get("saturate", 0.0)
        self.broken = options.get("broken", 0.015)

    # -- small draws ---------------------------------------------------------

    def below(self, n):
        return int(self.rng.random() * n)

    def pick(self, things):
        return things[int(self.rng.random() * len(things))]

    def chance(self, p):
        return self.rng.random() < p

    def failure(self):
        """Failures come in moods, so that streaks, recoveries and quiet all happen."""
        if self.rng.random() < 0.04:
            self.failing = self.pick(MOODS)
        return self.rng.random() < self.failing

    # -- the clock -----------------------------------------------------------

    def edges(self):
        """Instants at which something changes; the machine's own source knows them."""
        return []

    def move(self):
        """Stay, one millisecond, a little, onto an edge or beside it, back, far."""
        r = self.rng.random()
        if r < 0.40:
            return
        if r < 0.60:
            self.t += 1
        elif r < 0.75:
            self.t += self.below(self.unit + 1)
        elif r < 0.98 - self.back - self.saturate:
            self.to_edge()
        elif r < 0.99 - self.saturate:
            self.t += self.below(4 * self.window_ms)
        elif r < 1 - self.saturate:
            self.t = max(0, self.t - (1 if self.chance(0.5) else self.below(2 * self.window_ms)))
        else:
            self.jump()
        self.t = min(self.t, U64)

    def to_edge(self):
        """Exactly at an edge, one before, one after; forwards, now and then backwards."""
        edges = self.edges()
        if not edges:
            return
        instant = self.pick(edges) + self.below(3) - 1
        if instant >= self.t or (instant >= 0 and self.chance(self.back)):
            self.t = instant

    def jump(self):
        """To the end of 64 bits, over some power of ten, or home."""
        r = self.below(3)
        if r == 0:
            self.t = U64 - self.below(80) * self.below(2)
        elif r == 1:
            self.t += 10 ** self.below(19)
        else:
            self.t = self.base

    # -- the stream ----------------------------------------------------------

    def fill(self):
        """Put at least one operation on the queue."""
        raise NotImplementedError

    def next(self):
        """The next line: sometimes blank or malformed, mostly an operation."""
        if self.rng.random() < self.broken:
            return self.odd_line()
        if not self.queue:
            self.fill()
        op = self.queue.pop(0)
        if self.rng.random() < 0.004:
            op = {**op, **self.pick(IGNORED)}
        if self.rng.random() < 0.002:
            op = {key: value for key, value in op.items() if key != "t"}
        return encode(op), op

    def odd_line(self):
        r = self.below(8)
        if r == 0:
            return self.pick(BLANK), None
        wrong = self.pick(self.malformed if r < 5 and self.malformed else MALFORMED)
        if type(wrong) is str:
            return wrong, None
        wrong = {"t": self.t, **wrong}
        return encode(wrong), wrong
