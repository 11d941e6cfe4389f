"""Each mutant in a process of its own, which is forked after the tests are collected and so costs no start.

First every file of tests runs once on the library as it is, and notes what each test takes and which functions it
calls. A mutant then runs the tests that call its function, the likeliest and quickest first. It is killed where one of
them fails by an assertion, by an error of the library's own, such as that of an exact value that is used as if it were
public, or by an error about a value. What tests show by other exceptions alone may be a mutant that does not run, and
counts as a failure of the script; so does a mutant that survives, or takes too long. At the end the tests that killed
must pass on the library as it is.
"""

import functools
import gc
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.main import pytest_runtestloop
from hypothesis import Phase, settings

from dpml.exceptions import DpmlError
from dpml.mechanisms.private import REFUSED
from mutants.mutant import ROOT, Mutant, calls_noted

SECONDS = 60  # of the processor, so that a busy machine changes no verdict; and ten times as long by the clock
# fewer neighbours than the tests make by themselves: a mutant is not far from any of them
NEIGHBOURS = "40"
OPTIONS = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=short"]
# the project's own options are for all tests on all cores; plugins are there before pytest begins
OPTIONS += ["-o", "addopts=--import-mode=importlib", "-m", "not long and not full and not browser"]
OPTIONS += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
# tests of what is no method, such as names, text and files; of odd input, which only repeat what other tests show; and
# public_input_budget, whose own processes wait for ever in a fork
OTHERS = (
    *("audit_search", "audit_typed", "command", "datasets", "docs", "import", "kept_folds", "registry"),
    *("mutants", "neighbours_run", "notebooks", "project", "public_input_budget", "public_input_fuzz"),
    *("public_input_names", "public_input_odd", "public_names", "references", "release_fuzz"),
    *("studies", "sweep", "tables", "vocabulary"),
)
# a fault may let a value through that no later step takes
NOTICED = (AssertionError, DpmlError, pytest.fail.Exception, ValueError, LookupError, ArithmeticError, Warning)

UNCHANGED = "the library as it is"
Task = tuple[str, Callable[[], Any], int]  # a name, what a fork returns as JSON, and its seconds
Tell = Callable[[str, Any, float, str], None]  # is told the name, the value, the seconds and the output


def _fair(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):  # several examples of hypothesis
        return all(_fair(inner) for inner in error.exceptions)
    if isinstance(error, (TypeError, AttributeError)) and any(text in str(error) for text in (REFUSED, "'Private'")):
        return True  # a mutant that uses an exact value where a noisy one was meant does not get past the type
    return isinstance(error, NOTICED)


