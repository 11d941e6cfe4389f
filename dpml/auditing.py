"""The audit's entry points under the import path that scripts rely on. `dpml.audit` has all of its names."""

from dpml.audit import AuditResult, audit, recorded_cost

__all__ = ["AuditResult", "audit", "recorded_cost"]
