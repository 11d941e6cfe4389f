"""The map of the papers: every name, page, card, notebook and command in it exists, and every item has a row."""

import importlib.util
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dpml_app.page_list import PAGES

from benchmarks.papers import EXPERIMENTS, su_theory, zafarani_theory
from benchmarks.papers.antonova_features import WORDS
from benchmarks.papers.audits import AUDIT
from dpml.__main__ import main
from dpml.audit.cases import AUDITED
from dpml.exceptions import InvalidParameter
from dpml.papers import VERDICTS, Item, items, papers
from dpml.publishing.density_ratio import balanced_minimiser

ROOT = Path(__file__).parents[1]
ROWS = list(items())
NAMES = [f"{item.paper}/{item.key}" for item in ROWS]
MEASURE = "python -m benchmarks.papers "
each_row = pytest.mark.parametrize("item", ROWS, ids=NAMES)


def numbered(kind, *numbers):
    return {f"{kind}-{number}" for number in numbers}


# What is numbered in each paper, counted from its text: all lines that begin with "Definition", "Theorem", "Lemma",
# "Corollary", "Algorithm", "Figure", "Fig." or "Table" and a number, and all numbers of figures and tables that the
# text names (a caption is sometimes lost). The appendices count. Ji and Elkan's one definition has no number.
NUMBERED = {
    "antonova-2016": numbered("definition", "2.1.1", "2.1.2", "2.1.3", "2.6.1", "2.6.2")
    | numbered("theorem", "2.2.1", "2.2.2", "2.2.3", "2.3.1", "2.3.2", "2.3.3", "3.3.1", "4.3.1", "4.4.1")
    | numbered("algorithm", *range(1, 8))
    | numbered("fig", "2.1", *(f"3.{i}" for i in range(1, 19)), "4.1", "4.2", "a.1")
    | numbered("table", "2.1", "3.1", "3.2", "4.1", "4.2", "a.1", "a.2", "a.3", *(f"b.{i}" for i in range(1, 9))),
    "zafarani-clifton-2021": numbered("definition", *(f"2.{i}" for i in range(1, 6)), *(f"3.{i}" for i in range(1, 6)))
    | numbered("definition", "4.1", "4.2", "4.3")
    | numbered("theorem", *range(1, 11))
    | numbered("corollary", "5.1")
    | numbered("algorithm", 1)
    | numbered("fig", *range(1, 17))
    | numbered("table", 1),
    "stoddard-2014": numbered("definition", *range(1, 6))
    | numbered("theorem", *range(1, 4))
    | numbered("corollary", 1)
    | numbered("algorithm", *range(1, 5))
    | numbered("fig", *range(1, 9))
    | numbered("table", 1),
    "su-2018": numbered("definition", *range(1, 6))
    | numbered("lemma", *range(1, 4))
    | numbered("theorem", 1)
    | numbered("algorithm", 1, 2)
    | numbered("fig", *range(1, 14))
    | numbered("table", 1, 2),
    "ji-elkan-2013": numbered("definition", 1)
    | numbered("lemma", *range(1, 8))
    | numbered("theorem", *range(1, 4))
    | numbered("algorithm", 1)
    | numbered("fig", *range(1, 7)),
}
COUNTS = {"antonova-2016": 59, "zafarani-clifton-2021": 42, "stoddard-2014": 22, "su-2018": 26, "ji-elkan-2013": 18}


@pytest.mark.parametrize("paper", COUNTS)
def test_numbered_items_and_headline_claims_have_rows(paper):
    keys = [item.key for item in items(paper)]
    assert len(NUMBERED[paper]) == COUNTS[paper]
    claims = {key for key in keys if key.startswith("claim-")}
    assert set(keys) == NUMBERED[paper] | claims
    assert len(claims) >= 3


