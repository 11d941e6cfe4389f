"""Modules that decide nothing about privacy; the faults (pattern of names: reason) that change nothing to see."""

_PACKAGES = ("studies", "sweep", "datasets", "audit.cases", "registry", "claims", "papers", "testing")
_PACKAGES += ("_commands", "__main__")
LEFT_OUT = tuple(f"dpml.{name}" for name in _PACKAGES)
DOES_NOT_RUN = "The mutant does not run: what is left has another type than is needed."
DIRECTION = "The draws are divided by their sum or length, so their scale cancels."
RELEASED = "Shares of released counts are not negative and add up to 1, so the cut bites by rounding alone."
ROUNDING = "What is cut leaves its interval by rounding alone, and decides no sensitivity there."
EQUIVALENT = {
    r"^bound left out: dpml\.audit\.": "A bound of the search for neighbours, which sees no private value.",
    r"^bound left out: dpml\.budget\.conversion\.zcdp_rho ": DOES_NOT_RUN,
    r"^no noise: dpml\.mechanisms\.choice\.PrivateChoice\.release ": DOES_NOT_RUN,
    r"^no noise: dpml\.mechanisms\.source\.Source\.bounded_choice ": DOES_NOT_RUN,
    r"^no noise: dpml\.tuning\.search\.PrivateSearch\._(chosen|most_stable) ": DOES_NOT_RUN,
    r"^no noise: dpml\.(evaluation\.as_published\.exponential_cut|release\.steps\._Noting\.release) ": DOES_NOT_RUN,
    r"^no noise: dpml\.selection\.as_published\.(private_threshold_testing|noisy_cut) 1": DOES_NOT_RUN,
    r"^sensitivity halved: dpml\.classifiers\.linear\.estimators\.release_weights ": DOES_NOT_RUN,
    r"^noise to a third: dpml\.mechanisms\.norms\.(_uniform|NormGamma\._direction) ": DIRECTION,
    r"^bound left out: dpml\.evaluation\..*\.(_precision_recall|average_precision|area_under) ": RELEASED,
    r"^sensitivity halved: dpml\.selection\.ranking\.NoisyCountSelector\._masks ": "A quantile that cuts noisy counts.",
    r"^bound left out: dpml\.evaluation\.as_published\.(cut_levels|_nodes|smooth_medians)": ROUNDING,
    r"^bound left out: dpml\.evaluation\.comparison\._between 2": ROUNDING,
    r"^bound left out: .*\.smooth\.formulas\.(Ordered\.falling_means|ordered 2)": ROUNDING,
    r"^bound left out: .*\.smooth\.admissible\.(laplace|uniform)_log_tail": ROUNDING,
    r"^bound left out: .*\.(_publisher\.drawn_given|classifiers\.private_prediction\._unit_records) ": ROUNDING,
    r"^bound left out: .*\.SmoothLaplace\._divergence 1": "Where the ratio rises, its root is never before its piece.",
    r"^bound left out: .*\.as_published\._medians ": "The place of no score, before the first, is masked.",
    r"^sensitivity halved: .*\.secure\._NoisyMax\._compare ": "By zCDP, the loss follows from the scores alone.",
    r"^bound left out: .*\.graphical\.estimated ": "Released counts so far from the total weigh nothing.",
    r"^refusal left out: .*\.release\.steps\._charged ": "The inner budget has no δ: it refuses such a charge before.",
    r"^exact number of records: .*\.as_published\._published_n ": "Replace-one alone comes here: the number is public.",
}
