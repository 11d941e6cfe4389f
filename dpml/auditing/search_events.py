"""Events that tell two neighbours apart: a classifier learns a score of the output, and a threshold gives the event.

Bichsel et al. (2021, DP-Sniper) train a classifier to tell outputs on D from outputs on D'. Their event is the outputs
of highest score: by the Neyman-Pearson lemma, no event of the same probability on D' is more likely on D. They fix that
probability, and randomise outputs that tie at the threshold. Here the threshold is the one with the largest lower bound
on ε. Ties are either all in the event or all outside: an event between two nested events has a ratio between theirs, so
randomisation could not raise it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from dpml._arrays import FloatArray, IntArray
from dpml.auditing.attacker import Score, attackers, direction

# With more columns than this, piecewise linear maps, differences and boosting would take too long.
MOST_COLUMNS = 40
# Codes of floats that are not finite numbers.
ODD_NUMBERS = {"nan": 1, "inf": 2, "-inf": 3}
# Number of outputs that determine the knots.
MOST_KNOTS = 4_000


@dataclass
class Encoder:
    """Outputs of any kind as rows of finite floats.

    Numbers stay unchanged. If some outputs have no finite number at a position (NaN, infinity, text, None, or a
    sequence that has ended), the position gets a second column: 0 for a number, otherwise a code of the value there.
    The codes are learned from the outputs given to `of`. Values that were not seen then get the code -1.
    """

    width: int = 0
    words: list[dict[str, int]] = field(default_factory=list)
    # whether outputs came as an array of numbers, which is read at once; otherwise each cell is read by itself
    numeric: bool = True

    @classmethod
    def of(cls, outputs: Any) -> Encoder:
        """Fit an encoder to some outputs."""
        array = _numbers(outputs)
        if array is not None:
            odd = np.isfinite(array).min(axis=0, initial=True) == 0
            return cls(array.shape[1], [dict(ODD_NUMBERS) if at else {} for at in odd])
        rows = [_cells(output) for output in outputs]
        width = max(map(len, rows), default=0)
        words = [sorted({_word(row, k) for row in rows} - {""}) for k in range(width)]
        return cls(width, [{word: i + 1 for i, word in enumerate(at)} for at in words], numeric=False)

    def __call__(self, outputs: Any) -> FloatArray:
        """Return one row of numbers for each output."""
        array = _numbers(outputs) if self.numeric else None
        if array is not None and array.shape[1] == self.width:
            if not any(self.words) and np.isfinite(array.sum()):
                return array
            codes = np.where(np.isfinite(array), 0, np.where(np.isnan(array), 1, np.where(array > 0, 2, 3)))
            return self._joined(np.where(codes == 0, array, 0.0), codes)
        rows = [_cells(output) for output in outputs]
        values, codes = np.zeros((2, len(rows), self.width))
        for i, row in enumerate(rows):
            for k in range(self.width):
                word = _word(row, k)
                if word:
                    codes[i, k] = self.words[k].get(word, -1)
                else:
                    values[i, k] = float(row[k])
        return self._joined(values, codes)

    def _joined(self, values: FloatArray, codes: Any) -> FloatArray:
        coded = [k for k, at in enumerate(self.words) if at]
        if not coded:
            return values
        whole = np.empty((len(values), self.width + len(coded)))
        place = np.arange(self.width) + np.cumsum([0] + [bool(at) for at in self.words[:-1]])
        whole[:, place] = values
        whole[:, place[coded] + 1] = codes[:, coded]
        return whole


def _numbers(outputs: Any) -> FloatArray | None:
    """Return outputs as rows if they are an array of numbers, else None."""
    if not isinstance(outputs, np.ndarray):
        try:
            outputs = np.asarray(outputs)
        except ValueError:
            return None
    if outputs.dtype.kind not in "biuf":
        return None
    rows = outputs.reshape(len(outputs), -1)
    return rows.astype(float, copy=False)


def _cells(output: Any) -> list[Any]:
    if isinstance(output, np.ndarray):
        return list(output.ravel())
    return list(output) if isinstance(output, (list, tuple)) else [output]


def _word(row: list[Any], k: int) -> str:
    """Return a text for a value that is not a finite number, and "" for a number."""
    if k >= len(row):
        return "ended"
    cell = row[k]
    if isinstance(cell, (bool, int, float, np.bool_, np.number)):
        try:
            number = float(cell)
        except (OverflowError, TypeError):
            return repr(cell)
        return "" if np.isfinite(number) else repr(number)
    return f"{type(cell).__name__} {cell!r}"


def classifiers(first: FloatArray, second: FloatArray, *, slow: int = 0) -> Iterable[tuple[str, Score]]:
    """Yield scores by name, learned from encoded outputs of both data sets.

    If there are few distinct outputs, a frequency table is nearly optimal. Linear scores are tried too, because they
    are more precise for rare outputs. `slow` is the number of outputs of each side that train the slow classifiers,
    logistic regression and gradient boosting. 0 leaves them out.
    """
    some = slow // 2
    simple = iter(attackers(first, second))
    name, score = next(simple)
    yield name, score
    if name.startswith("frequency"):
        if first.shape[1] > 1:
            yield next(simple)
        return
    yield from simple
    if first.shape[1] > MOST_COLUMNS:
        if slow:
            yield "logistic regression of the output", _logistic(first[:some], second[:some], _standard(first, second))
        return
    bend = _bends(first, second)
    straight = direction(bend(first), bend(second))
    yield "linear discriminant of bent outputs", lambda x: straight(bend(x))
    if slow:
        yield "logistic regression of bent outputs", _logistic(first[:some], second[:some], bend)
        yield "gradient boosting of the output", _boosted(first[:slow], second[:slow])


def _standard(first: FloatArray, second: FloatArray) -> Callable[[FloatArray], FloatArray]:
    both = np.concatenate([first[:MOST_KNOTS], second[:MOST_KNOTS]])
    centre = np.median(both, axis=0)
    spread = np.median(np.abs(both - centre), axis=0)
    spread[spread == 0] = 1.0
    return lambda x: np.clip((x - centre) / spread, -10, 10)


def _bends(first: FloatArray, second: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return a map to piecewise linear functions of each column, and of differences of adjacent columns, with knots.

    The log ratio of two noisy answers is often flat outside the two answers, so the two medians are knots.
    """
    widen = _widening(first, second)
    one, two = widen(first[:MOST_KNOTS]), widen(second[:MOST_KNOTS])
    knots = []
    for k in range(one.shape[1]):
        both = np.concatenate([one[:, k], two[:, k]])
        medians = [np.median(one[:, k]), np.median(two[:, k])]
        at = np.unique(np.concatenate([np.quantile(both, [0.005, 0.25, 0.75, 0.995]), medians]))
        knots.append(at if len(at) > 1 else np.array([at[0] - 0.5, at[0] + 0.5]))

    def bend(x: FloatArray) -> FloatArray:
        x = widen(x)
        pieces = np.empty((len(x), sum(len(at) - 1 for at in knots)))
        column = 0
        for k, at in enumerate(knots):
            for low, high in pairwise(at):
                np.clip((x[:, k] - low) / (high - low), 0.0, 1.0, out=pieces[:, column])
                column += 1
        return pieces

    return bend


