"""Why goals of importance weights are missed or met: ``python benchmarks/publishing_importance_search.py``.

Adult split by sex, as in publishing_importance.py; DPML_DATA. ``--part`` takes ``readings`` (what Algorithm 1 of Ji and
Elkan 2013 answers at ε = 0.1 by each reading of its set-up), ``machines`` (the distance of a linear support vector
machine, in norms, for each coding, loss and Λ) and ``intervals`` (coverage of 300 conjunctions of three attributes,
against ε and pairs, on adult and on census). Each writes ``results/publishing_importance_search_PART.csv`` in one to
three minutes.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from publishing_importance import run_parts
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.svm import LinearSVC

from dpml.datasets import load
from dpml.mechanisms import NormGamma
from dpml.publishing import ImportanceWeights
from dpml.publishing.density_ratio import balanced_minimiser, moment_minimiser, release_balanced_output, release_sums
from dpml.publishing.importance import public_reg_lambda
from dpml.studies.publishing import split_by_sex

EPSILON, LAMBDA = 0.1, 0.1
CODINGS = ("all columns", "no unknown", "first left out", "last left out", "most frequent left out")
DRAWS = 400


class Setting:
    """Both tables in one-hot columns, and which columns each reading keeps."""

    def __init__(self, name="adult"):
        self.two = split_by_sex(load(name), rng=np.random.default_rng(0))
        self.features, self.label = self.two.features, self.two.schema.features[-1]
        self.D, self.E = self.two.matrix(self.two.private), self.two.matrix(self.two.public)
        self.rich, self.rich_public = self.D[:, -1] == 1, self.E[:, -1] == 1
        self.n = len(self.D)
        self.inputs = np.arange(self.D.shape[1]) < self.D.shape[1] - len(self.label.categories)

    def kept(self, coding):
        """Return which columns a coding keeps."""
        kept = np.ones(self.D.shape[1], dtype=bool)
        if coding == "no unknown":
            return np.array([not name.endswith("=?") for name in self.features.columns])
        ends = np.cumsum(self.features.single_sizes)
        often = self.D.mean(axis=0) + self.E.mean(axis=0)
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            if coding == "first left out":
                kept[start] = False
            elif coding == "last left out":
                kept[end - 1] = False
            elif coding == "most frequent left out":
                kept[start + np.argmax(often[start:end])] = False
        return kept


def minimiser(D, E, reg_lambda, free=False, pooled=False):
    """Return the minimiser of Algorithm 1's loss, or with one mean over both tables; `free`: no penalty on the last."""
    penalty = np.full(D.shape[1], reg_lambda)
    penalty[-1] *= not free
    on_D, on_E = (1 / (len(D) + len(E)),) * 2 if pooled else (1 / len(D), 1 / len(E))

    def loss(beta):
        here, there = D @ beta, E @ beta
        value = on_E * np.logaddexp(0, there).sum() + on_D * np.logaddexp(0, -here).sum() + penalty @ beta**2 / 2
        return value, on_E * (expit(there) @ E) - on_D * (expit(-here) @ D) + penalty * beta

    start = np.zeros(D.shape[1])
    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-7, "ftol": 1e-14}).x


def readings(setting):
    """P(income > 50K) by Algorithm 1 at ε = λ = 0.1 by each reading; noise of the paper, and smaller."""
    rng, rows = np.random.default_rng(0), []
    truth = setting.rich.mean()
    for coding in CODINGS:
        kept = setting.kept(coding)
        for constant in ("none", "penalised", "free"):
            D, E = setting.D[:, kept], setting.E[:, kept]
            if constant != "none":
                D, E = (np.hstack([t, np.ones((len(t), 1))]) for t in (D, E))
            d = D.shape[1]
            for said, reg_lambda, pooled in (("as stated", LAMBDA, False), ("λ halved", LAMBDA / 2, False),
                                             ("λ doubled", 2 * LAMBDA, False), ("one mean", LAMBDA, True)):  # fmt: skip
                beta = minimiser(D, E, reg_lambda, constant == "free", pooled)
                row = {"columns": coding, "d": d, "constant": constant, "loss": said, "truth": truth}
                row["without noise"] = softmax(E @ beta) @ setting.rich_public
                for noise, norm in (("√d", np.sqrt(d)), ("√attributes", np.sqrt(len(setting.features.names)))):
                    release = NormGamma(EPSILON, norm / (setting.n * reg_lambda), d).release(beta, draws=DRAWS, rng=rng)
                    found = setting.rich_public @ softmax(E @ release.T, axis=0)
                    row |= {f"median, noise {noise}": np.median(found), f"sd, noise {noise}": found.std()}
                rows.append({**row, "draws": DRAWS})
    return pd.DataFrame(rows).round(4)