def test_all_papers_are_there_with_all_experiments():
    assert {paper.key for paper in papers()} == set(COUNTS)
    measured = {(r.paper, r.key) for r in ROWS if r.command.startswith((MEASURE, AUDIT))}
    assert measured == {(paper, key.removesuffix("-large")) for paper, keys in EXPERIMENTS.items() for key in keys}


@each_row
def test_a_row_is_complete_and_names_what_exists(item):
    assert item.verdict in VERDICTS
    for text in (item.title, item.printed, item.ours, item.why, item.command):
        assert text.strip()
    assert item.why.endswith(".")
    assert item.names
    assert all(callable(named(name)) for name in item.names)
    if item.card:
        page, card = item.card.split("/")
        assert card in [kind.name for kind in PAGES[page].kinds]
    assert not item.notebook or (ROOT / "notebooks" / f"{item.notebook}.ipynb").is_file()
    assert exists(item.command)
    if item.command.startswith(MEASURE):
        assert item.command == f"{MEASURE}{item.paper} {item.key}"


# the sets that each paper measures
SETS = {
    "antonova-2016": ("xwindows", "mushrooms", "adult", "newsgroup1", "newsgroup2", "newsgroup3"),
    "stoddard-2014": ("SMS", "TWITTER", "REUTERS"),
    "su-2018": ("adult", "bank", "US", "BR"),
    "ji-elkan-2013": ("adult",),
    "zafarani-clifton-2021": ("adult", "mushroom", "glass", "seeds", "skin", "1940"),
}


@each_row
def test_a_refusal_names_the_procedure_and_the_sets_not_tried(item):
    stated = (item.tried, item.untried, item.would_change)
    assert all(stated) or not any(stated)
    if item.verdict == "does not hold":
        assert all(text.endswith(".") for text in stated)
    if item.tried:
        # the paper's own procedure by its place in the paper
        assert re.search(r"as printed|as stated|([Aa]lgorithm|[Ss]ection|Theorem|line|eq\.)s? \d", item.tried)
    names = {name: re.compile(rf"\b{name}", re.IGNORECASE if name.islower() else 0) for name in SETS[item.paper]}
    if any(name.search(item.tried) for name in names.values()):
        assert [key for key, name in names.items() if not name.search(f"{item.tried} {item.untried}")] == []


@pytest.mark.parametrize(
    "name",
    [
        "antonova-2016/algorithm-6",
        "antonova-2016/claim-redraw",
        "ji-elkan-2013/algorithm-1",
        "stoddard-2014/claim-noisycut",
        "su-2018/theorem-1",
        "zafarani-clifton-2021/theorem-2",
        "zafarani-clifton-2021/theorem-9",
    ],
)
def test_a_row_states_the_cost_that_its_command_prints(name):
    """Output perturbation stated ε/2, and its command printed a half of it."""
    paper, key = name.split("/")
    found = [measured.ours for measured in EXPERIMENTS[paper][key](1, 0)]
    stated = re.findall(r"\d+\.(\d+)", ROWS[NAMES.index(name)].ours)
    shown = {f"{cost:.{len(digits)}f}" for cost in found for digits in stated}
    assert shown.intersection(re.findall(r"\d+\.\d+", ROWS[NAMES.index(name)].ours))


def named(path):
    """Return the object of a dotted path; a function goes before a module of its name."""
    found, reached = None, ""
    for part in path.split("."):
        reached = f"{reached}.{part}" if reached else part
        found = getattr(found, part) if hasattr(found, part) else importlib.import_module(reached)
    return found


def exists(command):
    """Return whether a command of the map can be given."""
    words = command.split()
    if command.startswith(MEASURE):
        paper, key = words[3:]
        return key in EXPERIMENTS[paper]
    if command.startswith("python -m dpml audit"):
        names = words[4 : words.index("--relation") if "--relation" in words else None]
        return bool(names) and set(names) <= set(AUDITED)
    if command.startswith("python -m benchmarks."):
        return (ROOT / "benchmarks" / f"{words[2].partition('.')[2]}.py").is_file()
    path, _, test = words[1].partition("::")
    if not (ROOT / path).is_file():
        return False
    text = (ROOT / path).read_text(encoding="utf-8")
    return f"def {test}(" in text if words[0] == "pytest" and test else all(part in text for part in words[2:])


