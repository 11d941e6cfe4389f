"""``panel serve app`` for the browser tests, in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def children(pid):
    """Return the ids of a process's children, and theirs."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            mine = [int(word) for word in task.read_text().split()]
        except OSError:
            continue
        for child in mine:
            found += [child, *children(child)]
    return found


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


class Server:
    """``panel serve app`` in a process of its own."""

    def __init__(self, port=None, **environment):
        self.port = port or free_port()
        self.url = f"http://localhost:{self.port}/app"
        self.process = subprocess.Popen(
            self.command(self.port),
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None, "the server ended at its start"
            time.sleep(0.1)
        self.stop()
        raise TimeoutError("the server did not start within a minute")

    def command(self, port):
        return [sys.executable, "-m", "panel", "serve", "app", "--port", str(port), "--num-procs", "1"]

    def stop(self):
        """Send SIGTERM and return the seconds until the server and its workers were gone; more than 20 is a failure."""
        begun = time.monotonic()
        family = [self.process.pid, *children(self.process.pid)]
        self.process.send_signal(signal.SIGTERM)
        while time.monotonic() - begun < 20:
            self.process.poll()  # reap it
            if not any(alive(pid) for pid in family):
                self.process.wait()
                return time.monotonic() - begun
            time.sleep(0.05)
        self.process.kill()
        raise TimeoutError("the server or a worker did not end")
