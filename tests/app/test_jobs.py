"""Results that are kept, workers that sessions share in turn, and the requests of a page."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import worker_calls
from dpml_app import jobs
from dpml_app.drawing.progress import Progress
from dpml_app.jobs import CANCELLED, TRIES, Cache, Pool, Task, TaskRunner, WorkerEnded, awaitable, kept
from dpml_app.pages.explore.compute import custom_accuracy
from page_alone import pool_here

# for events, not for speed: a busy machine may need minutes
LONG = 120


def square(x):
    return np.array([x * x])


def fail(x):
    raise ValueError(f"no {x}")


def until(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@pytest.fixture
def make_pool():
    """Return a function that makes a pool; at the end it is stopped."""
    pools = []

    def make(workers=1, **options):
        pools.append(Pool(workers, **options))
        return pools[-1]

    yield make
    for pool in pools:
        pool.stop()


class Held:
    """A pool of threads that are busy until `go` is called, and what they compute afterwards."""

    def __init__(self, pool):
        self.pool, self.may, self.calls, begun = pool, threading.Event(), [], []
        for i in range(pool.workers):
            pool.call(lambda: (begun.append(0), self.may.wait(LONG)), owner=("first", i))
        until(lambda: len(begun) == pool.workers)

    def compute(self, x):
        self.calls.append(x)
        if isinstance(x, str):
            raise ValueError(x)
        return np.array([x * x])

    def ask(self, x, owner=None):
        return self.pool.submit(Task(self.compute, (x,)), owner=owner)

    def go(self, *futures):
        self.may.set()
        return [int(future.result(LONG)[0]) for future in futures]


@pytest.fixture
def held(make_pool):
    held = Held(make_pool(processes=False))
    yield held
    held.may.set()


# ---- results ---------------------------------------------------------------------------------------------------------


def test_cache_keeps_recent_results_with_read_only_arrays():
    cache, (a, b, c) = Cache(2), (Task(square, (x,)) for x in range(3))
    array = cache.put(a, np.zeros(2))
    cache.put(b, {"x": np.zeros(1)})
    assert not array.flags.writeable
    assert not cache.get(b)["x"].flags.writeable
    cache.get(a)
    cache.put(c, 1)
    assert cache.get(b) is None
    assert cache.get(a) is array
    assert cache.known({"first": a, "second": b, "third": c}) == {"first": array, "third": 1}


def test_kept_result_is_that_of_an_equal_task(held):
    [first] = [held.ask(3)]
    held.go(first)
    assert held.pool.cache.get(Task(held.compute, (3,))) is first.result()
    assert held.ask(3).result() is first.result()
    assert held.calls == [3]


def test_kept_function_computes_once_per_arguments():
    calls = []

    @kept(2)
    def double(x, *, more=0):
        calls.append(x)
        return np.array([2 * x + more])

    assert double(1) is double(1)
    assert double(1, more=1)[0] == 3
    assert calls == [1, 1]


# ---- turns -----------------------------------------------------------------------------------------------------------


def test_task_asked_for_twice_is_computed_once(held):
    first, second = held.ask(4, "a"), held.ask(4, "b")
    assert held.go(first, second) == [16, 16]
    assert first.result() is second.result() is held.ask(4).result(LONG)
    assert held.calls == [4]


def test_flood_delays_others_by_one_part(held):
    flood = [held.ask(x, "flood") for x in range(100, 200)]
    others = [held.ask(x, f"session {x}") for x in range(1, 26)]
    held.go(*flood, *others)
    assert held.calls[:27] == [100, *range(1, 26), 101]


def test_newcomer_precedes_next_part_of_flood(make_pool):
    pool, calls, begun, may = make_pool(processes=False), [], threading.Event(), threading.Event()

    def compute(x):
        begun.set()
        calls.append(x)
        return may.wait(LONG)

    flood = [pool.submit(Task(compute, (x,)), owner="flood") for x in range(3)]
    assert begun.wait(LONG)
    newcomer = pool.submit(Task(compute, (9,)), owner="newcomer")
    may.set()
    assert all(future.result(LONG) for future in (*flood, newcomer))
    assert calls == [0, 9, 1, 2]


def test_task_that_waits_in_flood_takes_turn_of_second_session(held):
    flood = [held.ask(x, "flood") for x in range(100, 150)]
    also = held.ask(149, "other")
    held.go(*flood, also)
    assert held.calls[:3] == [100, 149, 101]


@pytest.mark.parametrize("each", [1, 2])
def test_one_session_has_so_many_parts_at_work(make_pool, each):
    pool, at_work, most, may = make_pool(2, each=each, processes=False), [], [], threading.Event()

    def compute():
        at_work.append(0)
        most.append(len(at_work))
        may.wait(0.2)
        at_work.pop()

    for future in [pool.call(compute, owner="a") for _ in range(4)]:
        future.result(LONG)
    assert max(most) == each


def test_task_without_waiting_caller_is_not_computed(held):
    one, two, also_two, three = held.ask(1, "a"), held.ask(2, "a"), held.ask(2, "b"), held.ask(3, "a")
    assert one.cancel()
    assert two.cancel()
    assert held.go(also_two, three) == [4, 9]
    assert sorted(held.calls) == [2, 3]
    assert held.go(held.ask(1)) == [1]


def test_cancelled_tasks_are_forgotten_before_their_turn(held):
    class Setting:
        pass

    setting = Setting()
    gone, future = weakref.ref(setting), held.ask(setting, "a")
    del setting
    future.cancel()
    after = held.ask(2, "a")
    assert gone() is None
    assert held.go(after) == [4]


def test_task_computed_by_another_pool_is_kept_and_shared(held, make_pool):
    server, calls, begun, may = make_pool(processes=False), [], threading.Event(), threading.Event()

    def compute(x):
        begun.set()
        assert may.wait(LONG)
        calls.append(x)
        return np.array([x])

    task = Task(compute, (3,))
    first = held.pool.submit(task, by=server)
    assert begun.wait(LONG)
    second = held.pool.submit(task)
    may.set()
    assert first.result(LONG) is second.result(LONG) is held.pool.cache.get(task)
    waiting = Task(held.compute, (4,))
    both = [held.pool.submit(waiting, owner="a"), held.pool.submit(waiting, owner="a", by=server)]
    assert both[0].result(LONG) is both[1].result(LONG)
    assert server.cache.get(task) is server.cache.get(waiting) is None
    held.go()
    assert held.ask(5).result(LONG) == [25]
    assert calls + held.calls == [3, 4, 5]


def test_failed_task_raises_and_is_computed_again(held):
    first, second = held.ask("no"), held.ask("no")
    held.go()
    for get in (first.result, second.result, lambda _seconds: held.ask("no").result(LONG)):
        with pytest.raises(ValueError, match="no"):
            get(LONG)
    assert held.calls == ["no", "no"]


def test_calls_are_all_made_and_cannot_be_cancelled_once_begun(make_pool):
    pool, begun, may = make_pool(processes=False), threading.Event(), threading.Event()
    numbers = [1, 2, 3]
    assert [pool.call(numbers.pop).result(LONG) for _ in range(2)] == [3, 2]
    running = pool.call(lambda: (begun.set(), may.wait(LONG)))
    waiting = pool.call(numbers.pop)
    assert begun.wait(LONG)
    assert not running.cancel()
    assert waiting.cancel()
    may.set()
    assert running.result(LONG) == (None, True)
    assert numbers == [1]


def test_idle_pool_keeps_no_session(make_pool):
    class Session:
        pass

    pool, session = make_pool(processes=False), Session()
    gone = weakref.ref(session)
    pool.submit(Task(square, (1,)), owner=session).result(LONG)
    del session
    until(lambda: gone() is None)


def test_stop_drops_waiting_tasks(held):
    waiting = held.ask(5)
    held.pool.stop()
    assert waiting.cancelled()
    assert held.ask(6).cancelled()


ENDLESS = """
import os, threading, time
import worker_calls
from dpml_app import jobs
if __name__ == "__main__":
    jobs.WARM = ()
    threads, begun = jobs.Pool(1, processes=False), threading.Event()
    threads.call(lambda: (begun.set(), time.sleep(3600)))
    waiting = threads.call(print, "it was not dropped")
    processes = jobs.Pool(1)
    processes.submit(jobs.Task(os.getpid, ())).result()
    processes.submit(jobs.Task(time.sleep, (3600,)))
    begun.wait()
    print("the end")
