"""Hand-computed cases of the model's upstream; tests/python/test_model_self.py collects them."""

import json

import pytest

from .balancer import points, two_of
from .philox import h
from .protocol import Stepper

FRAGILE = {"consecutive_failures": 1, "eject_ms": 100, "window_ms": 1000}


class Up:
    """One upstream; endpoints are written "a b*5": address, weight, all on port 1."""

    def __init__(self, endpoints, **config):
        self.stepper = Stepper("upstream")
        self.load("build", 0, endpoints, **config)

    def __call__(self, name, t=0, **values):
        return self.stepper.step(json.dumps({"op": name, "t": t, **values}))

    def load(self, name, t, endpoints, **config):
        listed = []
        for word in endpoints.split():
            address, _, weight = word.partition("*")
            listed.append({"address": address, "port": 1, "weight": int(weight or 1)})
        return self(name, t, endpoints=listed, **config)

    def picks(self, count, t=0):
        return "".join(self("pick", t)["result"][0] for _ in range(count))

    def done(self, dispatch, failure, t=0):
        return self("done", t, dispatch=dispatch, failure=failure)


def test_smooth_weighted_round_robin_5_1_1():
    assert Up("a*5 b c").picks(14) == "aabacaa" * 2


def test_names_and_numbers():
    up = Up("::1")
    answer = up("pick")
    assert (answer["result"], answer["dispatch"]) == ("[::1]:1", 1)
    assert (answer["inflight"], answer["states"], answer["breaker"]) == ([1], [None], None)


def test_least_requests_takes_the_lowest_index_on_ties():
    up = Up("a b c", load_balancer="least_requests")
    assert up.picks(4) == "abca"
    up.done(2, False)
    assert up.picks(1) == "b"


def test_two_choices_are_distinct_and_scaled():
    assert two_of(4, (0, 0)) == (0, 1)
    assert two_of(4, (2**64 - 1, 2**64 - 1)) == (3, 2)
    assert two_of(4, (2**63, 2**63)) == (2, 1)
    assert two_of(2, (2**63, 5)) == (1, 0)


def test_ip_hash_owner_is_the_first_point_at_or_after():
    up = Up("a b*2 c", load_balancer="ip_hash")
    ring = sorted((point, name) for name, weight in (("a", 1), ("b", 2), ("c", 1))
                  for point in points(name, 1, weight))
    for key in ("", "x", "user-7"):
        owner = next((name for point, name in ring if point >= h(key.encode())), ring[0][1])
        assert up("pick", key=key)["result"] == owner + ":1"
    assert len(ring) == 640 and points("b", 1, 2)[3] == h(b"b\x00\x01" + bytes(7) + b"\x03")


def test_fail_open_takes_no_slot_and_its_success_recovers():
    up = Up("a b", health=FRAGILE)
    up.picks(2)
    up.done(1, True)
    assert up.done(2, True)["states"] == ["ejected", "ejected"]
    answer = up("pick", 50)
    assert answer["fail_open_picks"] == 1 and answer["states"] == ["ejected", "ejected"]
    assert up.done(3, False, 60)["states"] == ["healthy", "ejected"]


def test_slots_are_spent_by_the_selected_endpoint_only():
    up = Up("a b", health=FRAGILE, load_balancer="least_requests")
    up.picks(2)
    up.done(2, True)
    up.done(1, False)
    assert up("pick", 100)["result"] == "a:1"          # b becomes half-open, keeps its slot
    assert up("pick", 100)["result"] == "b:1"
    assert up("pick", 100)["result"] == "a:1"          # no slot left
    assert up("abandon", 100, dispatch=4)["inflight"] == [2, 0]
    assert up("pick", 100)["result"] == "b:1"          # the slot came back


@pytest.mark.parametrize("late, state, ignored", [
    ("count", "healthy", 0), ("ignore", "ejected", 1)])
def test_late_reports(late, state, ignored):
    up = Up("a b", health=FRAGILE, late_reports=late)
    up.picks(3)                                        # a b a
    up.done(1, True)
    answer = up.done(3, False)
    assert (answer["states"][0], answer["late_reports_ignored"]) == (state, ignored)
    assert answer["inflight"] == [0, 1]


