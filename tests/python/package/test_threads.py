"""run() without the GIL, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import halfopen
import pytest


def test_python_goes_on_while_a_run_runs(storm):
    """A thread counts all the while: with the GIL held it could not."""
    scenario = storm.with_({"/duration_ms": 100_000})
    counted, done = [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(time.monotonic())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.monotonic()
    halfopen.run(scenario)
    end = time.monotonic()
    done.set()
    counter.join()
    within = [moment for moment in counted if begin < moment < end]
    assert end - begin > 0.1 and len(within) > 20, (end - begin, len(within))


def test_two_threads_are_in_the_simulation_at_once(storm):
    """Both begin before either ends, in C++: run from Python they could only take turns."""
    scenario = storm.with_({"/duration_ms": 60_000})
    alone = halfopen.run(scenario).to_json()
    times = []

    def timed(_):
        begin = time.monotonic()
        out = halfopen.run(scenario).to_json()
        times.append((begin, time.monotonic()))
        return out

    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(timed, range(2)))
    (a_begin, a_end), (b_begin, b_end) = times
    assert both == [alone, alone]
    assert min(a_end, b_end) - max(a_begin, b_begin) > 0.5 * min(a_end - a_begin, b_end - b_begin)


def test_ctrl_c_is_answered(storm, tmp_path):
    """In another process: there, the run would take many seconds. It ends within one, and Python goes on."""
    import pickle

    (tmp_path / "storm").write_bytes(pickle.dumps(storm))
    program = ("import pickle, sys, halfopen, time\n"
               f"storm = pickle.load(open({str(tmp_path / 'storm')!r}, 'rb'))\n"
               "print('on', flush=True)\n"
               "try: halfopen.run(storm)\n"
               "except KeyboardInterrupt: print('caught', flush=True)\n"
               "print(halfopen.run(storm.with_({'/duration_ms': 10})).summary['requests'] > 0, flush=True)\n")
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd="/")
    assert child.stdout.readline() == "on\n"
    time.sleep(0.5)
    begin = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    assert child.stdout.readline() == "caught\n"
    took = time.monotonic() - begin
    assert child.stdout.read() == "True\n" and child.wait() == 0
    assert took < 2, f"Ctrl-C took {took:.2f} s"


def test_a_signal_handler_s_exception_comes_through(storm):
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Alarm):
            halfopen.run(storm)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
