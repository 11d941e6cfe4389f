"""Audits of privacy claims: exact or from draws, a recorder of whole calls, and a black-box search for violations."""

from dpml.auditing.attacker import Event, as_rows, attacker_roc, attackers, best_event, lower_bounds
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
from dpml.auditing.recorder import Release, recorded_cost, recorded_releases
from dpml.auditing.search import SearchResult, search
from dpml.auditing.search_neighbours import Answers, Neighbours, Pairs, Values

__all__ = [
    "Answers",
    "AuditResult",
    "Event",
    "HasPrivacyLoss",
    "HasPrivacyProfile",
    "HasProbabilities",
    "Neighbours",
    "Pairs",
    "Release",
    "SearchResult",
    "Values",
    "as_rows",
    "attacker_roc",
    "attackers",
    "audit",
    "audit_outputs",
    "best_event",
    "exact_epsilon",
    "hockey_stick",
    "lower_bounds",
    "recorded_cost",
    "recorded_releases",
    "search",
]
