"""Several processes and threads that use one ledger at once."""

import itertools
import os
import signal
import subprocess
import sys
import threading

import pytest
from each_commit import others_in_full

import dpml.budget.file
from dpml.budget import Budget

# ---- several at once --------------------------------------------------------------------------------------------

CREATOR = """
import sys
from dpml.budget import Budget

print("ready", flush=True)
for path in sys.stdin:
    budget = Budget(1.0, path=path.strip())
    for _ in range(8):
        budget.spend(1 / 256)
    print("done", flush=True)
"""


def test_processes_that_begin_one_ledger_at_once_share_it(tmp_path):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, "-c", CREATOR], **pipes) for _ in range(4)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
    for attempt in range(3):
        path = tmp_path / f"ledger{attempt}.db"
        for process in processes:
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
        assert [process.stdout.readline() for process in processes] == ["done\n"] * 4
        budget = Budget(1.0, path=path)
        assert budget.spent == 32 / 256
        assert len(budget.ledger) == 32
    for process in processes:
        process.communicate()
    assert len(os.listdir(tmp_path)) == 3


KILLED = """
import os, signal, sys
import dpml.budget.file as file
from dpml.budget import Budget

stop = sys.argv[2]
true = getattr(file, stop)

def die(*arguments):
    if sys.argv[3] == "after":
        true(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(file, stop, die)
Budget(1.0, path=sys.argv[1])
"""


@pytest.mark.parametrize(
    ("stop", "when"),
    others_in_full(
        list(itertools.product(("_head", "_give_name", "_sync_folder"), ("before", "after"))),
        *(("_head", "before"), ("_give_name", "after"), ("_sync_folder", "before")),
    ),
)
def test_a_process_killed_while_it_begins_blocks_nobody(tmp_path, stop, when):
    path = tmp_path / "ledger.db"
    command = [sys.executable, "-c", KILLED, str(path), stop, when]
    assert subprocess.run(command, check=False).returncode == -9
    assert not path.exists() or path.stat().st_size > 0
    budget = Budget(1.0, path=path)
    budget.spend(0.5)
    assert Budget(1.0, path=path).spent == 0.5


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forks_in_the_midst_of_charges_share_the_file(tmp_path):
    budget = Budget(1.0, path=tmp_path / "ledger.db")
    stop = threading.Event()
    counted = []

    def work():
        count = 0
        while not stop.is_set() and count < 200:
            budget.spend(1 / 1024)
            count += 1
        counted.append(count)

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(20):
        child = os.fork()
        if child == 0:
            try:
                budget.spend(1 / 1024)
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stop.set()
    thread.join()
    assert budget.spent == (sum(counted) + 20) / 1024 == Budget(1.0, path=tmp_path / "ledger.db").spent


def test_a_process_that_comes_second_keeps_the_first_ones_charges(tmp_path, monkeypatch):
    path = tmp_path / "ledger.db"
    give_name = dpml.budget.file._give_name

    def be_second(draft, name):
        monkeypatch.setattr(dpml.budget.file, "_give_name", give_name)
        Budget(1.0, path=path).spend(0.25)
        give_name(draft, name)

    monkeypatch.setattr(dpml.budget.file, "_give_name", be_second)
    assert Budget(1.0, path=path).spent == 0.25
    assert os.listdir(tmp_path) == ["ledger.db"]


def test_a_ledger_that_grows_while_it_is_opened_is_whole(tmp_path, monkeypatch):
    """Another writer adds pages at the moment at which the file is measured; it must wait for the lock."""
    path = tmp_path / "ledger.db"
    other, real, writers = Budget(1.0, path=path), dpml.budget.file._stamp, []
    costs = {f"{i}: {'x' * 500}": 1 / 1024 for i in range(64)}

    def measured(name):
        stamp = real(name)
        if not writers:
            writers.append(threading.Thread(target=other.spend_all, args=(costs,)))
            writers[0].start()
            writers[0].join(1.0)
        return stamp

    monkeypatch.setattr(dpml.budget.file, "_stamp", measured)
    opened = Budget(1.0, path=path)
    writers[0].join()
    assert opened.spent == other.spent == 64 / 1024


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_within_a_charge_waits_until_it_is_counted(monkeypatch, number):
    budget, counts = Budget(1.0), []
    record = budget._ledger.record

    def interrupted(*arguments):
        signal.raise_signal(number)
        record(*arguments)

    monkeypatch.setattr(budget._ledger, "record", interrupted)
    before = signal.signal(number, lambda *_: counts.append(budget.charges_made))
    try:
        budget.spend(0.5)
    finally:
        signal.signal(number, before)
    assert counts == [1]
    assert budget.spent == 0.5
