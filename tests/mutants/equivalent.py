"""Modules that decide nothing about privacy; the faults (pattern of names: reason) that change nothing to see."""

LEFT_OUT = ("dpml.studies", "dpml.sweep", "dpml.datasets", "dpml.catalogue", "dpml._commands", "dpml.__main__")
EQUIVALENT = {
    r"^bound left out: dpml\.auditing\.": "Bounds of the search for neighbours and of what it learns; no private value.",
    r"^no noise: dpml\.mechanisms\.choice\.(ReportNoisyMax|ExponentialMechanism)\.release ": "Rows of scores are no choice: "
    "the mutant does not run.",
    r"^no noise: dpml\.tuning\.search\.PrivateSearch\._(chosen|most_stable) ": "A list of scores is no choice: the mutant "
    "does not run.",
    r"^no noise: dpml\.evaluation\.roc\._cuts\.exponential_cut ": "Tuples of intervals are no cuts: the mutant does not run.",
    r"^bound left out: dpml\.evaluation\.roc\._cuts\.cut_levels ": "A cut leaves its interval by rounding alone.",
}
