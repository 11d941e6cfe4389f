"""Shared by all tests: the folder of real data, and how Hypothesis searches."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("dpml", deadline=None)
settings.register_profile("dpml-ci", deadline=None, derandomize=True)
settings.load_profile("dpml-ci" if os.environ.get("CI", "").lower() == "true" else "dpml")


@pytest.fixture(scope="session")
def data_home():
    """The folder that DPML_DATA names; the test is skipped where it names none."""
    folder = os.environ.get("DPML_DATA")
    if not folder:
        pytest.skip("needs the real data files: set DPML_DATA to the folder that holds them")
    path = Path(folder).resolve()
    assert path.is_dir(), f"DPML_DATA = {folder!r} is not a folder"
    return path
