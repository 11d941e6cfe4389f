"""Importance weights on adult, split by sex: ``python benchmarks/publishing_importance.py [--part NAME]``, DPML_DATA.

The set-up of Ji and Elkan 2013, section 5: of adult.data 90 % of the men and 10 % of the women are private, the others
public, and sex is left out. Eleven attributes: categories, and age, hours, capital gain and loss in the intervals of
the R package arules. Every public record is used. The figures of the paper are in benchmarks/papers.

Parts: ``conjunctions`` (1,000 random conjunctions of three attributes, all methods, and the coverage of their
intervals), ``coverage`` (where the ratio is well specified), ``times``. Each writes
``results/publishing_importance_PART.csv``.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from result_files import write_results
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from dpml.datasets import load
from dpml.exceptions import ConcentratedWeights
from dpml.publishing import ImportanceWeights, PrivPfC, release_answers, release_table
from dpml.publishing.density_ratio import balanced_minimiser, release_balanced_output
from dpml.publishing.ratio_features import RatioFeatures
from dpml.schema import Schema
from dpml.studies.publishing import split_by_sex

FINE = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.5, 1.0)


class Setting:
    """The two tables in the features of the ratio."""

    def __init__(self):
        self.two = split_by_sex(load("adult"), rng=np.random.default_rng(0))
        self.private, self.public, self.schema = self.two.private, self.two.public, self.two.schema
        self.features = self.two.features
        self.D, self.E = (self.encoded(t) for t in (self.private, self.public))

    def encoded(self, table):
        """Return a table in the 74 columns."""
        return self.two.matrix(table)

    def fit(self, epsilon, seed, reg_lambda="public", **options):
        """Return the estimator, fitted to both tables."""
        model = ImportanceWeights(epsilon, reg_lambda, schema=self.schema, random_state=seed, **options)
        return model.fit(self.private, self.public)


# ---- conjunctions ---------------------------------------------------------------------------------------------------


def conjunctions(setting, n_queries=1000, n_draws=50):
    """Mean absolute error of 1,000 random conjunctions of three attributes, with the values of a public record."""
    rng = np.random.default_rng(3)
    names, size = setting.features.names, len(setting.public)
    queries = [(rng.choice(len(names), 3, replace=False), rng.integers(size)) for _ in range(n_queries)]
    asked = [[(names[a], setting.public[names[a]].iloc[row]) for a in attributes] for attributes, row in queries]

    def answers(table):
        columns = {name: table[name].to_numpy() for name in names}
        return np.array([np.logical_and.reduce([columns[c] == v for c, v in q]) for q in asked], dtype=np.float32)

    on_private, on_public = answers(setting.private), answers(setting.public)
    truth = on_private.mean(axis=1)
    rows = [{"method": "unweighted", "error": np.abs(on_public.mean(axis=1) - truth).mean(), "draws": 1}]

    def fixed(label, epsilon, reg_lambda, exact, calibration, features):
        # one minimiser, and all draws of noise together
        options = {"calibration": calibration, "draws": n_draws, "rng": rng}
        betas = release_balanced_output(exact, epsilon, reg_lambda, features, len(setting.D), **options)
        shares = softmax(setting.E @ betas[:, : setting.E.shape[1]].T, axis=0)
        errors = np.abs(on_public @ shares - truth[:, None]).mean(axis=0)
        row = {"method": label, "epsilon": epsilon, "rule": str(reg_lambda), "reg_lambda": reg_lambda}
        row |= {"error": errors.mean(), "standard_error": errors.std() / np.sqrt(n_draws - 1), "draws": n_draws}
        rows.append({**row, "ess": np.median(1 / (shares**2).sum(axis=0))})

    def weights(label, epsilon, reg_lambda, draws=10, **options):
        errors, covered, kept, at = [], [], [], []
        for seed in range(draws):
            published = setting.fit(epsilon, seed, reg_lambda, **options).weighted(setting.public)
            errors.append(np.abs(on_public @ published.shares - truth).mean())
            kept.append(published.effective_sample_size)
            at.append(published.spread.reg_lambda)
            if seed < 2 and not isinstance(reg_lambda, float):
                found = [published.interval(b) for b in on_public[:300]]
                covered += [i.lower <= t <= i.upper for i, t in zip(found, truth[:300], strict=True)]
        row = {"method": label, "epsilon": epsilon, "rule": str(reg_lambda), "reg_lambda": float(np.median(at))}
        row |= {"error": np.mean(errors), "standard_error": np.std(errors) / np.sqrt(draws - 1) if draws > 1 else None}
        rows.append({**row, "draws": draws, "ess": np.median(kept), "coverage": np.mean(covered) if covered else None})

    one = np.ones((len(setting.D), 1)), np.ones((size, 1))
    larger = RatioFeatures(setting.schema, intercept=True)
    for reg_lambda in FINE:
        exact = balanced_minimiser(setting.D, setting.E, reg_lambda)
        with_one = balanced_minimiser(np.hstack([setting.D, one[0]]), np.hstack([setting.E, one[1]]), reg_lambda)
        for epsilon in (0.1, 1.0):
            fixed("Algorithm 1", epsilon, reg_lambda, exact, "published", setting.features)
            fixed("output, tight", epsilon, reg_lambda, with_one, "tight", larger)
    published = {"calibration": "published", "fit_intercept": False}
    moments = {"method": "moments", "pairs": 0}
    for epsilon in (0.1, 1.0):
        for rule in ("public", "private"):
            weights("Algorithm 1", epsilon, rule, 4, **published)
            weights("output, tight", epsilon, rule, 4)
            weights("objective", epsilon, rule, 6, method="objective")
            weights("moments", epsilon, rule, **moments)
        for reg_lambda in (0.001, 0.01, 0.03, 0.1):
            weights("moments", epsilon, reg_lambda, **moments)
        weights("moments, pairs by the rule", epsilon, "public", method="moments")
        weights("moments, 3 pairs", epsilon, "public", 4, method="moments", pairs=3)
        weights("moments, 10 pairs", epsilon, "public", 2 if epsilon == 1 else 1, method="moments", pairs=10)
        rows += others(setting, epsilon, asked, answers, on_private, truth)
    return pd.DataFrame(rows).round(5)


def others(setting, epsilon, asked, answers, on_private, truth, n_draws=4):
    """Return the rows of the baselines."""
    rng = np.random.default_rng(4)
    position = {name: j for j, name in enumerate(setting.features.columns)}
    wanted = np.array([[position[f"{c}={v}"] for c, v in q] for q in asked])
    found = {"table with noise": [], "table with noise, trimmed": [], "direct answers": [], "PrivPfC": []}
    for seed in range(n_draws):
        noisy = release_table(setting.D, setting.features, epsilon, rng=rng)
        for name, table in (("table with noise", noisy), ("table with noise, trimmed", np.clip(noisy, 0, 1))):
            # the noise of three cells is independent, so the product is unbiased without trimming
            guess = np.array([np.prod(table[:, columns], axis=1).mean() for columns in wanted])
            found[name].append(np.abs(np.clip(guess, 0, 1) - truth).mean())
        found["direct answers"].append(np.abs(release_answers(on_private, epsilon, rng=rng) - truth).mean())
        if seed < 2:
            schema = Schema(setting.schema.features[:-1], setting.schema.features[-1].categories)
            model = PrivPfC(epsilon, schema=schema, relation="replace-one", random_state=seed)
            table = model.fit(setting.private, "income").sample(len(setting.private))
            found["PrivPfC"].append(np.abs(answers(table.astype(object)).mean(axis=1) - truth).mean())
    return [
        {"method": name, "epsilon": epsilon, "error": np.mean(e), "standard_error": np.std(e) / np.sqrt(len(e) - 1),
         "draws": len(e)}
        for name, e in found.items()
    ]  # fmt: skip


# ---- coverage where the ratio is well specified ---------------------------------------------------------------------


def coverage(setting, n_draws=120, n_private=3000):
    """Coverage of 95 % intervals, and the variance over draws as a share of its bound; ten binary attributes."""
    rng = np.random.default_rng(5)
    d, rows = 10, []
    base, beta = rng.uniform(0.2, 0.8, d), rng.normal(0, 0.7, d)
    public = (rng.random((2000, d)) < base).astype(int)
    shares = softmax(public @ beta)
    queries = [public[:, j] for j in range(d)] + [public[:, j] & public[:, j - 1] for j in range(d)]
    truth = np.array([shares @ q for q in queries])  # the private population: public records, with their true ratio
    for method, reg_lambda in (("output", "public"), ("output", 0.1), ("objective", "public"), ("moments", "public"),
                               ("moments", "private"), ("moments", 0.1)):  # fmt: skip
        for epsilon in (0.1, 1.0):
            found, inside, bounds = [], [], []
            for seed in range(n_draws):
                private = public[rng.choice(len(public), n_private, p=shares)]
                model = ImportanceWeights(
                    epsilon, reg_lambda, method=method, schema=Schema.binary(d), random_state=seed
                )
                published = model.fit(private, public).weighted(public)
                intervals = [published.interval(q) for q in queries]
                found.append([i.estimate for i in intervals])
                inside.append([i.lower <= t <= i.upper for i, t in zip(intervals, truth, strict=True)])
                bounds.append([published.variance_bound(q) for q in queries])
            share = np.var(found, axis=0, ddof=1) / np.median(bounds, axis=0)
            rows.append({"method": method, "rule": str(reg_lambda), "epsilon": epsilon, "coverage": np.mean(inside),
                         "lowest coverage of a query": np.mean(inside, axis=0).min(),
                         "largest variance as a share of its bound": share.max(),
                         "error": np.abs(np.array(found) - truth).mean(), "draws": n_draws})  # fmt: skip
    return pd.DataFrame(rows).round(4)


def times(setting, repeats=5):
    """Return seconds of processor time on one core: a fit, and the weights of 1,000,000 public records."""
    rng = np.random.default_rng(6)
    kinds = {f.name: pd.CategoricalDtype(list(f.categories)) for f in setting.schema.features}
    million = setting.public.astype(kinds).iloc[rng.integers(len(setting.public), size=1_000_000)]
    rows = []
    for method, reg_lambda in (("output", 0.1), ("output", "public"), ("output", "private"), ("objective", "public"),
                               ("moments", "public"), ("moments", "private")):  # fmt: skip
        fits, weights = [], []
        for seed in range(repeats):
            begun = time.process_time()
            model = setting.fit(0.1, seed, reg_lambda, method=method)
            fits.append(time.process_time() - begun)
            begun = time.process_time()
            model.weights(million)
            weights.append(time.process_time() - begun)
        rows.append({"method": method, "rule": str(reg_lambda), "fit": np.median(fits), "slowest fit": max(fits),
                     "weights of a million": np.median(weights)})  # fmt: skip
    return pd.DataFrame(rows).round(3)


PARTS = {
    "conjunctions": conjunctions,
    "coverage": coverage,
    "times": times,
}


def run_parts(script, parts, make_setting):
    """Run the parts that the command line names, and write and print the table of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", nargs="+", choices=parts, default=list(parts))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", ConcentratedWeights)  # small λ and ε are part of the study
    warnings.simplefilter("ignore", ConvergenceWarning)  # of a hinge with a few very large weights
    setting = make_setting()
    print(f"N = {len(setting.D)}, N_E = {len(setting.E)}, d = {setting.features.dimension}")
    for part in chosen.part:
        begun = time.perf_counter()
        table = parts[part](setting)
        write_results(f"{script}_{part}", table, script)
        print(table.to_string(), f"\n{part}: {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    run_parts("publishing_importance", PARTS, Setting)
