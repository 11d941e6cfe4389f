"""Draw what became of the papers' headline claims, from the stored results: python docs/draw_papers.py.

It writes one SVG a claim into docs/images/papers, and the section of docs/explanation/papers.md that shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import pandas as pd

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "images" / "papers"
PAGE = ROOT / "docs" / "explanation" / "papers.md"
START, END = "<!-- pictures -->\n", "<!-- /pictures -->\n"
# a white ground and dark ink, so that a picture is read in either theme
INK, OURS, REFUTED, GUESS = "#1c2733", "#0072b2", "#b84f00", "#666666"
WIDTH, LEFT, RIGHT, ROW = 760, 300, 700, 24


class Value(NamedTuple):
    """A measured number with its standard error, and the paper's own where it prints one."""

    ours: float
    error: float
    paper: float | None = None

    def __str__(self) -> str:
        digits = 1 if self.ours >= 0.05 else 4
        number, error = (f"{x:.{digits}f}" for x in (self.ours, self.error))
        return f"{number} ({error})" if self.error else number


class Picture(NamedTuple):
    """A picture: groups of named values on one axis; a name with "not private" has another colour."""

    name: str
    alt: str
    axis: str
    groups: dict[str, dict[str, Value]]
    caption: str


def _values(item: str) -> dict[str, Value]:
    table = pd.read_csv(ROOT / "benchmarks" / "results" / f"paper_{item}.csv", comment="#")
    return {
        row.setting: Value(row.ours, row.standard_error, None if pd.isna(row.paper) else row.paper)
        for row in table.itertuples()
    }


def _best(values: dict[str, Value], start: str, end: str) -> Value:
    """Return the highest of the values for all T."""
    return max(value for name, value in values.items() if name.startswith(f"{start}, T = ") and name.endswith(end))


def counts() -> Picture:
    """Chapter 3 of Antonova (2016): the count heuristic against mutual information."""
    values, groups = _values("antonova-2016_fig-3.15"), {}
    for name in ("xwindows", "newsgroup1", "mushrooms", "adult"):
        at = f"{name}, ε = 0.1"
        groups[name] = {
            "all features": values[f"{at}, all features"],
            "by mutual information, as printed": _best(values, at, "mutual information, published weights"),
            "by counts, as printed": _best(values, at, "count heuristic, published weights"),
            "by mutual information, by the range": _best(values, at, "mutual information, weights by the range"),
            "by counts, by the range": _best(values, at, "count heuristic, weights by the range"),
        }
    shown = groups["newsgroup1"]
    gain = values["newsgroup1, ε = 0.1, count heuristic, published weights: best T over all features"]
    return Picture(
        "antonova-counts",
        "Accuracy of Algorithm 1 at ε = 0.1 without and with selection, on four data sets",
        "accuracy (%) at ε = 0.1, best T",
        groups,
        f"""
        **Antonova (2016): counts select better features than mutual information.** The claim holds with a condition: a
        small ε. On newsgroup1 the paper prints a gain of about {gain.paper:.0f} percentage points. Here it is {gain}.
        With weights by the range, counts reach {shown["by counts, by the range"]}% and mutual information
        {shown["by mutual information, by the range"]}%.
        """,
    )


def linear() -> Picture:
    """Chapter 4 of Antonova (2016): selection before logistic regression."""
    values, groups = _values("antonova-2016_fig-4.2"), {}
    for name in ("mushrooms", "newsgroup1", "xwindows", "adult"):
        groups[name] = {
            "all features": values[f"{name}, all features"],
            "best T by counts, as printed": _best(values, name, "count heuristic, published weights"),
            "best T by counts, all repaired": _best(values, name, "count heuristic, all repaired"),
        }
    shown = groups["mushrooms"]
    return Picture(
        "antonova-linear",
        "Accuracy of private logistic regression with all features and with selected ones, on four data sets",
        "accuracy (%) at ε = 0.1",
        groups,
        f"""
        **Antonova (2016): selection is unlikely to help private logistic regression.** The claim does not hold on
        mushrooms, newsgroup1 and xwindows, and holds on the three other sets. On mushrooms the paper prints
        {shown["all features"].paper:.0f}% for all features and no gain by selection. Here all features reach
        {shown["all features"]}%, and selection with the weights of the paper
        {shown["best T by counts, as printed"]}%.
        """,
    )


