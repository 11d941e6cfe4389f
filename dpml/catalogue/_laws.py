"""Laws of cases (`Case.law`): many draws of a public object, and the exact distribution that they should have."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dpml.auditing.law import LawResult, check_law, check_noise

Law = Callable[[np.random.Generator], LawResult]
# of noise that NumPy draws, of which a million takes some hundredths of a second, and of choices
NOISES, CHOICES = 1_000_000, 100_000


def noise_law(noise: Any, release: Callable[[Any, int, Any], Any], statistic: Any, draws: int = NOISES) -> Law:
    """Return the law of noise on each coordinate of a statistic, and of the same statistic with 0 everywhere.

    ``release(statistic, draws, rng)`` returns that many noisy statistics.
    """

    def law(rng: np.random.Generator) -> LawResult:
        exact = np.asarray(statistic)
        n = draws // (2 * max(exact.size, 1))
        sides = [np.asarray(release(value, n, rng)) - value for value in (exact, np.zeros_like(exact))]
        return check_noise(noise, np.concatenate([side.ravel() for side in sides]))

    return law


def choice_law(draw: Callable[[int, Any], Any], log_probabilities: Callable[[], Any], draws: int = CHOICES) -> Law:
    """Return the law of a choice: ``draw(draws, rng)`` returns outputs, `log_probabilities` a mapping of them all.

    An output is a number or a row of numbers, and a key of the mapping the same as a number or a tuple.
    """

    def law(rng: np.random.Generator) -> LawResult:
        known = {_key(output): float(np.exp(log)) for output, log in log_probabilities().items()}
        seen = dict.fromkeys(known, 0)
        rows, numbers = np.unique(np.asarray(draw(draws, rng)), axis=0, return_counts=True)
        for row, number in zip(rows, numbers, strict=True):
            key = _key(row)
            known.setdefault(key, 0.0)
            seen[key] = int(number)
        return check_law(list(seen.values()), [known[key] for key in seen], draws, list(seen))

    return law


def _key(output: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in np.ravel(output))


def in_the_middle(first: Any, second: Any) -> tuple[Any, Any]:
    """Return two tables (X, y) with their last, differing records moved to the middle of the records in common."""
    common = min(len(first[1]), len(second[1])) - (len(first[1]) == len(second[1]))

    def moved(table: Any) -> Any:
        order = np.arange(len(table[1]))
        order = np.concatenate([order[: common // 2], order[common:], order[common // 2 : common]])
        return tuple(part[order] for part in table)

    return moved(first), moved(second)
