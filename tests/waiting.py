"""Waiting in browser tests: a page is not done when a click returns, so nothing of it is read once and believed."""

import time

# seconds; the machine may be busy: what never comes is a failure, what comes late is none
PATIENCE = 120.0


def wait(page, holds):
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it never held"
        page.wait_for_timeout(50)


def check_becomes(page, read, wanted):
    """Wait until what is read is what is wanted; what it is instead is said in the failure."""
    deadline = time.monotonic() + PATIENCE
    while (found := read()) != wanted and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert found == wanted, found
