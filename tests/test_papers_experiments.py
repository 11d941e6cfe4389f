"""Experiments of the five papers: each with one draw, parts with a known result, and the command."""

import functools
import itertools
import math
import re
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from small_tables import small_readers

from benchmarks.papers import EXPERIMENTS, Measured
from benchmarks.papers.__main__ import main
from benchmarks.papers.antonova_scaling import Stream, _coefficients, streamed_minimisers
from benchmarks.papers.boyd import local_bounds, smooth_bound
from benchmarks.papers.splits import Found, runs
from benchmarks.papers.su import expected_correct, three_classes
from benchmarks.papers.zafarani_clifton import folds, generated
from dpml.classifiers.linear import minimiser
from dpml.classifiers.linear.functional import taylor_coefficients
from dpml.datasets import READERS, load
from dpml.exceptions import DataNotFound
from dpml.studies import non_private_mixed_nb

# without those of the generated tables with D > 100, which take minutes
ITEMS = [(paper, item) for paper, items in EXPERIMENTS.items() for item in items if not item.endswith("-large")]


@pytest.fixture
def small_tables(monkeypatch):
    """Load small made-up tables in the place of the papers' data."""
    for name, reader in small_readers().items():
        monkeypatch.setitem(READERS, name, reader)
    monkeypatch.setattr("benchmarks.papers.su.SIZES", (500,))


@pytest.mark.parametrize(("paper", "item"), ITEMS)
def test_each_experiment_runs_with_one_draw_on_small_tables(paper, item, small_tables):
    rows = list(EXPERIMENTS[paper][item](1, 0))
    assert rows
    assert len({row.setting for row in rows}) == len(rows)
    for row in rows:
        assert isinstance(row, Measured)
        assert row.setting
        assert not np.isnan(row.ours)
        assert row.runs >= 1


@pytest.mark.parametrize(("name", "splits"), [("newsgroup1", 3), ("xwindows", 1)])
def test_runs_draw_their_own_split_unless_the_file_states_one(name, splits, small_tables):
    parts, data = [part for part, _ in runs(name, 3, 0)], load(name)
    assert len({np.asarray(part.X_test.sum(axis=0)).tobytes() for part in parts}) == splits
    for part in parts:
        assert (len(part.y_train), len(part.y_test)) == (len(data.y_train), len(data.y_test))
        assert part.X_train.sum() + part.X_test.sum() == data.X_train.sum() + data.X_test.sum()


def test_models_of_a_run_count_once_and_gains_are_paired():
    found = Found()
    for hard in (0.0, 0.2):
        found.add("a", [0.5 + hard, 0.7 + hard])
        found.add("b", [0.4 + hard, 0.6 + hard])
    row = found.row("a")
    assert row.runs == 2
    assert (row.ours, row.standard_error) == pytest.approx((70, 10))
    gain = found.gain("a over b", "a", "b")
    assert (gain.ours, gain.standard_error) == pytest.approx((10, 0), abs=1e-9)
    assert found.best("ab") == "a"


@pytest.mark.data
def test_one_feature_of_mushrooms_is_better_than_all():
    rows = {row.setting: row.ours for row in islice(EXPERIMENTS["antonova-2016"]["fig-4.2"](5, 0), 60)}
    # the fixed best feature classifies 88 % alone; Antonova (2016) prints 50 for all features
    assert rows["mushrooms, T = 1, true mutual information"] > 85


def test_expected_correct_records_agree_with_draws():
    counts, rng = np.array([[7, 2, 0], [4, 2, 5]]), np.random.default_rng(0)
    noisy = counts + rng.laplace(scale=2.0, size=(200_000, 2, 3))
    won = np.where(noisy[:, 0] > noisy[:, 1], counts[0], counts[1]).sum(axis=1)
    # five standard errors
    assert expected_correct(counts, 0.5) == pytest.approx(won.mean(), abs=5 * won.std() / np.sqrt(len(won)))