def test_bodies_that_always_break_eject_by_ratio_and_not_by_streak():
    health = {"consecutive_failures": 2, "failure_min_volume": 6, "failure_ratio": 0.5}
    up = Up("a", health=health)
    for number in range(1, 4):
        up("pick")
        up.done(number, False)
        answer = up("body_broken", dispatch=number)
        assert answer["states"] == ["ejected" if number == 3 else "healthy"]
    assert "error" in up("body_broken", dispatch=3)
    assert "error" in up.done(3, False)
    assert "error" in up("abandon", dispatch=3)


def test_a_body_is_not_late_by_its_own_headers_report():
    up = Up("a", health=FRAGILE, late_reports="ignore")
    up("pick")
    up.done(1, True)
    up("pick", 100)
    assert up.done(2, False, 100)["states"] == ["healthy"]
    answer = up("body_broken", 101, dispatch=2)
    assert answer["states"] == ["ejected"] and answer["late_reports_ignored"] == 0
    assert up("body_broken", 101, dispatch=1)["late_reports_ignored"] == 1


def test_reload_keeps_by_name_and_drops_what_left():
    up = Up("a b", health=FRAGILE)
    up.picks(2)
    up.done(1, True)
    answer = up.load("rebuild", 1, "c b a", health=FRAGILE)
    assert answer["states"] == ["healthy", "healthy", "ejected"]
    assert answer["inflight"] == [0, 1, 0]
    up.load("rebuild", 2, "c a", health=FRAGILE)
    answer = up.load("rebuild", 3, "c a b", health=FRAGILE)
    assert answer["inflight"] == [0, 0, 0]
    assert up.done(2, True, 4)["states"] == ["healthy", "ejected", "healthy"]
    assert up.load("rebuild", 5, "a")["states"] == [None]
    assert up.load("rebuild", 6, "a", health={})["states"] == ["healthy"]


def test_running_weights_are_kept_only_while_the_set_is_the_same():
    up = Up("a*2 b")
    assert up.picks(1) == "a"                          # running weights -1, 1
    up.load("rebuild", 0, "b a*2")
    assert up.picks(2) == "ba"                         # b 2, a 1; then b -1 + 1, a 1 + 2
    up.load("rebuild", 0, "a*2 b*2")
    assert up.picks(2) == "ab"


def test_slow_start_ramps_in_thousandths():
    up = Up("a", slow_start_ms=100)
    up.load("rebuild", 1000, "a b", slow_start_ms=100)
    assert up.picks(5, 1001) == "aaaaa"                # b adds 10 of 1,010 a pick
    assert up.picks(2, 1100) in ("ab", "ba")


def test_breaker_refuses_before_the_pick_and_trials_return():
    up = Up("a", breaker={"consecutive_failures": 1, "open_ms": 10})
    up("pick")
    assert up.done(1, True)["breaker"] == "open"
    answer = up("pick", 9)
    assert (answer["result"], answer["retry_after_ms"]) == (None, 1) and "dispatch" not in answer
    assert up("pick", 10)["breaker"] == "half_open"
    assert up("pick", 10)["retry_after_ms"] == 1000
    up("abandon", 10, dispatch=2)
    assert up("pick", 10)["dispatch"] == 3
    assert up.done(3, False, 10)["breaker"] == "closed"


def test_reports_of_a_dropped_breaker_reach_no_later_one():
    block = {"consecutive_failures": 1}
    up = Up("a", breaker=block)
    up("pick")
    assert up.load("rebuild", 0, "a")["breaker"] is None
    up.load("rebuild", 0, "a", breaker=block)
    assert up.done(1, True)["breaker"] == "closed"


def test_a_removed_endpoint_still_tells_the_breaker_that_admitted_it():
    block = {"consecutive_failures": 1}
    up = Up("a b", breaker=block, health=FRAGILE)
    up("pick")
    up.load("rebuild", 0, "b", breaker=block, health=FRAGILE)
    answer = up.done(1, True)
    assert (answer["breaker"], answer["states"]) == ("open", ["healthy"])


def test_what_is_refused_changes_nothing():
    up = Up("a b")
    assert "error" in up("pick", key=5)
    assert "error" in up.load("rebuild", 0, "a a")
    assert "error" in up.load("build", 0, "")
    assert "error" in up("body_broken", dispatch=1)
    assert up.picks(2) == "ab"
    fresh = Stepper("upstream")
    assert "error" in fresh.step('{"op":"rebuild","endpoints":[{"address":"a","port":1}]}')
    assert "error" in fresh.step('{"op":"pick"}')