def selection() -> Picture:
    """Stoddard et al. 2014: selection before naive Bayes on SMS."""
    values = _values("stoddard-2014_fig-4")
    shown = {
        "majority class": values["largest class"],
        "all words, sampled": values["ε = 1, all, sampled"],
        "score perturbation": values["ε = 1, score perturbation, TC"],
        "clusters, repaired": values["ε = 1, clusters, TC, repaired"],
        "clusters as printed: not private": values["ε = 1, clusters, TC, as published"],
        "threshold testing: not private": values["ε = 1, PTT, TC, as published"],
    }
    return Picture(
        "stoddard-selection",
        "Accuracy of naive Bayes on SMS at ε = 1 after five ways to select words",
        "accuracy (%) on SMS at ε = 1",
        {"": shown},
        f"""
        **Stoddard et al.: selection gains 10 to 15 percentage points.** The claim holds with a condition. Without
        selection their classifier reaches {shown["all words, sampled"]}% on SMS. The method with the largest gain is
        not private: threshold testing reaches {shown["threshold testing: not private"]}%. Score perturbation is
        private and reaches {shown["score perturbation"]}%.
        """,
    )


def smooth() -> Picture:
    """Zafarani and Clifton 2021: smooth sensitivity against Vaidya et al. at the same total ε."""
    groups = {}
    for name, item, epsilon in (
        ("adult", "fig-4", 1),
        ("skin", "fig-8", 0.1),
        ("seeds", "fig-7", 1),
        ("seeds", "fig-7", 15),
        ("glass", "fig-6", 1),
        ("glass", "fig-6", 15),
    ):
        values = _values(f"zafarani-clifton-2021_{item}")
        groups[f"{name}, ε = {epsilon:g}"] = {
            "majority class": values[f"{name}, largest class"],
            "Vaidya et al.": values[f"{name}, ε = {epsilon:g}, Vaidya et al."],
            "theirs: not private at this ε": values[f"{name}, ε = {epsilon:g}, published"],
            "theirs, repaired": values[f"{name}, ε = {epsilon:g}, smooth, repaired"],
            "class sums, global noise": values[f"{name}, ε = {epsilon:g}, global, repaired"],
        }
    adult, few, large = (groups[name] for name in ("adult, ε = 1", "seeds, ε = 1", "seeds, ε = 15"))
    return Picture(
        "zafarani-clifton-smooth",
        "Accuracy of naive Bayes at one total ε with smooth and with global sensitivity, on four data sets",
        "accuracy (%) at the same total ε",
        groups,
        f"""
        **Zafarani and Clifton: smooth sensitivity significantly improves accuracy.** The claim holds with a condition:
        many records or a large ε. The paper prints no numbers. Its method reaches
        {adult["theirs: not private at this ε"]}% on adult, against {adult["Vaidya et al."]}% of Vaidya et al. On seeds
        it reaches {few["theirs: not private at this ε"]}% at ε = 1, against {few["Vaidya et al."]}%, and
        {large["theirs: not private at this ε"]}% at ε = 15, against {large["Vaidya et al."]}%.
        """,
    )