def _widening(first: FloatArray, second: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return a map that adds the differences of adjacent columns, if all columns are numbers that do not repeat."""
    few = np.concatenate([first[:500], second[:500]])
    if few.shape[1] == 1 or any(len(np.unique(column)) < len(few) // 2 for column in few.T):
        return lambda x: x
    return lambda x: np.concatenate([x, np.diff(x, axis=1)], axis=1)


def _labelled(first: FloatArray, second: FloatArray) -> tuple[FloatArray, IntArray]:
    return np.concatenate([first, second]), np.repeat([1, 0], [len(first), len(second)])


def _logistic(first: FloatArray, second: FloatArray, bend: Callable[[FloatArray], FloatArray]) -> Score:
    x, y = _labelled(first, second)
    with warnings.catch_warnings():
        # a score needs no converged weights, so the warning does not matter
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=10.0, max_iter=60).fit(bend(x), y)
    weights = model.coef_[0]
    return lambda x: bend(x) @ weights


def _boosted(first: FloatArray, second: FloatArray) -> Score:
    widen = _widening(first, second)
    x, y = _labelled(widen(first), widen(second))
    model = HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=16, min_samples_leaf=max(20, len(x) // 4000), early_stopping=False
    ).fit(x, y)
    return lambda x: model.decision_function(widen(x))