def test_streamed_minimisers_are_those_of_the_table_in_memory(monkeypatch):
    monkeypatch.setattr("benchmarks.papers.antonova_scaling.KEPT_CELLS", 0)
    monkeypatch.setattr("benchmarks.papers.antonova_scaling.BLOCK_CELLS", 1000)
    stream = Stream(500, 4, "record", 1)
    blocks = list(stream.blocks())
    X, codes = (np.concatenate(part) for part in zip(*blocks, strict=True))
    assert len(blocks) == 2
    X, lambdas = X.astype(float) * (1 - 1e-6), np.array([5.0, 9.0])
    expected = [minimiser(X, 2.0 * codes - 1, reg_lambda) for reg_lambda in lambdas]
    np.testing.assert_allclose(streamed_minimisers(stream, lambdas, np.zeros((2, 4))), expected, atol=1e-3)
    ours, exact = _coefficients(stream), taylor_coefficients(X, codes)
    np.testing.assert_allclose(ours.linear, exact.linear, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(ours.quadratic, exact.quadratic, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("kind", ["area", "precision"])
def test_one_record_moves_an_area_within_its_bounds(kind):
    """All tables of up to six records with scores 0 to 2, which have ties, and each record that can be added."""
    cells = list(itertools.product((0, 1), range(3)))

    @functools.cache
    def of_sorted(table):
        labels, scores = np.array(table).T
        if kind == "precision":
            return average_precision_score(labels, scores) if labels.any() else 0.0
        return roc_auc_score(labels, scores) if 0 < labels.sum() < len(labels) else 0.5

    def value(table):
        return of_sorted(tuple(sorted(table)))

    def count(table):
        positives = sum(label for label, _ in table)
        return positives if kind == "precision" else min(positives, len(table) - positives)

    bounds, share = local_bounds(kind, 6), 0.0
    for size in range(1, 6):
        for table in itertools.combinations_with_replacement(cells, size):
            for record in cells:
                change = abs(value(table) - value((*table, record)))
                for bound in (bounds[count(table)], bounds[count((*table, record))]):
                    assert change <= bound + 1e-12
                    share = max(share, change / bound)
    assert share == pytest.approx(1)


def test_a_smooth_bound_of_an_area_is_smooth_and_large_enough():
    for kind, beta in itertools.product(("area", "precision"), (0.01, 0.1, 1.0)):
        smooth = [smooth_bound(kind, n, beta) for n in range(80)]
        assert (smooth >= local_bounds(kind, 79) * (1 - 1e-12)).all()
        assert np.abs(np.diff(np.log(smooth))).max() <= beta * (1 + 1e-9)


@pytest.mark.data
def test_weights_correct_the_table_that_privpfc_publishes():
    rows = {row.setting: row.ours for row in EXPERIMENTS["ji-elkan-2013"]["claim-synthetic"](1, 0)}
    at = "single values, ε = 1, PrivPfC's table"
    # columns that the grid does not tell apart are uniform, and their weighted shares have noise of a thousandth
    assert rows[f"{at} with weights by noisy sums"] < 1 < 5 < rows[at]


@pytest.mark.data
@pytest.mark.parametrize(("name", "gone", "new"), [("adult", "marital-status", "income"), ("bank", "poutcome", "y")])
def test_encoding_of_three_classes_has_the_old_label(name, gone, new):
    data = three_classes(name)
    blocks = [feature.block for feature in data.binary.features]
    assert gone not in blocks
    assert blocks.count(new) == 2
    # each record has one value of each attribute
    np.testing.assert_array_equal(data.X.sum(axis=1), data.binary.row_bound)
    np.testing.assert_array_equal(np.array(data.schema.classes, dtype=object)[data.codes], data.label)
    of_class = data.X[:, [f.name for f in data.binary.features].index(f"{new}={data.frame[new].iloc[0]}")]
    np.testing.assert_array_equal(of_class == 1, data.frame[new] == data.frame[new].iloc[0])


@pytest.mark.parametrize("telling", ["numbers", "categories"])
def test_one_kind_of_generated_columns_tells_the_classes_apart(telling):
    fold = next(folds(generated(telling, 0), 10, 0))
    names = fold.frame.columns[:-1]
    alone = {
        kind: non_private_mixed_nb(fold, columns=[n for n in names if n.startswith(kind)])["accuracy"]
        for kind in ("number", "category")
    }
    # the best classifier of five means that are one deviation apart is right for Φ(√5/2), 86.8 %
    assert alone.pop(telling[:-1] if telling == "numbers" else "category") == pytest.approx(0.868, abs=0.04)
    # five standard errors of guessing 1,000 records
    assert alone.popitem()[1] == pytest.approx(0.5, abs=0.08)


# ---- the command ------------------------------------------------------------------------------------------------


@pytest.fixture
def experiment(monkeypatch):
    """Replace the experiment of one item by one that takes no time."""

    def rows(draws, random_state):
        yield Measured(f"{random_state} and more", 0.5, 0.25, 0.125, draws)
        yield Measured("once", None, 1.0, math.nan, 1)

    monkeypatch.setitem(EXPERIMENTS["antonova-2016"], "fig-4.2", rows)


def test_command_without_a_paper_lists_all_experiments(capsys):
    main([])
    printed = capsys.readouterr().out
    for paper, keys in EXPERIMENTS.items():
        assert f"{paper}\n" in printed
        assert all(re.search(rf"^  {re.escape(key)} +\S", printed, re.MULTILINE) for key in keys)


def test_command_prints_a_measured_item(capsys, experiment):
    main(["antonova-2016", "fig-4.2", "--draws", "3", "--seed", "7"])
    printed = capsys.readouterr().out
    assert printed.startswith("antonova-2016 fig-4.2: 3 draws, seed 7")
    assert "  7 and more: 0.25 (0.12), 3 runs, the paper 0.5\n  once: 1, 1 run\n" in printed


def test_command_measures_all_papers_and_names_missing_data(capsys, monkeypatch):
    def rows(draws, random_state):
        yield Measured("coin", None, 0.5, 0.1, draws)

    def without_data(draws, random_state):
        raise DataNotFound("adult.data is missing")
        yield

    chosen = {"su-2018": {"fig-3": without_data, "fig-4": rows}, "stoddard-2014": {"fig-2": rows}}
    monkeypatch.setattr("benchmarks.papers.__main__.EXPERIMENTS", chosen)
    with pytest.raises(SystemExit, match="1 of 3 experiments lack their data"):
        main(["--all", "--draws", "2"])
    captured = capsys.readouterr()
    assert captured.out.count("coin: 0.5 (0.1), 2 runs") == 2
    assert "error: adult.data is missing" in captured.err


def test_command_writes_results_below_its_own_words(experiment, monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarks.result_files.FOLDER", tmp_path)
    main(["antonova-2016", "fig-4.2", "--draws", "3", "--results"])
    [file] = tmp_path.iterdir()
    assert file.name == "paper_antonova-2016_fig-4.2.csv"
    head = file.read_text(encoding="utf-8").splitlines()[0]
    command = "python -m benchmarks.papers antonova-2016 fig-4.2 --draws 3 --seed 0 --results"
    assert head.startswith(f"# {command}; recorded ")
    table = pd.read_csv(file, comment="#")
    assert list(table.columns) == list(Measured._fields)
    assert table["ours"].tolist() == [0.25, 1.0]


def test_stored_results_name_a_command_that_exists():
    files = sorted((Path(__file__).parents[1] / "benchmarks" / "results").glob("paper_*.csv"))
    assert len(files) >= 40
    for file in files:
        head = file.read_text(encoding="utf-8").splitlines()[0]
        found = re.match(
            r"# python -m benchmarks\.papers (\S+) (\S+) --draws \d+ --seed \d+ --results; recorded ", head
        )
        assert found, file.name
        assert found[2] in EXPERIMENTS[found[1]]
        assert file.stem == f"paper_{found[1]}_{found[2]}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["antonova"], "`PAPER` must be one of antonova-2016, .*Got 'antonova'"),
        (["su-2018", "fig-3", "--draws", "0"], "`draws` must be .*Got 0"),
        (["su-2018", "--all"], "`--all` must be given without PAPER"),
    ],
)
def test_command_rejects_wrong_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    captured = capsys.readouterr()
    assert re.search(message, captured.err)
    assert captured.out == ""