def table() -> Picture:
    """Su et al. 2018: a synthetic table against released classifiers."""
    values, groups = _values("su-2018_fig-6"), {}
    for epsilon in ("0.1", "1"):
        groups[f"adult, ε = {epsilon}"] = {
            label: values[f"adult, ε = {epsilon}, {setting}"]
            for label, setting in (
                ("PrivPfC's table, logistic", "PrivPfC and logistic"),
                ("DiffGen's table, logistic", "DiffGen and logistic"),
                ("PPH's table, logistic", "PPH and logistic"),
                ("functional mechanism", "FunctionalMechanism"),
                ("functional mechanism, repaired", "FunctionalMechanism, repaired"),
                ("PrivGene", "PrivGene"),
                ("PrivLocal", "PrivLocal"),
                ("PrivateERM, tight constants", "PrivateERM"),
            )
        }
    first, last = groups.values()
    own, direct = "PrivPfC's table, logistic", "PrivateERM, tight constants"
    return Picture(
        "su-table",
        "Error of logistic regression on synthetic tables and of private classifiers on adult",
        "error (%) on adult (lower is better)",
        groups,
        f"""
        **Su et al.: a synthetic table beats methods that release a classifier.** The claim holds with a condition:
        against methods as printed. The paper prints no numbers. At ε = 0.1 logistic regression on the table has an
        error of {first[own]}%, and private empirical risk minimisation {first[direct]}%. At ε = 1 the errors are
        {last[own]}% and {last[direct]}%.
        """,
    )


def weights() -> Picture:
    """Ji and Elkan 2013: answers from a weighted public table."""
    path = ROOT / "benchmarks" / "results" / "publishing_importance_conjunctions.csv"
    table = pd.read_csv(path, comment="#")
    at = table[table.epsilon == 0.1]

    def best(method: str) -> Value:
        rows = at[at.method == method]
        # of the λ that were measured at length
        row = rows[rows.draws == rows.draws.max()].nsmallest(1, "error").iloc[0]
        return Value(row.error, row.standard_error)

    unweighted = Value(float(table[table.method == "unweighted"].error.iloc[0]), 0.0)
    shown = {
        "public table, unweighted": unweighted,
        "Algorithm 1": best("Algorithm 1"),
        "Algorithm 1, tight noise": best("output, tight"),
        "objective perturbation": best("objective"),
        "noisy moments": best("moments"),
    }
    return Picture(
        "ji-elkan-weights",
        "Mean error of 1,000 answers from a public table at ε = 0.1, unweighted and with four kinds of weights",
        "mean error of 1,000 conjunctions at ε = 0.1 (lower is better)",
        {"": shown},
        f"""
        **Ji and Elkan: weights answer unlimited queries accurately at small ε.** The claim holds. The paper prints no
        mean error. With the best λ of each method, the mean error is {shown["Algorithm 1"]} for Algorithm 1 and
        {shown["noisy moments"]} for noisy moments. The unweighted table has {unweighted}.
        """,
    )


def area() -> Picture:
    """Boyd, Lantz and Page 2015: an area under the curve by smooth sensitivity, and from a noisy table."""
    values, groups = _values("stoddard-2014_claim-boyd"), {}
    for epsilon in ("1", "0.5", "0.25", "0.1"):
        groups[f"ε = {epsilon}"] = {
            label: values[f"40 words, ε = {epsilon}, area: {setting}"]
            for label, setting in (
                ("smooth sensitivity", "smooth sensitivity"),
                ("one noisy table", "one noisy table for both"),
            )
        }
    first, last = groups["ε = 1"], groups["ε = 0.1"]
    return Picture(
        "stoddard-area",
        "Mean error of a private AUC on SMS, by smooth sensitivity and from one noisy table",
        "mean error in points on SMS, a classifier of 40 words (lower is better)",
        groups,
        f"""
        **Boyd, Lantz and Page, the sequel: an AUC by smooth sensitivity is close to the exact one.** The claim holds
        with a condition: a large ε. At ε = 1 its mean error is {first["smooth sensitivity"]} percentage points, and
        that of one noisy table {first["one noisy table"]}. At ε = 0.1 the errors are {last["smooth sensitivity"]} and
        {last["one noisy table"]}.
        """,
    )