def forked(tasks: Iterable[Task], jobs: int) -> Iterator[tuple[str, Any, float, str]]:
    """Run tasks in forks, several at a time; give name, value (or how it ended), the processor's seconds and output."""
    waiting, running = iter(tasks), dict[int, tuple[str, Path]]()
    while True:
        for name, task, seconds in waiting:
            folder = Path(tempfile.mkdtemp())
            sys.stdout.flush()
            child = os.fork()
            if not child:
                _work(task, seconds, folder)
            running[child] = (name, folder)
            if len(running) >= jobs:
                break
        if not running:
            return
        child, status, used = os.wait3(0)
        name, folder = running.pop(child)
        slow = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM)
        value: Any = ["too slow" if slow else "the process ended early", ""]
        if (folder / "result").exists():
            value = json.loads((folder / "result").read_text())
        yield name, value, used.ru_utime + used.ru_stime, (folder / "output").read_text()
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _work(task: Callable[[], Any], seconds: int, folder: Path) -> None:
    try:
        for stream in (1, 2):
            os.dup2(os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(10 * seconds)
        value = json.dumps(task())
        sys.stdout.flush()
        (folder / "result").write_text(value)
    finally:
        os._exit(0)  # nothing of the parent's is flushed or ended twice


class Runner:
    """A plugin of pytest: collects the tests, and runs each mutant in a fork of the process.

    Each result is a line of the file `record`; what is there already is not run again. `every` are all mutants of which
    the tests that call them are to be known.
    """

    def __init__(self, every: list[Mutant], chosen: list[Mutant], paths: list[str], record: Path, tell: Tell) -> None:
        self.every, self.mutants, self.paths, self.record, self.tell = every, chosen, paths, record, tell
        self.jobs, self.seconds = 1, SECONDS
        self.noting, self.called, self.shared = False, set[str](), set[str]()
        self.failures: list[tuple[str, str]] = []
        self.files: set[str] = set()
        self.tests: dict[str, Any] = {}  # by name: its seconds, the functions that it calls, why it fails
        self.verdicts: dict[str, list[str]] = {}  # of each mutant, with the test that showed it
        for line in record.read_text().splitlines() if record.exists() else []:
            self._take(*json.loads(line))

    def run(self) -> int:
        """Run all mutants; return the status of pytest, 0 if the tests could be collected."""
        os.chdir(ROOT)
        os.environ.update(DPML_NEIGHBOURS=NEIGHBOURS, CI="true", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        os.environ.pop("DPML_DATA", None)  # real data are slow, and not everywhere
        return int(pytest.main([*OPTIONS, *self.paths], plugins=[self]))

    def pytest_sessionstart(self) -> None:
        """Choose how hypothesis searches, after the tests' own choice: the first example that fails is enough."""
        phases = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
        settings.register_profile("mutants", deadline=None, derandomize=True, database=None, phases=phases)
        settings.load_profile("mutants")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """Note which test failed, and by what."""
        result: Any = yield
        if result.get_result().failed:
            fair = call.when == "call" and _fair(call.excinfo.value)
            self.failures.append((item.nodeid, "" if fair else call.excinfo.exconly()))
            if fair and not self.noting:
                item.session.shouldfail = "killed"

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Note the functions that a test calls, those too whose values a cache holds since an earlier test."""
        if self.noting:
            for cache in self.caches:
                cache.cache_clear()
            self.called.clear()
        begun = time.process_time()
        yield
        failure = next((reason or "an assertion" for test, reason in self.failures if test == item.nodeid), "")
        seconds, calls = time.process_time() - begun, sorted(self.called | self.shared)
        self.tests[item.nodeid] = {"seconds": round(seconds, 3), "calls": calls, "failure": failure}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Any:
        """Note the functions of a fixture that several tests share as called by all that follow."""
        before = set(self.called)
        self.called.clear()
        yield
        if fixturedef.scope != "function":
            self.shared |= self.called
        self.called |= before

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run the files of tests, each mutant, and at last the tests that killed without any."""
        files: dict[str, dict[str, Any]] = {}
        for item in session.items:
            files.setdefault(item.nodeid.partition("::")[0], {})[item.nodeid] = item
        items = {item.nodeid: item for item in session.items}
        gc.freeze()  # a fork neither looks through nor copies what is there
        waiting = [name for name in files if name not in self.files]
        if waiting:
            with calls_noted(self.every, self.called.add):
                self._run((name, partial(self._noted, session, files[name]), 30 * self.seconds) for name in waiting)
        rest = (m for m in self.mutants if m.name not in self.verdicts)
        self._run((m.name, partial(self._ended, session, items, m), self.seconds) for m in rest)
        killers = {test for verdict, test in self.verdicts.values() if verdict == "killed"}
        self._run([(UNCHANGED, partial(self._ended, session, {k: items[k] for k in killers}, None), 30 * self.seconds)])
        return True

    def _run(self, tasks: Iterable[Task]) -> None:
        for name, value, seconds, output in forked(tasks, self.jobs):
            self._take(name, value)
            with self.record.open("a") as file:
                file.write(json.dumps([name, value]) + "\n")
            self.tell(name, value, seconds, output)

    def _take(self, name: str, value: Any) -> None:
        if isinstance(value, dict):
            self.files.add(name)
            self.tests |= value
        else:
            self.verdicts[name] = value

    def _noted(self, session: Any, items: dict[str, Any]) -> dict[str, Any]:
        self.tests, self.noting = {}, True
        self.caches = [x for x in gc.get_objects() if isinstance(x, functools._lru_cache_wrapper)]
        _run_tests(session, list(items.values()))
        return self.tests

    def _ended(self, session: Any, items: dict[str, Any], mutant: Mutant | None) -> list[str]:
        chosen = list(items.values())
        if mutant is not None:
            chosen = [items[test] for test in self.order(mutant) if test in items]
            mutant.apply()
        _run_tests(session, chosen)
        if not self.failures:
            return ["survived" if chosen else "no test calls it", ""]
        test, unfair = min(self.failures, key=lambda failure: failure[1] != "")
        return [f"a test failed by another exception: {unfair}" if unfair else "killed", test]

    def failed(self) -> list[str]:
        """Return what did not end as it should: tests of the library as it is, and mutants that are not killed."""
        tests = [name for name, test in self.tests.items() if test["failure"]]
        tests += [name for name in self.verdicts if name.endswith(".py") and name not in self.files]  # did not end
        verdicts = {m.name: "killed" for m in self.mutants} | {UNCHANGED: "survived"}
        return tests + [n for n, wanted in verdicts.items() if self.verdicts.get(n, [""])[0] != wanted]

    def order(self, mutant: Mutant) -> list[str]:
        """Return the tests that call a mutant's function, first those that killed others of its module.

        Then come the quickest, where each word that a test has in common with the mutant's name halves its time.
        """
        killers = {test for name, (_, test) in self.verdicts.items() if f": {mutant.module}." in name}
        tests = {t: v for t, v in self.tests.items() if mutant.qualified in v["calls"] and not v["failure"]}
        words = _words(mutant.name)
        likely = {t: (v["seconds"] + 0.02) / 2 ** len(words & _words(t)) for t, v in tests.items()}
        return sorted(tests, key=lambda t: (t not in killers, likely[t]))


@functools.cache
def _words(text: str) -> set[str]:
    """Return the words of a name, so short that those of one stem are alike."""
    return {word[:4] for word in re.findall("[a-z]{3,}", text.lower())}


def _run_tests(session: Any, items: list[Any]) -> None:
    session.items, session.config.option.maxfail = items, 0
    with suppress(session.Failed):
        pytest_runtestloop(session)
