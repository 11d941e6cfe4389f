"""Audits of privacy claims: exact or from samples, by one run, by a search, and by a recorder of whole calls.

`dpml.audit.cases` has the worst-case neighbours of every claim of this library.
"""

from dpml.audit.exact import (
    LawResult,
    check_law,
    check_noise,
    exact_epsilon,
    hockey_stick,
    outcome_probabilities,
)
from dpml.audit.one_run import (
    audit_one_run,
    certified_epsilon,
    label_score,
    row_score,
    trade_off,
)
from dpml.audit.recorder import recorded_cost, recorded_releases
from dpml.audit.sampled import (
    AuditResult,
    attack_outputs,
    audit,
    audit_outputs,
    claimed_region,
    largest_bound,
    outcomes,
    simultaneous_confidence,
)
from dpml.audit.search import search

__all__ = [
    "AuditResult",
    "LawResult",
    "attack_outputs",
    "audit",
    "audit_one_run",
    "audit_outputs",
    "certified_epsilon",
    "check_law",
    "check_noise",
    "claimed_region",
    "exact_epsilon",
    "hockey_stick",
    "label_score",
    "largest_bound",
    "outcome_probabilities",
    "outcomes",
    "recorded_cost",
    "recorded_releases",
    "row_score",
    "search",
    "simultaneous_confidence",
    "trade_off",
]
