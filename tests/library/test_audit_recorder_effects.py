"""The recorder sees an exact number beside a result: in warnings, output, files, requests for randomness, errors."""

import logging
import math
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from dpml.audit import recorded_cost, recorded_releases
from dpml.exceptions import FactWarning, InvalidData
from dpml.mechanisms import Laplace, boundary
from dpml.mechanisms.private import Private

RNG = np.random.default_rng(0)


# ---- beside the result -----------------------------------------------------------------------------------------------


def warned(n):
    warnings.warn(f"{n} records", UserWarning, stacklevel=1)


def written(n):
    with open("count.txt", "w") as file:
        file.write(str(n))


def named(n):
    with open(f"{n}.txt", "w"):
        pass


def renamed(n):
    written(0)
    os.replace("count.txt", f"{n}.txt")


def logged(n):
    logging.getLogger("dpml.test").warning("%d records", n)


def category(n):
    warnings.warn("records", UserWarning if n == 1 else RuntimeWarning, stacklevel=1)


def started(n):
    subprocess.run([sys.executable, "-c", "", str(n)], check=True)


EFFECTS = {
    "warning": warned,
    "category of a warning": category,
    "second of two warnings": lambda n: [warned(0) for _ in range(n)],
    "output": lambda n: print(n),
    "errors": lambda n: print(n, file=sys.stderr),
    "lines": lambda n: sys.stdout.writelines([str(n)]),
    "log": logged,
    "file": written,
    "name of a file": named,
    "folder": lambda n: os.mkdir(str(n)),
    "new name of a file": renamed,
    "file of NumPy's": lambda n: np.save("count.npy", n),
    "process": started,
}


@pytest.mark.parametrize("kind", EFFECTS)
@pytest.mark.filterwarnings("ignore")
def test_a_number_that_is_told_beside_the_result_is_found(kind):
    def call(data):
        EFFECTS[kind](len(data))
        return Laplace(1.0).release(0.0, rng=RNG)

    assert recorded_cost(call, [1.0], [1.0, 2.0], pasts=1) == math.inf
    assert recorded_cost(call, [1.0], [2.0], pasts=1) == 0.0
    assert recorded_releases(call, [1.0], [1.0, 2.0])[-1].mechanism is None


def test_a_file_elsewhere_is_found(tmp_path):
    before = os.getcwd()

    def call(data):
        with open(tmp_path / "count", "w") as file:
            file.write(str(len(data)))

    assert recorded_cost(call, [1.0], [1.0, 2.0], pasts=1) == math.inf
    assert recorded_cost(call, [1.0], [2.0], pasts=1) == 0.0
    recorded_cost(written, 1, 1)
    assert os.getcwd() == before
    assert not os.path.exists("count.txt")


def test_a_thread_beside_the_main_one_keeps_the_working_folder():
    costs, folders = [], []

    def audit():
        costs.append(recorded_cost(lambda data: folders.append(os.getcwd()) or print(len(data)), [1], [1, 2], pasts=1))

    thread = threading.Thread(target=audit)
    thread.start()
    thread.join()
    assert costs == [math.inf]
    assert set(folders) == {os.getcwd()}


def test_what_a_call_tells_is_passed_on(capsys):
    def call(data):
        print("out")
        warnings.warn("once", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="once"):
        assert recorded_cost(call, [1.0], [2.0], pasts=1) == 0.0
    assert capsys.readouterr().out == "out\n" * 2
    with pytest.raises(UserWarning):
        recorded_cost(call, [1.0], [2.0], pasts=1)  # the tests turn warnings into errors


@pytest.mark.filterwarnings("ignore")
def test_a_warning_for_study_has_no_part_in_the_cost():
    def call(data):
        warnings.warn(f"{len(data)} records", FactWarning, stacklevel=1)

    assert recorded_cost(call, [1.0], [1.0, 2.0], pasts=1) == 0.0


# ---- public randomness -----------------------------------------------------------------------------------------------

ASKED = {
    "argument": lambda n: boundary.public_randomness(RNG, "integers", n),
    "draw": lambda n: boundary.public_randomness(RNG, "integers" if n == 1 else "permutation", 5),
    "number of draws": lambda n: [boundary.public_randomness(RNG, "random") for _ in range(n)],
    "size": lambda n: boundary.public_randomness(RNG, "random", size=3 * n),
    "second axis": lambda n: boundary.public_randomness(RNG, "random", size=(2, n)),
    "size or none": lambda n: boundary.public_randomness(RNG, "random", size=None if n == 1 else 1),
}


@pytest.mark.parametrize("what", ASKED)
def test_public_randomness_is_asked_for_alike(what):
    """What is drawn is no part of the result here: the request alone is the leak."""

    def call(data):
        ASKED[what](len(data))

    assert recorded_cost(call, [1.0], [1.0, 2.0]) == recorded_cost(call, [1.0, 2.0], [1.0]) == math.inf
    assert recorded_cost(call, [1.0], [2.0]) == 0.0


def test_public_randomness_is_asked_for_in_the_same_place():
    def call(data):
        for k in range(2):
            if len(data) == k + 1:
                boundary.public_randomness(RNG, "random")
            Laplace(1.0).release(0.0, rng=RNG)

    assert recorded_cost(call, [1.0], [1.0, 2.0]) == math.inf


@pytest.mark.parametrize("of_a_record", [1, 4, 5])
def test_a_record_asks_for_its_own_entries(of_a_record):
    def call(table):
        boundary.public_randomness(RNG, "random", size=of_a_record * len(table))

    assert recorded_cost(call, np.ones((3, 4)), np.ones((4, 4))) == (0.0 if of_a_record <= 4 else math.inf)


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_equal_refusals_are_equal_results_and_others_are_not():
    def refuses(words):
        def call(data):
            Laplace(0.5).release(sum(data), rng=RNG)
            raise InvalidData(words(data))

        return call

    assert recorded_cost(refuses(lambda data: "no"), [1.0], [2.0]) == 0.5
    assert recorded_cost(refuses(str), [1.0], [2.0]) == math.inf
    assert recorded_releases(refuses(str), [1.0], [2.0])[-1].statistic == ("InvalidData", "[1.0]")


def test_a_private_value_that_is_used_ends_an_audit_by_its_name():
    def call(data):
        return Private(len(data)) > 1

    with pytest.raises(TypeError, match="a private value cannot be used here"):
        recorded_cost(call, [1.0], [2.0])


def test_a_call_whose_first_run_imports_is_compared_once_more(monkeypatch):
    runs = []

    def call(data):
        runs.append(len(data))
        if len(runs) == 1:
            monkeypatch.setitem(sys.modules, "imported_by_the_test", math)
            print("imported")

    assert recorded_cost(call, [1.0], [2.0], pasts=1) == 0.0
    assert len(runs) == 4