"""


def test_interpreter_ends_while_workers_compute(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS, encoding="utf-8")
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=LONG, check=False,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "the end\n", "")


# ---- worker processes ------------------------------------------------------------------------------------------------


@pytest.fixture
def cold(make_pool, monkeypatch):
    """Return a function that makes a pool whose worker processes import only what they are asked for."""
    monkeypatch.setattr(jobs, "WARM", ())
    return make_pool


def test_worker_processes_compute_and_end(make_pool):
    pool = make_pool()
    arguments = ("toy", "add-remove", 1.0, "naive-bayes", "count", (5, 0.5, 65), 10, 0)
    value = pool.submit(Task(custom_accuracy, arguments)).result(LONG)
    assert value == pytest.approx(custom_accuracy(*arguments), abs=0)
    assert not value.flags.writeable
    pid = pool.submit(Task(os.getpid, ())).result(LONG)
    modules = pool.submit(Task(worker_calls.loaded, ("dpml_app.shell", "panel", "panel_material_ui"))).result(LONG)
    assert modules == (False, False, False)
    pool.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_error_of_worker_process_has_its_traceback(cold, monkeypatch):
    nowhere = ModuleType("nowhere")
    monkeypatch.setitem(sys.modules, "nowhere", nowhere)
    exec("def double(x): return 2 * x", vars(nowhere))
    pool = cold()
    pid = pool.submit(Task(os.getpid, ())).result(LONG)
    with pytest.raises(FileNotFoundError, match="nowhere") as found:
        pool.submit(Task(worker_calls.stat, ("/nowhere",))).result(LONG)
    assert "in stat" in str(found.value.__cause__)
    with pytest.raises(Exception, match="pickle"):
        pool.submit(Task(worker_calls.unsendable, ())).result(LONG)
    with pytest.raises(RuntimeError, match="Unreceivable: it came"):
        pool.submit(Task(worker_calls.raise_unreceivable, ())).result(LONG)
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        pool.submit(Task(nowhere.double, (1,))).result(LONG)
    assert pool.submit(Task(worker_calls.pid, ())).result(LONG) == pid


def test_killed_worker_is_replaced_and_its_task_repeated(cold, tmp_path):
    pool, path = cold(), tmp_path / "calls"
    pid = pool.submit(Task(os.getpid, ())).result(LONG)
    futures = [pool.submit(Task(worker_calls.linger_once, (path,))) for _ in range(2)]
    after = pool.submit(Task(abs, (-3,)))
    until(path.exists)
    os.kill(pid, signal.SIGKILL)
    assert [future.result(LONG) for future in (*futures, after)] == [2, 2, 3]
    idle = pool.submit(Task(worker_calls.pid, ())).result(LONG)
    assert idle != pid
    os.kill(idle, signal.SIGKILL)
    assert pool.submit(Task(abs, (-4,))).result(LONG) == 4


def test_task_that_always_ends_its_worker_is_reported(cold, tmp_path):
    pool, path = cold(2), tmp_path / "calls"
    bad = pool.submit(Task(worker_calls.end_always, (path,)), owner="a")
    once = [pool.submit(Task(worker_calls.end_once, (tmp_path / f"once {i}", i)), owner="b") for i in range(1, 3)]
    with pytest.raises(WorkerEnded, match=f"each of the {TRIES} times that it computed end_always of"):
        bad.result(LONG)
    assert [future.result(LONG) for future in once] == [1, 2]
    assert path.stat().st_size == TRIES


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
def test_worker_process_is_nice_and_ignores_ctrl_c(cold):
    pool = cold()
    pid = pool.submit(Task(os.getpid, ())).result(LONG)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + jobs.NICE)
    os.kill(pid, signal.SIGINT)
    assert pool.submit(Task(worker_calls.pid, ())).result(LONG) == pid


def test_worker_processes_end_with_a_killed_server(tmp_path):
    script = tmp_path / "server.py"
    script.write_text(
        "import os, time\nfrom dpml_app import jobs\n"
        "if __name__ == '__main__':\n    jobs.WARM = ()\n    pool = jobs.Pool(1)\n"
        "    print(pool.submit(jobs.Task(os.getpid, ())).result(), flush=True)\n    time.sleep(3600)\n",
        encoding="utf-8",
    )
    server = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    with server:
        stat = Path("/proc") / server.stdout.readline().strip() / "stat"
        assert stat.exists()
        server.kill()
    until(lambda: not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z")


# ---- requests of a page ----------------------------------------------------------------------------------------------


def square_slowly(x):
    time.sleep(0.05)
    return x * x


FOUR, SLOW = ([Task(function, (x,)) for x in range(1, 5)] for function in (square, square_slowly))


@pytest.fixture
def pool():
    pool = pool_here()
    yield pool
    pool.stop()


class Told:
    """What a runner tells its page."""

    def __init__(self):
        self.shown, self.failures, self.tasks, self.runner = [], [], [], None
        self.progress = Progress("test-runner", lambda: self.runner.press())

    def spawn(self, work):
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    def show(self, results):
        self.shown.append([task.arguments[0] for task in results])

    def fail(self, what, error):
        self.failures.append((what, str(error)))

    @property
    def each(self):
        return [x for some in self.shown for x in some]


async def wait_until(true):
    for _ in range(4000):
        if true():
            return
        await asyncio.sleep(0.005)
    raise TimeoutError


def drive(pool, script):
    """Run a script with a runner and what it tells."""

    async def main():
        told = Told()
        runner = TaskRunner(pool, told, "squares", told.spawn, nullcontext, told.show, told.fail, told.progress.tell)
        told.runner = runner
        await asyncio.wait_for(script(runner, told), LONG)
        runner.stop()

    asyncio.run(main())


def test_cancelled_run_resumes_from_where_it_was(pool, monkeypatch):
    monkeypatch.setattr(jobs, "FLUSH_EVERY", 0.01)  # each result is shown alone

    async def script(runner, told):
        runner.request(SLOW)
        await wait_until(lambda: len(told.shown) == 2)
        runner.press()
        assert not runner.running
        assert (told.progress.button.label, told.progress.status.object) == ("Resume", CANCELLED)
        runner.request(SLOW)  # the same request starts nothing
        await asyncio.sleep(0.2)
        assert told.shown == [[1], [2]]
        runner.press()
        await wait_until(lambda: not runner.running)
        assert told.each == [1, 2, 1, 2, 3, 4]

    drive(pool, script)


def test_cancelled_page_stays_so_until_another_setting(pool, monkeypatch):
    monkeypatch.setattr(jobs, "FLUSH_EVERY", 0.01)

    async def script(runner, told):
        runner.request(SLOW[:3])
        await wait_until(lambda: len(told.shown) == 1)
        runner.press()
        runner.request(SLOW[1:])  # a card was made meanwhile
        await asyncio.sleep(0.2)
        assert told.shown == [[1]]
        assert (told.progress.button.label, told.progress.status.object) == ("Resume", CANCELLED)
        assert [told.progress.state.data[name][0] for name in ("running", "done", "total")] == [False, 0, 3]
        runner.press()
        await wait_until(lambda: not runner.running)
        assert told.each == [1, 2, 3, 4]
        runner.request(SLOW[:2])
        runner.press()
        runner.stop()  # another setting
        runner.request(SLOW)
        await wait_until(lambda: runner.running)

    drive(pool, script)


def test_cancel_at_the_end_of_a_run_holds_the_next_request(pool):
    async def script(runner, told):
        runner.request(FOUR[:1])
        await wait_until(lambda: told.shown == [[1]] and not runner.running)
        runner.press()
        runner.request(FOUR[1:])
        await asyncio.sleep(0.2)
        assert told.shown == [[1]]
        assert told.progress.button.label == "Resume"
        runner.press()
        await wait_until(lambda: not runner.running)
        assert told.each == [1, 2, 3, 4]

    drive(pool, script)


def test_later_request_cancels_the_earlier_one(held):
    async def script(runner, told):
        early, late = ([Task(held.compute, (x,)) for x in some] for some in (range(50), range(100, 103)))
        runner.request(early)
        await asyncio.sleep(0)  # its first tasks wait
        runner.request(late)
        held.may.set()
        await wait_until(lambda: not runner.running)
        assert sorted(told.each) == [100, 101, 102]
        assert told.progress.state.data == {"running": [False], "done": [3], "total": [3]}

    drive(held.pool, script)
    assert set(held.calls) - {100, 101, 102} <= {0, 1}


def test_long_request_delays_another_page_by_one_task(held):
    async def script(runner, told):
        runner.request([Task(held.compute, (x,)) for x in range(300)])
        other = asyncio.wrap_future(held.ask(1000, "other"))
        held.may.set()
        await other
        assert held.calls.index(1000) <= 1
        await wait_until(lambda: not runner.running)
        assert sorted(told.each) == list(range(300))
        assert told.failures == []

    drive(held.pool, script)


def test_failed_request_is_told_and_tried_again(pool):
    async def script(runner, told):
        for times in (1, 2):
            runner.request([Task(fail, (3,)), *FOUR])
            await wait_until(lambda times=times: len(told.failures) == times)
            assert not runner.running
            assert told.progress.status.object == "Stopped by an error"
        assert told.failures == [("Squares", "no 3")] * 2

    drive(pool, script)


def test_error_that_nobody_waits_for_is_not_logged(caplog):
    async def leave():
        future = Future()
        coming = awaitable(future)
        future.set_exception(ValueError("no"))
        await asyncio.wait([coming])
        await asyncio.sleep(0)

    asyncio.run(leave())
    gc.collect()
    assert caplog.records == []
