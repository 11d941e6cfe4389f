"""The worst-case neighbours of every claim, on which audits check it.

The audit tests, the app and ``python -m dpml audit`` read `AUDITED`. Each module has the cases of a family:
``CASES[name](epsilon, relation)`` returns the `Case` of a claim, and ``TYPED[name]`` its case on two typed tables.
"""

from dpml import registry
from dpml.audit.cases import (
    automatic,
    classifiers,
    columns,
    evaluation,
    linear,
    mechanisms,
    publishing,
    selection,
    tuning,
)
from dpml.audit.cases.base import AuditedClaim, Case, CaseMaker, Typed
from dpml.audit.cases.typed import read_neighbours, read_table
from dpml.claims import Claim

__all__ = ["AUDITED", "AuditedClaim", "Case", "audited_pairs", "read_neighbours", "read_table", "register"]

FAMILIES = (
    mechanisms,
    selection,
    classifiers,
    linear,
    publishing,
    automatic,
    evaluation,
    tuning,
    columns,
)
AUDITED: dict[str, AuditedClaim] = {}


def register(claim: Claim, case: CaseMaker, typed: Typed | None = None) -> AuditedClaim:
    """Add the worst-case neighbours of a claim.

    Parameters
    ----------
    claim : Claim
        A claim that a class or function states.
    case : callable
        ``case(epsilon, relation)`` returns a `Case`.
    typed : callable, optional
        ``typed(data, neighbour, epsilon, relation)`` returns a `Case` on two small tables that you typed.

    Returns
    -------
    AuditedClaim
        The claim with its case, also in `AUDITED`.

    See Also
    --------
    dpml.claims.claim : States a claim.
    Case : Stores neighbours.
    """
    AUDITED[claim.name] = AuditedClaim(**vars(claim), case=case, typed=typed)
    return AUDITED[claim.name]


def audited_pairs() -> list[tuple[str, str]]:
    """Return every claim as (name, relation), once for each of its relations.

    Returns
    -------
    list of (str, str)
        Name and neighbouring relation of each claim.

    See Also
    --------
    dpml.registry.claims : Returns the claims.

    Examples
    --------
    >>> audited_pairs()[:2]
    [('laplace', 'add-remove'), ('laplace', 'replace-one')]
    """
    return [(name, relation) for name, entry in AUDITED.items() for relation in entry.relations]


for family in FAMILIES:
    for name, case in family.CASES.items():
        register(registry.claim(name), case, getattr(family, "TYPED", {}).get(name))
