"""``python -m dpml``."""

import io
import os
import re
import subprocess
import sys

import pytest
from each_commit import others_in_full

import dpml
from dpml.__main__ import main
from dpml.audit.cases import AUDITED, AuditedClaim
from dpml.mechanisms.private import Private


def test_the_catalogue_prints_every_method(capsys):
    assert main(["catalogue"]) == 0
    text = capsys.readouterr().out
    for name, entry in AUDITED.items():
        assert name in text
        assert entry.cost in text
    assert text.count("NOT private") == sum(not entry.private for entry in AUDITED.values())


def test_audits_say_what_they_found(capsys):
    assert main(["audit", "laplace", "noisy-cut"]) == 0
    text = capsys.readouterr().out
    assert "laplace, add-remove: a claim of ε = 1 holds. ε is 1 exactly" in text
    assert "noisy-cut, add-remove: a claim of ε = 1 does not hold" in text


def test_an_audit_that_contradicts_the_catalogue_fails(capsys, monkeypatch):
    from dataclasses import replace

    wrong = replace(AUDITED["private-threshold-testing"], private=True, true_epsilon=float)
    assert isinstance(wrong, AuditedClaim)
    monkeypatch.setitem(AUDITED, wrong.name, wrong)
    assert main(["audit", wrong.name]) == 1
    assert "not what the catalogue says" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["catalog"], "did you mean 'catalogue'."),
        (
            ["audit", "laplase"],
            "`name` must be a name that `dpml catalogue` prints",
        ),
        (["audit", "laplace", "laplase"], "did you mean 'laplace'"),
        (["audit", "laplace", "--sampeld"], "did you mean '--sampled'"),
        (["audit", "--search", "noisy-max-9"], "did you mean 'noisy-max-"),
        (["audit", "laplace", "--epsilon", "0"], "`epsilon` must be .*Got 0.0"),
        (["audit", "laplace", "--epsilon", "much"], "invalid float value: 'much'"),
        (["audit", "laplace", "--seed", "-1"], "`seed` must be .*Got -1"),
        (["audit", "--search", "noisy-max-1", "--seconds", "0"], "`seconds` must be .*Got 0.0"),
        (
            ["audit", "mixed-nb-vaidya-replace-one", "--relation", "add-remove"],
            "`relation` must be .*Got 'add-remove'",
        ),
        (["audit", "--search", "no_such_module:function"], "`name` must be .*Got 'no_such_module:function'"),
        (["audit", "--search", "math:sqr"], "did you mean 'sqrt'"),
        (["audit", "--search"], "python -m benchmarks.audit_search"),
        ([], "the following arguments are required: command"),
    ],
)
def test_wrong_calls_exit_with_status_two(arguments, message, capsys):
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert re.search(message, output.err)
    assert "Traceback" not in output.err
    assert output.out == ""  # names are looked up before the first audit


def test_version_and_help(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"dpml {dpml.__version__}"
    assert main(["audit", "--help"]) == 0
    assert "--search" in capsys.readouterr().out


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (ZeroDivisionError, 4)])
def test_an_interrupted_audit_has_its_own_exit_code(error, code, capsys, monkeypatch):
    def broken(*arguments, **options):
        raise error

    monkeypatch.setattr(AuditedClaim, "audit", broken)
    assert main(["audit", "laplace"]) == code
    assert ("Traceback" in capsys.readouterr().err) == (code == 4)


def test_an_audit_that_fails_has_a_name_and_the_others_go_on(capsys, monkeypatch):
    exact = AuditedClaim.audit

    def broken(entry, *arguments, **options):
        return Private(1) > 0 if entry.name == "laplace" else exact(entry, *arguments, **options)

    monkeypatch.setattr(AuditedClaim, "audit", broken)
    assert main(["audit", "laplace", "geometric", "--relation", "add-remove"]) == 4
    text = capsys.readouterr().out
    assert "laplace, add-remove: the audit failed: TypeError: a private value" in text
    assert "geometric, add-remove: a claim" in text


# ---- search -----------------------------------------------------------------------------------------------------


def test_a_search_of_the_catalogue_tries_its_cases(capsys):
    call = ["audit", "--search", "laplace", "noisy-cut", "--relation", "add-remove", "--seconds", "0.3"]
    assert main(call) == 0
    text = capsys.readouterr().out
    assert "laplace, add-remove: a claim of ε = 1 was not refuted" in text
    assert "noisy-cut, add-remove: a claim of ε = 1" in text


def test_a_callable_of_ones_own_is_searched(capsys, tmp_path, monkeypatch):
    (tmp_path / "own_noise.py").write_text(
        "def faint(data, draws, rng):\n"
        "    return data + rng.laplace(scale=0.02, size=(draws, len(data)))\n"
        "def coin(data, draws, rng):\n"
        "    return (rng.random(draws) < 0.6) ^ data\n"
        "coin.neighbours = [(False, True)]\n"
        "pairs = [([0.0], [0.4])]\n"
        "def as_array(data, draws, rng):\n"
        "    import numpy as np\n"
        "    return np.array(data) + rng.laplace(scale=0.5, size=(draws, 1))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    quick = ["--seconds", "0.2"]
    assert main(["audit", "--search", "own_noise:faint", "--length", "2", "--seconds", "1"]) == 1
    text = capsys.readouterr().out
    assert "own_noise:faint: a claim of ε = 1 does not hold" in text
    assert "neighbours: [" in text
    assert "event: " in text
    # neighbours that the callable brings, and neighbours that are named
    assert main(["audit", "--search", "own_noise:coin", *quick]) == 0
    assert main(["audit", "--search", "own_noise:as_array", "--neighbours", "own_noise:pairs", *quick]) == 0
    assert capsys.readouterr().out.count("was not refuted") == 2


# ---- where the output goes ----------------------------------------------------------------------------------------


def run(command, **environment):
    """Run a line of shell with the same Python, from the shell's point of view."""
    environment = {**os.environ, "PYTHON": sys.executable, **environment}
    return subprocess.run(["bash", "-c", command], capture_output=True, env=environment, check=False)


@pytest.mark.parametrize(
    ("encoding", "errors"), [("ascii", "strict"), ("cp1252", "surrogateescape"), ("latin-1", "replace")]
)
def test_any_encoding_shows_the_audit(encoding, errors, monkeypatch):
    with io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["audit", "laplace", "--relation", "add-remove"]) == 0
        shown = "?" if errors == "replace" else "epsilon"
        assert f"laplace, add-remove: a claim of {shown} = 1 holds" in stream.buffer.getvalue().decode(encoding)


def test_a_closed_pipe_ends_quietly():
    """The reader is gone before the first line: the pipe's end is closed, as by `head`."""
    done = run('{ sleep 1; "$PYTHON" -m dpml catalogue; echo "code $?" >&2; } | true')
    assert done.stderr.decode().strip() == "code 3"


@pytest.mark.parametrize(("stream", "call", "code"), [("stdout", ["catalogue"], 0), ("stderr", ["audit", "nope"], 2)])
def test_a_stream_that_is_closed_is_no_error(stream, call, code, monkeypatch):
    monkeypatch.setattr(sys, stream, None)  # as Python has it where a shell has closed it
    assert main(call) == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a disk that is always full")
@pytest.mark.parametrize("call", others_in_full(["--help", "catalogue"], "--help"))
def test_a_full_disk_is_told_in_a_line(call):
    done = run(f'"$PYTHON" -m dpml {call} > /dev/full')
    assert done.returncode == 3
    lines = done.stderr.decode().strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: the output could not be written")
