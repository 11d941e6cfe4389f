"""Public side of private tuning: the assignment of records to parts, and the cost of each step."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpml._validate import check_choice, check_epsilon, check_integer, check_number, check_relation
from dpml.budget.shares import equal_share, split_epsilon
from dpml.exceptions import InvalidParameter
from dpml.mechanisms import boundary
from dpml.mechanisms.private import statistic
from dpml.tuning.stopping import stopping_epsilon

METHODS = ("exponential", "permute-and-flip", "stability", "random-stopping")
TRAININGS = ("disjoint", "shared")
VALIDATION = -1
# mean number of runs of random stopping per candidate if no γ is given
RUNS = 2.0


def choice_range(relation: str) -> int:
    """Return the range of the candidates' numbers of correct predictions under a change of one validation record.

    Adding a record raises each number by 0 or 1: a range of 1. Replacing one changes it by -1, 0 or 1: a range of 2.
    """
    return 1 if check_relation(relation) == "add-remove" else 2


def split_records(n: Any, n_parts: int, validation_share: float, *, rng: np.random.Generator) -> Any:
    """Assign n records to parts by independent random draws: -1 for validation, otherwise 0 to `n_parts` - 1.

    For a private number of records the parts are private too.

    Privacy: given the draws, the parts are disjoint data sets, so releases from different parts cost the largest of
    their ε (parallel composition). Add/remove: an added record has its own draw and moves no other record. Replace-one:
    draws belong to positions, so the new record is in the part of the old one. (If the part depended on the record, as
    by a hash of it, the new record could be in another part, and the costs of two parts would add up.) This holds for
    every outcome of the draws, so they need not be secret.
    """
    share = check_number(validation_share, "validation_share", 0.0, 1.0, open_lower=True, open_upper=True)
    return _parts(boundary.public_randomness(boundary.generator_of_parts(rng), "random", size=n), n_parts, share)


@statistic
def _parts(coins: NDArray[np.float64], n_parts: int, share: float) -> NDArray[np.intp]:
    coins = (coins - share) / (1 - share)
    return np.where(coins < 0, VALIDATION, np.minimum(np.floor(coins * n_parts), n_parts - 1)).astype(np.intp)


@statistic
def is_part(parts: Any, part: int) -> NDArray[np.bool_]:
    """Return for each record whether it is in a part."""
    return parts == part


@statistic
def is_other(parts: Any, part: int) -> NDArray[np.bool_]:
    """Return for each record whether it is in another part."""
    return parts != part


def search_costs(
    epsilon: float,
    n_candidates: int,
    *,
    method: str = "permute-and-flip",
    training: str = "shared",
    retrain_share: float = 0.5,
    eta: float = 0.0,
) -> dict[str, float]:
    """Return the ε of each step of `PrivateSearch`, which together cost `total` under either relation.

    Parameters
    ----------
    epsilon : float
        Privacy parameter ε of the whole search, above 0.
    n_candidates : int
        Number K of candidates.
    method : {"permute-and-flip", "exponential", "stability", "random-stopping"}, default "permute-and-flip"
        Method of the search.
    training : {"shared", "disjoint"}, default "shared"
        Records on which the candidates are trained: the same ones, or a part for each.
    retrain_share : float, default 0.5
        Share of ε for training the selected candidate on all records, in [0, 1).
    eta : float, default 0.0
        Parameter η of random stopping, above -1.

    Returns
    -------
    dict of str to float
        Cost in ε of "train" (each candidate), "select" (the selection), "retrain" and "total".

    See Also
    --------
    PrivateSearch : The search.
    stopping_epsilon : Cost of random stopping.

    Notes
    -----
    Privacy: no data is read.

    Examples
    --------
    >>> {step: round(cost, 12) for step, cost in search_costs(1.0, 5).items()}
    {'train': 0.1, 'select': 0.5, 'retrain': 0.5, 'total': 1.0}
    >>> search_costs(1.0, 5, training="disjoint", retrain_share=0.0)
    {'train': 1.0, 'select': 1.0, 'retrain': 0.0, 'total': 1.0}
    >>> search_costs(1.0, 5, method="random-stopping", retrain_share=0.0, eta=1.0)["train"]
    0.3333333333333333
    """
    epsilon = check_epsilon(epsilon)
    n = check_integer(n_candidates, "n_candidates", 1)
    check_choice(method, "method", METHODS)
    check_choice(training, "training", TRAININGS)
    share = check_number(retrain_share, "retrain_share", 0.0, 1.0, open_upper=True)
    retrain, search = split_epsilon(epsilon, share) if share else (0.0, epsilon)
    train = select = search
    if method == "random-stopping":
        stopping_epsilon(epsilon, eta)
        train = select = equal_share(search, 2.0 + eta)
    elif method == "stability":
        if not share:
            raise InvalidParameter("retrain_share", retrain_share, "more than 0 for method='stability'")
        train = 0.0
    elif training == "shared":
        train = equal_share(search, n)
    return {"train": train, "select": select, "retrain": retrain, "total": epsilon}
