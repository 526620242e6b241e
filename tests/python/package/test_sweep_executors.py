"""Sweeps on executors: threads, processes, Dask and Ray, the real ones, started here. The bytes are always the same."""

import multiprocessing
import os
import random
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest
from sweeps import small_sweep

import halfopen
from halfopen import executors


@pytest.fixture(scope="module")
def expected():
    return small_sweep().run().table


def test_threads(expected, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        told = []
        result = small_sweep().run(executor=pool, batch=3, progress=lambda done, total: told.append((done, total)), store=tmp_path)
        assert result.table == expected
        assert told[-1] == (16, 16) and len(told) == 6
        assert small_sweep().run([2, 9, 11, 16], executor=pool).table["fingerprint"].tolist() == [
            expected["fingerprint"][n] for n in (1, 8, 10, 15)]  # fmt: skip
    assert small_sweep().run(store=tmp_path, executor=Broken()).table == expected  # there is nothing left to do


def test_processes(expected):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        result = small_sweep().run(executor=pool)
    assert result.table == expected
    assert result.frame.to_csv() == small_sweep().run().frame.to_csv()


class Shuffled(Executor):
    """Finishes its tasks in an order of its own."""

    def __init__(self, seed):
        self.random, self.waiting = random.Random(seed), []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.waiting.append((future, fn, args))
        if len(self.waiting) == 16:
            self.random.shuffle(self.waiting)
            for one, function, arguments in self.waiting:
                one.set_result(function(*arguments))
        return future


class Broken(Executor):
    """Does two tasks and fails from then on."""

    done = 2

    def submit(self, fn, /, *args, **kwargs):
        self.done -= 1
        future = Future()
        if self.done >= 0:
            future.set_result(fn(*args))
        else:
            future.set_exception(OSError("a worker has died"))
        return future


def test_any_order(expected):
    for seed in (1, 2):
        assert small_sweep().run(executor=Shuffled(seed), batch=1).table == expected


def test_what_was_done_before_a_failure_is_kept(expected):
    sweep, told = small_sweep(), []
    with pytest.raises(OSError, match="a worker has died"):
        sweep.run(executor=Broken(), batch=3)
    assert sweep.run(progress=lambda done, total: told.append(done)).table == expected
    assert sum(len(chunk["run"]) for chunk in sweep._done) == 16


def test_a_failure_of_the_callers_own_loses_nothing_either(expected):
    sweep, told = small_sweep(), []

    def enough(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sweep.run(executor=Shuffled(3), batch=1, progress=enough)  # all 16 are done before the first is told
    assert sweep.run(executor=Broken(), progress=lambda done, total: told.append(done)).table == expected
    assert told == []


def test_a_worker_of_another_version_says_so():
    plan = replace(small_sweep()._plan, version="9.9.9")
    with pytest.raises(RuntimeError, match=f"has halfopen {halfopen.__version__}, the sweep 9.9.9"):
        executors.run_task(executors.Task(plan, (1,)))


def test_tasks_carry_the_points_they_need():
    task = executors.Task(small_sweep()._plan, ()).of([6, 7, 13])
    assert len(task.plan.points) == 2
    assert executors.run_task(task)["run"].tolist() == [6, 7, 13]
    assert executors.batch_size(ThreadPoolExecutor(4), 1000) == 31
    assert executors.batch_size(ThreadPoolExecutor(4), 10) == 1
    assert executors.batch_size(ThreadPoolExecutor(1), 100_000) == 50


def test_dask(expected):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'halfopen[dask]'")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1") as cluster,
        distributed.Client(cluster) as client,
    ):
        result = small_sweep().run(executor=client.get_executor())
        assert result.table == expected
        pids = client.run(os.getpid)
        assert len(set(pids.values())) == 2 and os.getpid() not in pids.values()


def fail(word):
    raise LookupError(word)


def test_ray(expected):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'halfopen[ray]'")
    here = os.path.dirname(os.path.abspath(__file__))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False,
             _node_ip_address="127.0.0.1", object_store_memory=100_000_000,  # on loopback, and small
             runtime_env={"env_vars": {"PYTHONPATH": here}})  # fmt: skip
    try:
        with halfopen.ray_executor(num_cpus=1) as pool:
            assert small_sweep().run(executor=pool).table == expected
            assert pool.submit(os.getpid).result(60) != os.getpid()
            with pytest.raises(LookupError, match="no such thing"):
                pool.submit(fail, "no such thing").result(60)
            assert list(pool.map(abs, [-1, 2])) == [1, 2]
            slow = [pool.submit(__import__("time").sleep, 60) for _ in range(4)]
            pool.shutdown(wait=True, cancel_futures=True)
            assert all(future.cancelled() for future in slow)
            with pytest.raises(RuntimeError, match="was shut down"):
                pool.submit(abs, 1)
    finally:
        ray.shutdown()


def test_ray_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'halfopen\[ray\]'"):
        halfopen.ray_executor()
