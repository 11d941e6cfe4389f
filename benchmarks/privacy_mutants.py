"""Break privacy in one place at a time: do the module's tests notice, and does ``python -m dpml audit``?

``python -m benchmarks.privacy_mutants`` copies a commit into a temporary worktree, replaces one piece of source there
and runs the tests of the module and the audit of its methods. ``--commit`` chooses the commit, ``--only`` some mutants.
Unlike `tests/mutants`, which applies rules to every function, this is a list of faults that a person may make.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "-m", "not long and not full and not browser"]


class Mutant(NamedTuple):
    """One fault: the file below dpml, the source before and after, the module's tests, and methods of the catalogue."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    methods: str


MECHANISMS = "mechanisms mechanisms_noise mechanisms_tails mechanisms_boundary mechanisms_boundary_losses"
SECURE = "mechanisms_secure"
COLUMNS = "mechanisms_columns"
LIMITED = "selection_limited_domain"
PREDICTION = "classifiers_private_prediction_linear"
MUTANTS = (
    # ---- noise
    Mutant("Laplace noise is drawn at half its scale", "mechanisms/laplace.py", "scale=self.scale, size", "scale=self.scale / 2, size", MECHANISMS, "laplace"),
    Mutant("the Laplace scale is halved", "mechanisms/laplace.py", "return self.sensitivity / self.epsilon", "return self.sensitivity / self.epsilon / 2", MECHANISMS, "laplace"),
    Mutant("geometric noise is drawn at 2ε", "mechanisms/discrete.py", "success = -math.expm1(-self.epsilon / self.sensitivity)", "success = -math.expm1(-2 * self.epsilon / self.sensitivity)", MECHANISMS, "geometric"),
    Mutant("geometric noise is never negative", "mechanisms/discrete.py", "rng.geometric(success, shape) - rng.geometric(success, shape)", "rng.geometric(success, shape) - 1", MECHANISMS, "geometric"),
    Mutant("the staircase has its high step too often", "mechanisms/discrete.py", "rng.random(shape) < g / (g + b * (1 - g))", "rng.random(shape) < (1 + g) / 2", MECHANISMS, "staircase"),
    Mutant("normal noise is drawn at 0.8σ", "mechanisms/gaussian.py", "rng.normal(scale=self.scale", "rng.normal(scale=0.8 * self.scale", MECHANISMS, "gaussian"),
    Mutant("Gaussian noise for 10δ", "mechanisms/gaussian.py", "gaussian_sigma(self.epsilon, self.delta, self.sensitivity)", "gaussian_sigma(self.epsilon, 10 * self.delta, self.sensitivity)", MECHANISMS, "gaussian"),
    Mutant("the norm's gamma noise has one dimension less", "mechanisms/norm.py", "rng.gamma(self.dimension, self.scale", "rng.gamma(self.dimension - 1, self.scale", MECHANISMS + " mechanisms_norm", "norm-gamma"),
    Mutant("one-hot noise has one dimension less", "mechanisms/one_hot.py", "rng.gamma(self.dimension + 1, self.scale", "rng.gamma(self.dimension, self.scale", "mechanisms_one_hot", "one-hot-norm"),
    Mutant("Laplace noise is skipped where all values are 0", "mechanisms/laplace.py", "        noise += statistic\n", "        noise += statistic\n        noise[~np.asarray(statistic).any(axis=-1)] = 0.0\n", MECHANISMS, "laplace"),
    Mutant("blocks are assigned in turn", "mechanisms/aggregate.py", 'where = boundary.public_randomness(own, "integers", self.blocks, size=number_of(records))', "where = np.arange(len(records)) % self.blocks", "mechanisms", "sample-and-aggregate"),
    Mutant("the noise of sample and aggregate is halved", "mechanisms/aggregate.py", "/ (self.blocks * self.epsilon)", "/ (2 * self.blocks * self.epsilon)", "mechanisms", "sample-and-aggregate"),
    # ---- choice
    Mutant("the weight of a choice is doubled", "mechanisms/choice.py", "return self.epsilon / self.change_range", "return 2 * self.epsilon / self.change_range", "mechanisms_choice mechanisms", "exponential"),
    Mutant("Gumbel noise is halved", "mechanisms/choice.py", "(rng.gumbel(size=statistic.shape) + statistic).argmax", "(rng.gumbel(size=statistic.shape) / 2 + statistic).argmax", "mechanisms_choice mechanisms", "exponential"),
    Mutant("exponential noise of a choice is halved", "mechanisms/choice.py", "noisy = rng.standard_exponential(statistic.shape)", "noisy = rng.standard_exponential(statistic.shape) / 2", "mechanisms_choice mechanisms", "permute-and-flip"),
    Mutant("the threshold of sparse vector has no noise", "mechanisms/sparse_vector.py", "cut = rng.laplace(scale=rho, size=(len(statistic), 1))", "cut = np.zeros((len(statistic), 1))", "mechanisms", "sparse-vector above-threshold"),
    Mutant("sparse vector treats all queries as monotone", "mechanisms/sparse_vector.py", "factor = self.cutoff if self.monotone else 2 * self.cutoff", "factor = self.cutoff", "mechanisms", "sparse-vector above-threshold"),
    Mutant("a likelihood's range is not doubled under replace-one", "mechanisms/choice.py", 'width if self.relation == "add-remove" else 2 * width', "width", "mechanisms_choice mechanisms", "clamped-likelihood"),
    # ---- secure noise
    Mutant("secure integer noise is cut at ten scales", "mechanisms/secure.py", "return np.asarray(self._measurement(_opendp())(flat), dtype=np.int64).reshape(statistic.shape)", "noisy = np.asarray(self._measurement(_opendp())(flat), dtype=np.int64)\n        if self.scale > 1e9:\n            return noisy.reshape(statistic.shape)\n        far = math.ceil(10 * self.scale)\n        return np.clip(noisy, flat - far, flat + far).reshape(statistic.shape)", SECURE, "secure-integer-laplace"),
    Mutant("secure noise is skipped where all values are 0", "mechanisms/secure.py", "        flat = np.array(statistic).ravel()", "        if not np.any(statistic):\n            return statistic\n        flat = np.array(statistic).ravel()", SECURE, "secure-integer-laplace"),
    Mutant("the secure scale is halved", "mechanisms/secure.py", '"sensitivity", 1)) / Fraction(epsilon)', '"sensitivity", 1)) / Fraction(epsilon) / 2', SECURE, "secure-integer-laplace"),
    Mutant("secure noise is drawn at half its scale", "mechanisms/secure.py", "dp.m.make_laplace(*space, scale=self.scale)", "dp.m.make_laplace(*space, scale=self.scale / 2)", SECURE, "secure-integer-laplace"),
    Mutant("discrete Gaussian noise is drawn at 0.8σ", "mechanisms/secure.py", "dp.m.make_gaussian(*space, scale=self.scale)", "dp.m.make_gaussian(*space, scale=0.8 * self.scale)", SECURE, "secure-discrete-gaussian"),
    Mutant("secure noisy max draws at half its scale", "mechanisms/secure.py", "make_noisy_max(*space, measure, scale=self.scale)", "make_noisy_max(*space, measure, scale=self.scale / 2)", SECURE, "secure-noisy-max"),
    # ---- columns
    Mutant("equal quantiles pay one share", "mechanisms/columns/quantiles.py", "equal_share(epsilon, len(shares))", "equal_share(epsilon, len(set(shares)))", COLUMNS, "private-quantiles"),
    Mutant("the range of a quantile is that of the median", "mechanisms/columns/quantiles.py", "return 2 * max(q, 1 - q) if", "return 1.0 if", COLUMNS, "private-quantiles"),
    Mutant("the range of a quantile is 1 under replace-one", "mechanisms/columns/quantiles.py", 'if relation == "add-remove" else 2.0', 'if relation == "add-remove" else 1.0', COLUMNS, "private-quantiles"),
    Mutant("a quantile counts the smallest number twice", "mechanisms/columns/quantiles.py", "numbers = np.sort(np.clip(numbers[~np.isnan(numbers)], points[0], points[-1]))", "numbers = np.sort(np.clip(numbers[~np.isnan(numbers)], points[0], points[-1]))\n        numbers = np.append(numbers[:1], numbers)".replace("\n        ", "\n    "), COLUMNS, "private-quantiles"),
    Mutant("bounds are noised for add-remove alone", "mechanisms/columns/bounds.py", "counts(exact, epsilon, FACTOR[relation])", "counts(exact, epsilon, 1)", COLUMNS, "private-bounds"),
    Mutant("empty cells of bounds get no noise", "mechanisms/columns/bounds.py", "    scale = FACTOR[relation] / epsilon\n", "    from dpml.mechanisms.private import opened\n    noisy = np.where(opened(exact) == 0, 0.0, noisy)\n    scale = FACTOR[relation] / epsilon\n", COLUMNS, "private-bounds"),
    Mutant("bounds of an empty column are not drawn", "mechanisms/columns/bounds.py", "    noisy = Source(rng, release).counts(exact, epsilon, FACTOR[relation])\n", "    from dpml.mechanisms.private import opened\n    noisy = opened(exact)\n    if noisy.any():\n        noisy = Source(rng, release).counts(exact, epsilon, FACTOR[relation])\n", COLUMNS, "private-bounds"),
    Mutant("a category's threshold is one too low", "mechanisms/columns/categories.py", "return 2 + int(self.noise", "return 1 + int(self.noise", COLUMNS, "private-categories"),
    Mutant("a category's threshold is for 4δ", "mechanisms/columns/categories.py", "tail_size(2 * self.delta *", "tail_size(8 * self.delta *", COLUMNS, "private-categories"),
    Mutant("a category below the threshold is released", "mechanisms/columns/categories.py", "if count >= self.threshold}", "if count >= self.threshold - 3}", COLUMNS, "private-categories"),
    Mutant("noise of categories is drawn at half its scale", "mechanisms/columns/categories.py", "self.noise._sample(counts, rng)", "Geometric(2 / self.scale)._sample(counts, rng)", COLUMNS, "private-categories"),
    Mutant("categories are in the order of their exact counts", "mechanisms/columns/categories.py", "for text in sorted(counts)", "for text in sorted(counts, key=lambda text: (-counts[text], text))", COLUMNS, "private-categories"),
    Mutant("a threshold that ignores replace-one", "mechanisms/columns/categories.py", "integer_scale(self.epsilon, FACTOR[self.relation])", "integer_scale(self.epsilon, 1)", COLUMNS, "private-categories"),
    Mutant("δ is not divided among columns of texts", "mechanisms/columns/facts.py", "equal_share(delta, max(len(texts), 1))", "delta", COLUMNS, "private-facts"),
    Mutant("ε is divided among the columns of numbers alone", "mechanisms/columns/facts.py", "equal_share(epsilon, len(numbers) + len(texts))", "equal_share(epsilon, max(len(numbers), 1))", COLUMNS, "private-facts"),
    # ---- selection
    Mutant("limited domain with m = T", "selection/limited_domain.py", "m = min(self.limit, scores.size - self.limit)", "m = self.n_features", LIMITED, "top-limited-domain"),
    Mutant("limited domain without ε' in its threshold", "selection/limited_domain.py", "+ self.each + math.log(m / self.stopping)", "+ math.log(m / self.stopping)", LIMITED, "top-limited-domain"),
    Mutant("the threshold of a limited domain has no noise", "selection/limited_domain.py", "noisy > rng.gumbel(size=(self.draws, 1))", "noisy > 0.0", LIMITED, "top-limited-domain"),
    Mutant("one shot pays for one feature", "selection/top.py", "weight / T), check_rng(rng))", "weight), check_rng(rng))", "selection_top", "top-one-shot"),
    Mutant("noise of one shot is halved", "selection/top.py", "noise = rng.standard_exponential((self.draws, statistic.size))", "noise = rng.standard_exponential((self.draws, statistic.size)) / 2", "selection_top", "top-one-shot"),
    Mutant("noise of peeling is halved", "selection/top.py", "rng.gumbel(size=(self.draws, statistic.size))", "rng.gumbel(size=(self.draws, statistic.size)) / 2", "selection_top", "top-peeling top-peeling-delta"),
    Mutant("choices with δ get twice their ρ", "mechanisms/choice.py", "math.sqrt(8 * zcdp_rho", "math.sqrt(16 * zcdp_rho", "selection_top mechanisms_choice", "top-peeling-delta"),
    Mutant("each choice with δ gets all of δ", "selection/limited_domain.py", "zcdp_rho(left, delta / 2) / T", "zcdp_rho(left, delta) / T", LIMITED, "top-limited-domain"),
    # ---- classifiers
    Mutant("parts of PrivatePredictionLR are assigned in turn", "classifiers/linear/private_prediction.py", 'part = boundary.public_randomness(own, "integers", parts, size=number_of(Z))', "from dpml.mechanisms.private import Private, opened\n        part = Private(np.arange(opened(Z).shape[0]) % parts)", PREDICTION, "logistic-private-prediction-votes"),
    Mutant("a vote changes one count alone", "classifiers/linear/private_prediction.py", "    return 2.0\n", "    return 1.0\n", PREDICTION, "logistic-private-prediction-votes"),
    Mutant("equal queries are answered once", "classifiers/private_prediction.py", "charge(self.budget, self.relation, n * epsilon", "charge(self.budget, self.relation, (1 if n else 0) * epsilon", PREDICTION + " classifiers_private_prediction", ""),
    Mutant("parts of partitioned naive Bayes are assigned in turn", "classifiers/naive_bayes/partition.py", 'part = boundary.public_randomness(own, "integers", D, size=n)', "from dpml.mechanisms.private import Private, opened\n        part = Private(np.arange(opened(n)) % D)", "classifiers_partition", "nb-partitioned"),
    Mutant("noise of naive Bayes for add-remove alone", "counts.py", "factor = FACTOR[check_relation(relation)]\n    class_epsilon", "factor = 1\n    class_epsilon", "classifiers_naive_bayes counts", "nb-row-bounded"),
    # ---- evaluation, tuning, publishing
    Mutant("an evaluation is noised for add-remove alone", "evaluation/histogram.py", "sensitivity = SENSITIVITY[relation] * (grid", "sensitivity = 1.0 * (grid", "evaluation_release evaluation_private", "evaluation"),
    Mutant("folds are assigned in turn", "evaluation/cross_validation.py", 'where = boundary.public_randomness(boundary.generator_of_parts(rng), "integers", n_folds, size=size)', "from dpml.mechanisms.private import Private, opened\n        where = Private(np.arange(opened(size)) % n_folds)", "evaluation_cross_validation", "cross-validation"),
    Mutant("candidates on one table pay one share", "tuning/plan.py", "train = equal_share(search, n)", "train = equal_share(search, 2)", "tuning_search tuning_private", "search-permute-and-flip"),
    Mutant("parts of a search are assigned in turn", "tuning/plan.py", 'boundary.public_randomness(boundary.generator_of_parts(rng), "random", size=n)', "_coins_in_turn(n)", "tuning_search tuning_private", "search-disjoint"),
    Mutant("the choice of a search has range 1 under replace-one", "tuning/plan.py", 'return 1 if check_relation(relation) == "add-remove" else 2', "return 1", "tuning_search tuning_private", "search-permute-and-flip"),
    Mutant("a grid's counts get all of ε beside the number of records", "publishing/tables/uniform.py", "noisy_grid(records, levels, for_counts,", "noisy_grid(records, levels, epsilon,", "publishing_uniform", "uniform-grid"),
    Mutant("marginals are noised as one", "publishing/graphical/marginals.py", "FACTOR[self.relation] * len(sets)\n        if", "FACTOR[self.relation]\n        if", "publishing_graphical publishing_graphical_delta", "mst mst-delta"),
    Mutant("an edge of a tree is chosen at half its range", "publishing/graphical/marginals.py", "2.0 * FACTOR[self.relation] * sensitivity)", "FACTOR[self.relation] * sensitivity)", "publishing_graphical publishing_graphical_delta", "mst mst-delta"),
    # ---- budget
    Mutant("the rest of ε is all of ε", "budget/shares.py", "    rest = epsilon - spent\n", "    return epsilon\n", "budget_shares budget", "nb-row-bounded"),
    Mutant("ρ is twice what (ε, δ) allows", "budget/conversion.py", "return Conversion.within(epsilon, delta).rho", "return 2 * Conversion.within(epsilon, delta).rho", "budget_conversion", "mst-delta aim-delta"),
)  # fmt: skip
# where a replacement calls a function that is not there
ADDED = {
    "tuning/plan.py": """

@statistic
def _coins_in_turn(n: Any) -> NDArray[np.float64]:
    return np.arange(n) % 10 / 10
"""
}


