"""How much any decoder of the default classifier's released weights could gain: decoders that know private facts.

python benchmarks/decoder_oracles.py [--draws 20] [--epsilon 0.1] [--sets telco ...]

Each reads the released weights and grid of a fit, and something that only the exact training records tell:

- *factors*: one factor for each attribute, at least 0, which minimises the log loss of the training records;
- *posterior*: the mean of the weights given the noisy gradient, with the exact Hessian H, the covariance of the noise,
  and a normal prior that has the variance of each attribute's weights without noise;
- *one variance*: the same with one variance for all attributes;
- *no noise*: the minimiser without noise, at the released regulariser and at a quarter of it. Of a grid alone, the
  exact rates of the classes in its cells.

The table shows AUC on the test records, and the standard error of its paired difference to the default.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from auto_sets import JudgedSet, judged_set
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from dpml.classifiers import AutoClassifier
from dpml.classifiers.automatic import tables
from dpml.classifiers.grid import cell_probabilities
from dpml.classifiers.linear import Prior
from dpml.classifiers.linear.solver import minimise
from dpml.exceptions import FactWarning

JUDGED = ("telco", "dutch", "law", "shoppers", "cardio", "mushrooms", "adult", "bank", "skin")
DECODERS = ("default", "factors", "posterior", "one variance", "no noise", "no noise, λ/4")
LEAST = 2.0  # regulariser of the weights whose variances are the prior's


class Oracle:
    """A fit with weights, its exact training records, and its noise."""

    def __init__(self, fitted: AutoClassifier, data: JudgedSet, epsilon: float):
        model: tables.TableModel = fitted._model_of_table
        self.plan, layout = fitted.plan_, model.layout
        self.offset = tables.grid_margin(cell_probabilities(model.grid)[1])
        self.cell, self.groups = model.located(data.test)
        cell, groups = model.located(data.train)
        labels = data.schema.check_labels(data.y_train)
        self.signs = 2 * labels - 1
        self.X, norm, self.of_groups = tables.started_table(groups, self.offset[cell], layout)
        self.length = norm.sensitivity
        self.prior = Prior(norm.sizes, 2, tables.ordered_attributes(layout), by_size=True)
        self.noise = replace(norm, epsilon=self.plan.divided(epsilon)[2])
        factor = self.plan.reg_factor * tables.REGULARISED
        self.reg_lambda = tables.started_lambda(self.noise.epsilon, norm, "add-remove", factor)
        of_grid = np.polyfit(self.offset, model.additive.cells[0], 1) if np.ptp(self.offset) > 0 else np.zeros(2)
        weights = np.linalg.pinv(self.of_groups.T) @ model.additive.groups[0]
        self.theta = np.concatenate([weights, of_grid]) / self.length
        self.centre = np.zeros(len(self.theta))
        self.centre[-2] = self.plan.trust * tables.MOST_MARGIN / self.length

    def scores(self, theta: NDArray) -> NDArray:
        """Return margins of the test records, but for the constant."""
        theta = theta * self.length
        return (theta[:-2] @ self.of_groups)[self.groups.astype(int)].sum(axis=1) + theta[-2] * self.offset[self.cell]

    def without_noise(self, reg_lambda: float) -> NDArray:
        """Return the exact minimiser."""
        X, pull = self.prior.of_rows(self.X), -reg_lambda * self.centre
        return self.prior.root @ minimise(X, self.signs, reg_lambda, 1e-6, pull[None], tables.LOSS)[0]

    def posterior(self, exact: NDArray, by_attribute: bool) -> NDArray:
        """Return the posterior mean of the weights, given Hθ + λΣ⁻¹(θ - c) = Hθ* - b."""
        margins, covariance = self.X @ exact[:, None], self.prior.root @ self.prior.root.T
        residual = tables.LOSS.residual(margins, (self.signs + 1) / 2)
        hessian = self.X.square(tables.LOSS.weights(residual)[:, 0])
        draws = self.noise.release(np.zeros(len(exact)), draws=4000, rng=np.random.default_rng(1))
        parts = [part for part, _, _ in self.prior._parts()]
        found = [exact[part] @ np.linalg.solve(covariance[part, part], exact[part]) for part in parts]
        sizes = [part.stop - part.start for part in parts]
        variance = np.diag((exact - self.centre) ** 2 + 1)
        for part, size, square in zip(parts, sizes, found, strict=True):
            own = square / size if by_attribute else np.sum(found) / np.sum(sizes)
            variance[part, :] = 0.0
            variance[part, part] = own * covariance[part, part]
        seen = hessian @ self.theta + self.reg_lambda * np.linalg.solve(covariance, self.theta - self.centre)
        spread = hessian @ variance @ hessian + np.cov(draws.T, bias=True)
        gap = np.linalg.solve(spread, seen - hessian @ self.centre)
        return self.centre + variance @ hessian @ gap

    def factors(self) -> NDArray:
        """Return the released weights times the best factor of each attribute."""
        parts = [part for part, _, _ in self.prior._parts()] + [slice(-2, -1)]
        alone = np.zeros((len(self.theta), len(parts)))
        for k, part in enumerate(parts):
            alone[part, k] = self.theta[part]
        columns = self.X @ alone

        def loss(v: NDArray) -> tuple[float, NDArray]:
            margins = self.signs * (columns @ v[:-1] + v[-1])
            pull = -self.signs * expit(-margins) / len(margins)
            return float(np.logaddexp(0, -margins).mean()), np.append(columns.T @ pull, pull.sum())

        limits: Any = [(0, None)] * len(parts) + [(None, None)]
        found = minimize(loss, np.append(np.ones(len(parts)), 0), jac=True, method="L-BFGS-B", bounds=limits)
        return alone @ found.x[:-1]


def decoded(data: JudgedSet, epsilon: float, seed: int) -> list[float]:
    """Return the AUC of each decoder. A grid without weights has its own model, and exact rates of its cells."""
    fitted = AutoClassifier(epsilon, schema=data.schema, on_invalid="clip", random_state=seed)
    fitted.fit(data.train, data.y_train)
    y = data.schema.check_labels(data.y_test)
    if fitted.plan_.addition != "weights":
        cells, at = (fitted._model_of_table.located(part)[0] for part in (data.train, data.test))
        labels = data.schema.check_labels(data.y_train)
        size = 1 + int(max(cells.max(), at.max()))
        rates = (np.bincount(cells, labels, size) + labels.mean()) / (np.bincount(cells, minlength=size) + 1)
        return [roc_auc_score(y, fitted.decision_function(data.test))] * 4 + [roc_auc_score(y, rates[at])] * 2
    oracle = Oracle(fitted, data, epsilon)
    exact = oracle.without_noise(LEAST)
    posteriors = [oracle.posterior(exact, by_attribute) for by_attribute in (True, False)]
    minima = [oracle.without_noise(oracle.reg_lambda / k) for k in (1, 4)]
    return [roc_auc_score(y, oracle.scores(theta)) for theta in (oracle.theta, oracle.factors(), *posteriors, *minima)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--sets", nargs="+", default=JUDGED)
    args = parser.parse_args()
    warnings.simplefilter("ignore", FactWarning)
    means, errors = [], []
    for name in args.sets:
        table = np.array([decoded(judged_set(name), args.epsilon, seed) for seed in range(args.draws)])
        means.append(table.mean(axis=0))
        errors.append((table - table[:, :1]).std(axis=0, ddof=1) / np.sqrt(args.draws))
        print(
            name, *(f"{mean:.4f} ({error:.4f})" for mean, error in zip(means[-1], errors[-1], strict=True)), flush=True
        )
    of_mean = np.sqrt(np.square(errors).sum(axis=0)) / len(errors)
    print(pd.DataFrame({"mean": np.mean(means, axis=0), "error of gain": of_mean}, index=DECODERS).round(4).to_string())


if __name__ == "__main__":
    main()
