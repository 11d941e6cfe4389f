"""What a mechanism really costs: exact audits, audits from draws."""

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

__all__ = [
    "AuditResult",
    "Event",
    "HasPrivacyLoss",
    "HasPrivacyProfile",
    "HasProbabilities",
    "as_rows",
    "attacker_roc",
    "attackers",
    "audit",
    "audit_outputs",
    "best_event",
    "exact_epsilon",
    "hockey_stick",
    "lower_bounds",
]
