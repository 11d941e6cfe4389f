"""The library broken on purpose, one change at a time, and the tests that must notice: `python tests/mutants`."""
