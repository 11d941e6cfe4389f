"""Tables drawn from a graphical model of noisy marginals: MST and AIM, with the extra ``graphical``."""

from dpml.publishing.graphical.estimators import AIM, MST

__all__ = ["AIM", "MST"]
