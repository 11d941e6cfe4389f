"""Modules that decide nothing about privacy; the faults (pattern of names: reason) that change nothing to see."""

LEFT_OUT = ("dpml.studies", "dpml.sweep", "dpml.datasets", "dpml.catalogue", "dpml._commands", "dpml.__main__")
NO_CHOICE = "The mutant does not run: scores stand where one choice is wanted."
DIRECTION = "The draws are divided by their sum or length, so their scale cancels."
RELEASED = "Shares of released counts are not negative and add up to 1, so the cut bites by rounding alone."
EQUIVALENT = {
    r"^bound left out: dpml\.auditing\.": "A bound of the search for neighbours, which sees no private value.",
    r"^no noise: dpml\.mechanisms\.choice\.(ReportNoisyMax|ExponentialMechanism)\.release ": NO_CHOICE,
    r"^noise to a third: dpml\.mechanisms\.(one_hot\._uniform|norm\.NormGamma\._direction) ": DIRECTION,
    r"^no noise: dpml\.tuning\.search\.PrivateSearch\._(chosen|most_stable) ": NO_CHOICE,
    r"^no noise: dpml\.evaluation\.roc\._cuts\.exponential_cut ": NO_CHOICE,
    r"^bound left out: dpml\.evaluation\.multiclass\.PrivateConfusionMatrix\.accuracy ": RELEASED,
    r"^bound left out: dpml\.evaluation\..*\.(_precision_recall|average_precision) ": RELEASED,
    r"^sensitivity halved: dpml\.selection\.ranking\.NoisyCountSelector\._masks ": "A quantile that cuts noisy counts.",
    r"^bound left out: dpml\.evaluation\.roc\._cuts\.cut_levels ": "A cut leaves its interval by rounding alone.",
}