def synthetic() -> Picture:
    """Ghalebikesabi et al. 2022: weights for the records of a synthetic table."""
    values, groups = _values("ji-elkan-2013_claim-synthetic"), {}
    for of in ("single values", "conjunctions of three"):
        at = f"{of}, ε = 1"
        groups[of] = {
            "PrivPfC's table": values[f"{at}, PrivPfC's table"],
            "weighted by Algorithm 1": values[f"{at}, PrivPfC's table with weights by Algorithm 1"],
            "weighted by noisy sums": values[f"{at}, PrivPfC's table with weights by noisy sums"],
            "public table, by noisy sums": values[f"{at}, public table with weights by noisy sums"],
        }
    shown = groups["conjunctions of three"]
    return Picture(
        "ji-elkan-synthetic",
        "Mean error of answers from a synthetic table at ε = 1, with and without weights",
        "mean error in points on adult, a total of ε = 1 (lower is better)",
        groups,
        f"""
        **Ghalebikesabi et al., the sequel: weights correct the bias of a synthetic table.** The claim holds. The mean
        error of conjunctions of three is {shown["PrivPfC's table"]} percentage points from PrivPfC's table, and
        {shown["weighted by noisy sums"]} if half of ε is spent on weights. A similar public table, if it exists, has
        {shown["public table, by noisy sums"]}.
        """,
    )


PICTURES: tuple[Callable[[], Picture], ...] = (counts, linear, selection, area, table, weights, synthetic, smooth)


def drawn(picture: Picture) -> str:
    """Return the SVG of a picture: a dot for each value, with two standard errors either way."""
    every = [value for group in picture.groups.values() for value in group.values()]
    ends = [v.ours + sign * 2 * v.error for v in every for sign in (-1, 1)] + [v.paper for v in every if v.paper]
    low, high = min(ends), max(ends)
    low, high = low - 0.05 * (high - low), high + 0.12 * (high - low)
    y, marks = 14.0, []

    def x(value: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (value - low) / (high - low), 1)

    for group, rows in picture.groups.items():
        if group:
            y += ROW
            marks.append(f'<text class="g" x="12" y="{y:g}">{escape(group)}</text>')
        for label, value in rows.items():
            y += ROW
            color = REFUTED if "not private" in label else GUESS if label == "majority class" else OURS
            left, right, at = x(value.ours - 2 * value.error), x(value.ours + 2 * value.error), x(value.ours)
            marks.append(f'<text class="l" x="{LEFT - 14}" y="{y:g}">{escape(label)}</text>')
            marks.append(f'<path d="M{left} {y - 4:g}H{right}" stroke="{color}" stroke-width="3"/>')
            marks.append(f'<circle cx="{at}" cy="{y - 4:g}" r="5" fill="{color}"/>')
            end = right + 9
            if value.paper:
                end = max(end, x(value.paper) + 12)
                marks.append(f'<path class="p" d="M{x(value.paper)} {y - 11:g}l7 7-7 7-7-7z"/>')
            marks.append(f'<text x="{end:g}" y="{y:g}">{escape(str(value).split(" ")[0])}</text>')
    height = y + 2 * ROW
    legend = "two standard errors either way" + (", diamond: the paper" if any(v.paper for v in every) else "")
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
            'role="img" aria-labelledby="title">',
            f'<title id="title">{escape(picture.alt)}</title>',
            f"<style>text {{ font: 14px system-ui, sans-serif; fill: {INK}; }} .l {{ text-anchor: end; }} "
            f".g {{ font-weight: 600; }} .p {{ fill: none; stroke: {INK}; stroke-width: 1.5; }}</style>",
            f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>',
            *marks,
            f'<text x="12" y="{height - 14:g}">{escape(picture.axis)}; {legend}</text>',
            "</svg>\n",
        )
    )


def section(pictures: Sequence[Picture]) -> str:
    """Return the section of the page that shows the pictures, each with its caption."""
    return "\n".join(f"![{p.alt}](../images/papers/{p.name}.svg)\n\n{' '.join(p.caption.split())}\n" for p in pictures)


if __name__ == "__main__":
    shown = [make() for make in PICTURES]
    for picture in shown:
        (FOLDER / f"{picture.name}.svg").write_text(drawn(picture), encoding="utf-8")
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    PAGE.write_text(before + START + section(shown) + END + rest.split(END)[1], encoding="utf-8")