def test_a_verdict_is_one_of_four():
    with pytest.raises(InvalidParameter, match=r"`verdict` must be .*Got 'not tried'"):
        Item("antonova-2016", "fig-9", "", (), "", "", "", "not tried", "")


# of another script: two methods of five folds
OTHERS = {"su-2018/fig-4": ["20.2 (0.3)", "11.4 (0.4)"]}


@each_row
def test_numbers_with_an_error_are_those_of_the_stored_results(item):
    files = [ROOT / f"benchmarks/results/paper_{item.paper}_{item.key}{part}.csv" for part in ("", "-large")]
    stored = [row for file in files if file.is_file() for row in pd.read_csv(file, comment="#").itertuples()]
    if not stored:
        return
    strange = []
    for words, number, error in re.findall(r"(([+-]?[\d.]+) \((\.\d+|\d+\.\d+)\))", item.ours):
        digits = [len(text.partition(".")[2]) for text in (number, error)]
        near = [
            abs(abs(row.ours) - abs(float(number))) <= 0.501 * 10 ** -digits[0]
            and abs(row.standard_error - float(error)) <= 0.501 * 10 ** -digits[1]
            for row in stored
        ]
        if not any(near):
            strange.append(words)
    assert strange == OTHERS.get(f"{item.paper}/{item.key}", [])


def test_pictures_of_claims_are_of_the_stored_results():
    found = importlib.util.spec_from_file_location("draw_papers", ROOT / "docs" / "draw_papers.py")
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    pictures = [make() for make in script.PICTURES]
    text = script.PAGE.read_text(encoding="utf-8")
    assert script.section(pictures) == text.split(script.START)[1].split(script.END)[0], "python docs/draw_papers.py"
    for picture in pictures:
        drawn = (script.FOLDER / f"{picture.name}.svg").read_text(encoding="utf-8")
        assert script.drawn(picture) == drawn, "python docs/draw_papers.py"
        assert picture.alt in drawn
        # a standard error for each caption's number of the library
        assert re.search(r"\d \(\d+\.\d+\)", picture.caption)
    names = {picture.name.partition("-")[0] for picture in pictures}
    assert names == {paper.key.partition("-")[0] for paper in papers()}


# ---- the command ------------------------------------------------------------------------------------------------


def test_without_arguments_every_row_has_its_verdict(capsys):
    assert main(["papers"]) == 0
    printed = capsys.readouterr().out.splitlines()
    for item in ROWS:
        assert any(re.match(rf"  {re.escape(item.key)} +{item.verdict} +{re.escape(item.title)}$", x) for x in printed)
    assert sum(int(found[1]) for line in printed if (found := re.match(r"  (\d+) rows: ", line))) == len(ROWS) >= 120


def test_an_item_is_printed_with_its_command(capsys):
    assert main(["papers", "antonova-2016", "fig-4.2"]) == 0
    printed = capsys.readouterr().out
    for words in (
        "does not hold. ",
        "dpml.studies.SelectedLogisticStudy",
        "explore/cost",
        "12_selection_and_a_linear_model.ipynb",
        "python -m benchmarks.papers antonova-2016 fig-4.2\n  The command needs a checkout",
    ):
        assert words in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["papers", "s"], "`paper` must be the beginning of one of antonova-2016, "),
        (["papers", "antonova-2016", "fig-9.9"], "`item` must be .*Got 'fig-9.9'"),
    ],
)
def test_a_wrong_call_is_named(arguments, message, capsys):
    assert main(arguments) == 2
    assert re.search(message, capsys.readouterr().err)


# ---- what the map says of the papers, computed ------------------------------------------------------------------


