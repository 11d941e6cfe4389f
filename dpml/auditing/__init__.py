"""What a mechanism really costs: exact audits, audits from draws, and the recorder of all that a call releases."""

from dpml.auditing.audit import (
    AuditResult,
    Event,
    HasPrivacyLoss,
    HasPrivacyProfile,
    HasProbabilities,
    as_rows,
    attacker_roc,
    attackers,
    audit,
    audit_outputs,
    best_event,
    exact_epsilon,
    hockey_stick,
    lower_bounds,
)
from dpml.auditing.recorder import Release, recorded_cost, recorded_releases

__all__ = [
    "AuditResult",
    "Event",
    "HasPrivacyLoss",
    "HasPrivacyProfile",
    "HasProbabilities",
    "Release",
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
]
