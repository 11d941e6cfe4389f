"""Modules that decide nothing about privacy; the faults (pattern of names: reason) that change nothing to see."""

LEFT_OUT = ("dpml.studies", "dpml.sweep", "dpml.datasets", "dpml.catalogue", "dpml._commands", "dpml.__main__")
EQUIVALENT: dict[str, str] = {}