@pytest.mark.data
def test_tables_a_2_and_a_3_of_antonova(data_home):
    wrong = {
        setting
        for item in ("table-a.2", "table-a.3")
        for setting, row in measured("antonova-2016", item, 1).items()
        if row.ours != pytest.approx(row.paper, abs=6e-4)
    }
    assert wrong == {"win, class 1", *(f"{word}, from the counts" for word in WORDS)}


def test_smoothed_rates_move_by_less_than_a_third_of_eq_3_20():
    def smoothed(on, sizes):
        rates = [(n + 1) / (size + 2) for n, size in zip(on, sizes, strict=True)]
        shares = [size / sum(sizes) for size in sizes]
        entropy = [-q * math.log2(q) - (1 - q) * math.log2(1 - q) for q in (*rates, float(np.dot(rates, shares)))]
        return entropy[2] - float(np.dot(entropy[:2], shares))

    def largest(N):
        tables = [((a, b), (n, N - n)) for n in range(N + 1) for a in range(n + 1) for b in range(N - n + 1)]
        return max(
            abs(smoothed((on[0] + one, on[1]), (sizes[0] + 1, sizes[1])) - smoothed(on, sizes))
            for on, sizes in tables
            for one in (0, 1)
        )

    N = 12
    unsmoothed = math.log2(N + 1) / (N + 1) + N / (N + 1) * math.log2((N + 1) / N)
    assert 0 < largest(N) < unsmoothed / 3


def test_arithmetic_of_antonova():
    # section 3.3.4: log(600/.05)·(1/ε) is 94 at ε = .1, where 1/0.01 is printed
    assert round(math.log(600 / 0.05) / 0.1) == 94
    assert round(math.log(600 / 0.05) / 0.01) == 939
    # Fig. 3.9: the variance of the noise at N = 100 and ε = .1 is "roughly 0.5"
    delta = math.log2(100) / 100 + 0.99 * math.log2(100 / 99)
    assert 2 * (delta / 0.1) ** 2 == pytest.approx(1.31, abs=0.01)
    assert 2 * (delta * math.log(2) / 0.1) ** 2 == pytest.approx(0.63, abs=0.01)


def measured(paper, item, draws):
    """Return the rows of an experiment by their settings."""
    return {row.setting: row for row in EXPERIMENTS[paper][item](draws, 0)}


DERIVED = [*(("su-2018", item) for item in su_theory.EXPERIMENTS if item not in ("fig-13", "claim-single-step"))]
DERIVED += [("zafarani-clifton-2021", item) for item in zafarani_theory.EXPERIMENTS if item != "table-1"]


# each way to compute a number, and the other one
BY_FORMULA = {
    "largest change of all samples": "with values at L and U alone",
    "largest change": "the same by its formula",
    "range of the change": "the same by its formula, range",
}
# not more than the paper states, and equal to it
AT_MOST = ("largest change", "change of log S", "actual ε of one number")
EQUAL = ("largest change of all samples", "exact: actual ε of one number", "records", "columns", "classes")
EQUAL += ("different grids", "two counts of the same records, one more record")
# levels that the paper draws without a number, and dilations, which have a test below
CHECKED_ELSEWHERE = ("levels of the library's taxonomy", "dilation")


@pytest.mark.data
@pytest.mark.parametrize(("paper", "item"), DERIVED)
def test_definitions_and_lemmas_agree_with_loops_and_integrals(paper, item):
    rows = measured(paper, item, 2)
    seen = set()
    for setting, row in rows.items():
        assert math.isfinite(row.ours)
        pairs = [(way, other) for way, other in BY_FORMULA.items() if setting.endswith(way)]
        for way, other in pairs:
            seen |= {setting, setting.replace(way, other)}
            assert row.ours == pytest.approx(rows[setting.replace(way, other)].ours, abs=1e-9)
        checks = {
            "difference": abs(row.ours) <= 1e-9,
            "least S - LS": row.ours >= -1e-9,
            "mean square": abs(row.ours - 2) < 5 * (row.standard_error or 0),
            **dict.fromkeys(AT_MOST, row.paper is None or row.ours <= row.paper + 1e-09),
            **{text: row.ours == pytest.approx(row.paper) for text in EQUAL},
        }
        asked = {text: holds for text, holds in checks.items() if text in setting}
        assert all(asked.values()), (setting, row.ours, row.paper)
        seen |= {setting} if asked or any(text in setting for text in CHECKED_ELSEWHERE) else set()
    assert seen == set(rows)


