"""Audits of privacy claims: exact or from draws, a recorder of whole calls, and a black-box search for violations."""

from dpml.auditing.attack import Attack, Box, attack_outputs
from dpml.auditing.attacker import Event, attackers
from dpml.auditing.audit import (
    AuditResult,
    HasPrivacyLoss,
    HasPrivacyProfile,
    HasProbabilities,
    audit,
    audit_outputs,
    exact_epsilon,
    hockey_stick,
)
from dpml.auditing.law import LawResult, check_law, check_noise
from dpml.auditing.limits import claimed_region, largest_bound, simultaneous_confidence
from dpml.auditing.one_run import (
    OneRunResult,
    audit_one_run,
    certified_epsilon,
    guesses_p_value,
    label_score,
    row_score,
)
from dpml.auditing.outcomes import Outcomes, outcome_probabilities, outcomes
from dpml.auditing.recorder import Release, recorded_cost, recorded_releases
from dpml.auditing.search import SearchResult, search
from dpml.auditing.search_neighbours import Answers, Neighbours, Pairs, Values
from dpml.auditing.trade_off import trade_off, trade_off_p_value

__all__ = [
    "Answers",
    "Attack",
    "AuditResult",
    "Box",
    "Event",
    "HasPrivacyLoss",
    "HasPrivacyProfile",
    "HasProbabilities",
    "LawResult",
    "Neighbours",
    "OneRunResult",
    "Outcomes",
    "Pairs",
    "Release",
    "SearchResult",
    "Values",
    "attack_outputs",
    "attackers",
    "audit",
    "audit_one_run",
    "audit_outputs",
    "certified_epsilon",
    "check_law",
    "check_noise",
    "claimed_region",
    "exact_epsilon",
    "guesses_p_value",
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
    "trade_off_p_value",
]