def run(command: list[str], folder: Path, seconds: int) -> tuple[int, str]:
    """Return how a command ended, and its last line; 124 if it took too long."""
    environment = os.environ | {"PYTHONPATH": f"{folder}:{folder / 'app'}", "OMP_NUM_THREADS": "1"}
    environment.pop("DPML_DATA", None)
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return 124, "took too long"
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode, lines[-1] if lines else ""


def judge(mutant: Mutant, folder: Path, seconds: int) -> dict[str, object]:
    """Apply one mutant in a worktree, run its tests and its audits, and undo it."""
    path = folder / "dpml" / mutant.file
    before = path.read_text()
    result: dict[str, object] = {"name": mutant.name}
    if before.count(mutant.old) != 1:
        return result | {"tests": f"does not apply: {before.count(mutant.old)} places", "audit": ""}
    added = ADDED.get(mutant.file, "") if "_in_turn" in mutant.new else ""
    path.write_text(before.replace(mutant.old, mutant.new) + added)
    try:
        tests = [f"tests/test_{name}.py" for name in mutant.tests.split()]
        if not tests:
            result["tests"] = "not run"
        else:
            status, line = run([sys.executable, "-m", "pytest", *OPTIONS, *tests], folder, seconds)
            result["tests"] = {0: "survived", 1: "killed", 124: "took too long"}.get(status, f"status {status}")
        found = []
        for method in mutant.methods.split():
            status, line = run([sys.executable, "-m", "dpml", "audit", method], folder, seconds)
            found.append(f"{method}: " + ("passes" if status == 0 else f"seen ({status})"))
        result["audit"] = "; ".join(found)
    finally:
        path.write_text(before)
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.privacy_mutants", description=__doc__)
    parser.add_argument("--commit", default="HEAD", help="the commit that is broken (default HEAD)")
    parser.add_argument("--only", default="", help="only mutants with this in their name")
    parser.add_argument("--audit-only", action="store_true", help="run no tests")
    parser.add_argument("--seconds", type=int, default=240, help="after which a command is too slow")
    parser.add_argument("--out", type=Path, help="a file to which one line of JSON a mutant is added")
    asked = parser.parse_args(arguments)
    chosen = [m for m in MUTANTS if asked.only in m.name]
    if asked.audit_only:
        chosen = [m._replace(tests="") for m in chosen]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "tree"
        subprocess.run(["git", "worktree", "add", "-q", "--detach", str(folder), asked.commit], cwd=ROOT, check=True)
        try:
            for mutant in chosen:
                begun = time.monotonic()
                result = judge(mutant, folder, asked.seconds)
                print(
                    f"{mutant.name}: {result['tests']} | {result['audit']}  {time.monotonic() - begun:.0f} s",
                    flush=True,
                )
                if asked.out:
                    with asked.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(result, ensure_ascii=False) + "\n")
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(folder)], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