def test_table_4_1_of_antonova_has_eq_4_12_and_one_misprint():
    rows = measured("antonova-2016", "table-4.1", 1)
    exactly = [row.ours for setting, row in rows.items() if "exactly" in setting]
    np.testing.assert_allclose(exactly, 0.25 / np.expm1(np.array([0.1, 0.5, 1, 10]) / 2), rtol=1e-9)
    wrong = [setting for setting, row in rows.items() if "1/(2ε)" in setting and row.ours != pytest.approx(row.paper)]
    assert wrong == ["ε = 10, by 1/(2ε)"]


def test_a_product_of_four_cauchy_densities_is_not_admissible():
    rows = measured("zafarani-clifton-2021", "theorem-3", 1)
    dilations = {setting: row for setting, row in rows.items() if setting.startswith("dilation")}
    assert [setting.split()[2] for setting, row in dilations.items() if row.ours > row.paper + 1e-9] == ["4", "8"]


@pytest.mark.parametrize("item", ["lemma-1", "lemma-2", "lemma-4", "lemma-6", "theorem-2"])
def test_bounds_of_ji_and_elkan_hold_on_generated_tables(item):
    bounded = {s: row for s, row in measured("ji-elkan-2013", item, 20).items() if "multiple" not in s}
    assert bounded
    # a solver stops at most 1e-6 away
    assert all(0 < row.ours <= row.paper + 1e-5 for row in bounded.values())


@pytest.mark.parametrize("item", ["lemma-5", "theorem-3"])
def test_formulas_of_ji_and_elkan_agree_with_samples(item):
    sampled = [row for row in measured("ji-elkan-2013", item, 20).values() if row.standard_error]
    assert len(sampled) == 4
    for row in sampled:
        assert abs(row.ours - row.paper) < 5 * row.standard_error


def test_lemma_5_as_printed_has_another_maximum():
    rng = np.random.default_rng(0)
    public, private, grid = rng.random(50), 0.5 + 0.5 * rng.random(50), np.linspace(-60, 60, 24001)
    terms = np.log1p(np.exp(np.outer(grid, public))).mean(1) + np.log1p(np.exp(-np.outer(grid, private))).mean(1)
    [minimiser] = balanced_minimiser(private[:, None], public[:, None], 0.1)
    assert grid[(terms + 0.05 * grid**2).argmin()] == pytest.approx(minimiser, abs=0.01)
    assert abs(grid[(terms - 0.05 * grid**2).argmax()] - minimiser) > 5


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0])
def test_algorithm_4_of_antonova_costs_log_2_at_every_epsilon(epsilon):
    """Two features, T = 1 and ε/D a feature; the scores, less the second best, are in units of their sensitivity."""

    def outputs(scores):
        chances, left = [0.0, 0.0], 1.0
        for j in sorted(range(2), key=lambda j: -scores[j]):
            p = 1 / (1 + math.exp(-epsilon / 2 / 2 * (scores[j] - min(scores))))
            chances[j], left = left * p, left * (1 - p)
        return [*chances, left]

    # both scores move by less than their sensitivity
    before, after = outputs((1e-9, 0.0)), outputs((0.0, 1e-9))
    cost = max(abs(math.log(p / q)) for p, q in zip(before, after, strict=True))
    assert cost == pytest.approx(math.log(2), abs=1e-6)