def machines(setting, draws=15):
    """Median distance in norms of the private table's machine, at ε = 0.1."""
    rng, n, E = np.random.default_rng(0), setting.n, setting.E
    exact = balanced_minimiser(setting.D, E, LAMBDA)
    options = {"calibration": "published", "draws": draws, "rng": rng}
    theirs = release_balanced_output(exact, EPSILON, LAMBDA, setting.features, n, **options)
    rule = public_reg_lambda(E, setting.features, EPSILON, n, "moments")
    sums = release_sums(setting.D.sum(axis=0), EPSILON, setting.features, draws=draws, rng=rng)
    weights = {
        "unweighted": [np.full(len(E), 1 / len(E))],
        "Algorithm 1, no noise": [softmax(E @ exact)],
        "Algorithm 1": [softmax(E @ beta) for beta in theirs],
        "moments, λ by the rule": [softmax(E @ moment_minimiser(E, m / n, rule)) for m in sums],
        "moments, λ = 0.1": [softmax(E @ moment_minimiser(E, m / n, LAMBDA)) for m in sums],
    }
    again, rows = [rng.integers(n, size=n) for _ in range(3)], []
    for coding in ("all columns", "first left out", "most frequent left out"):
        columns = setting.kept(coding) & setting.inputs
        for loss in ("squared_hinge", "hinge"):
            for strength in (1.0, 0.3, 0.1, 0.03, 0.01, 1 / (0.3 * n)):

                def train(X, y, w=None, columns=columns, loss=loss, strength=strength):
                    model = LinearSVC(loss=loss, C=1 / (strength * n), fit_intercept=False, dual=loss == "hinge",
                                      max_iter=3000, random_state=0)  # fmt: skip
                    return model.fit(X[:, columns], y, sample_weight=w).coef_[0]

                own = train(setting.D, setting.rich)
                norm = np.linalg.norm(own)
                row = {"columns": coding, "loss": loss, "Λ": round(strength, 6), "norm": norm}
                far = [np.linalg.norm(train(setting.D[i], setting.rich[i]) - own) for i in again]
                row["another bootstrap"] = np.median(far) / norm
                for name, some in weights.items():
                    some = some if strength > 0.001 else some[:4]
                    found = [np.linalg.norm(train(E, setting.rich_public, n * w) - own) for w in some]
                    row[name] = np.median(found) / norm
                rows.append(row)
    return pd.DataFrame(rows).round(4)


def intervals(_setting, n_queries=300, draws=1):
    """Coverage of 95 % intervals for the private table's own answers, their median width, and the error."""
    rows = []
    for name in ("adult", "census"):
        setting = Setting(name)
        rng, public = np.random.default_rng(3), setting.two.public
        names = setting.features.names
        queries = [(rng.choice(len(names), 3, replace=False), rng.integers(len(public))) for _ in range(n_queries)]

        def answers(table, names=names, queries=queries, public=public):
            columns = {c: table[c].to_numpy() for c in names}
            asked = [[(names[a], public[names[a]].iloc[row]) for a in some] for some, row in queries]
            return np.array([np.logical_and.reduce([columns[c] == v for c, v in q]) for q in asked], dtype=float)

        on_public, truth = answers(public), answers(setting.two.private).mean(axis=1)
        for epsilon in (0.1, 0.3, 1.0, 3.0):
            for pairs in (0, "public", 3):
                inside, widths, errors = [], [], []
                for seed in range(draws):
                    model = ImportanceWeights(epsilon, method="moments", pairs=pairs, schema=setting.two.schema,
                                              random_state=seed)  # fmt: skip
                    table = model.fit(setting.two.private, public).weighted(public)
                    found = [table.interval(b) for b in on_public]
                    inside += [i.lower <= t <= i.upper for i, t in zip(found, truth, strict=True)]
                    widths += [i.upper - i.lower for i in found]
                    errors.append(np.abs(on_public @ table.shares - truth).mean())
                row = {"data": name, "epsilon": epsilon, "pairs": pairs, "used": len(model.pairs_)}
                row |= {"coverage": np.mean(inside), "width": np.median(widths), "error": np.mean(errors)}
                rows.append({**row, "queries": n_queries, "draws": draws})
    return pd.DataFrame(rows).round(5)


PARTS = {"readings": readings, "machines": machines, "intervals": intervals}


if __name__ == "__main__":
    run_parts("publishing_importance_search", PARTS, Setting)
