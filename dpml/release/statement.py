"""The privacy report: one page of HTML for a data-protection officer, without scripts and without the data.

It has public metadata of the schema, released values, and numbers that follow from ε. Chances are rounded up, so that
the page never promises more than holds. Its functions read the attributes of a `dpml.release.Released`, or of a
stand-in: a check of a folder imports neither pandas nor a classifier.
"""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import dpml
from dpml.release.folder import baseline_note, uniform_note

if TYPE_CHECKING:
    from dpml.schema import Feature

STYLE = """
body { font: 11pt/1.45 system-ui, sans-serif; color: #111; background: #fff; max-width: 48rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 1.4rem 0 0.3rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { border: 1px solid #999; padding: 0.25rem 0.5rem; text-align: left; vertical-align: top;
  overflow-wrap: break-word; }
.banner { border: 3px solid #b45309; padding: 0.6rem; font-weight: bold; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } tr { break-inside: avoid; } }
"""
NEIGHBOURS = {
    "add-remove": "two tables of which one has one additional record (add/remove-one)",
    "replace-one": "two tables of the same size that differ in the content of one record (replace-one)",
}
MEASURES = {
    "accuracy": "Accuracy: share of records with a correct prediction",
    "majority_accuracy": "Majority-class baseline: accuracy of always predicting the most frequent class",
    "recall": "Recall: share of the records of the positive class with a correct prediction",
    "roc_auc": "AUC: probability that a positive record has a higher score than a negative record",
    "macro_auc": "AUC, each class against the rest: mean of all classes",
}
GROUP = 5


def page(released: Any, date: datetime.date, stated_by: str | None) -> str:
    """Return the privacy report as HTML."""
    title = "Privacy report of a release" if released.status == "release" else "Simulation, not a release"
    parts = [
        f"<h1>{title}</h1>",
        _banner(released),
        f"<p>Created on {escape(date.isoformat())} with dpml {escape(dpml.__version__)}.</p>",
        "<h2>Privacy budget</h2>",
        _charges(released),
        "<h2>Privacy guarantee</h2>",
        _meaning(released),
        "<h2>Noise</h2>",
        _noise(released),
        *(["<h2>Accuracy of the model</h2>", _measured(released)] if released.evaluation is not None else []),
        *(["<h2>Synthetic table</h2>", _synthetic(released)] if released.table is not None else []),
        "<h2>Public metadata</h2>",
        _facts(released, stated_by),
        "<h2>Limits of the guarantee</h2>",
        _limits(released),
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    body = "\n".join(part for part in parts if part)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
    )


def two_digits_up(value: float) -> str:
    """Return a number > 0 rounded up to two digits after the point, or in powers of ten where it is large.

    >>> two_digits_up(2.7182), two_digits_up(1.0), two_digits_up(22026.5)
    ('2.72', '1.00', '2.21e4')
    """
    if math.isinf(value):
        return "more than 1e308"
    power = 0 if value < 1000 else math.floor(math.log10(value))
    # exact, so that the division does not round down
    hundredths = math.ceil(Fraction(value) / Fraction(10) ** power * 100)
    return f"{hundredths / 100:.2f}" + (f"e{power}" if power else "")


def percent_up(share: float) -> str:
    """Return a share in percent, rounded up to one digit.

    >>> percent_up(0.7310585), percent_up(0.5), percent_up(1.0)
    ('73.2%', '50.0%', '100.0%')
    """
    return f"{math.ceil(Fraction(share) * 1000) / 10:.1f}%"


def _attack_bound(epsilon: float) -> float:
    """Return `dpml.evaluation.attack_bound`, without the import of what evaluates."""
    return 1 / (1 + math.exp(-epsilon))


def _growth(epsilon: float) -> float:
    """Return e^ε, never less: the next float above, for exp rounds to either side."""
    return math.inf if epsilon > 709 else math.nextafter(math.exp(epsilon), math.inf)


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    columns = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{lines}</tbody></table>"


def _banner(released: Any) -> str:
    if released.status == "release":
        return ""
    return (
        '<p class="banner">Simulation, not a release. A person who knows the seed can remove the noise. Do not publish '
        "these files.</p>"
    )


def _charges(released: Any) -> str:
    rows = [
        (row["part"], row["released"], f"{row['epsilon']:.6g}", row["noise"], row["source"])
        for row in released.ledger.to_dict(orient="records")
    ]
    summary = (
        f"<p>This release spent ε = {released.spent:.6g} of its privacy budget of {released.epsilon:.6g}, with δ = 0. "
        "The total is the sum of the charges above (sequential composition). The privacy unit is one record. ε "
        f"compares {escape(NEIGHBOURS[released.relation])}.</p>"
    )
    return _table(("Part", "Released", "ε", "Noise", "Source of the method"), rows) + summary


def _meaning(released: Any) -> str:
    epsilon = released.spent
    odds, success = two_digits_up(_growth(epsilon)), percent_up(min(math.nextafter(_attack_bound(epsilon), 2.0), 1.0))
    question = (
        "whether one person's record is in the table"
        if released.relation == "add-remove"
        else "which of two possible contents one person's record has"
    )
    more = ""
    if released.relation == "add-remove":
        twice = percent_up(min(math.nextafter(_attack_bound(2 * epsilon), 2.0), 1.0))
        more = (
            " If the adversary knows that the record is in the table and asks which of two contents it has, the bound "
            f"is {twice}: this change removes one record and adds another."
        )
    return (
        f"<p>Consider an adversary who asks {question}. The adversary may have full background knowledge, including "
        "every other record. For any prior belief, this release changes the odds of an answer by a factor of at most "
        f"{odds} (e<sup>ε</sup>). If both answers are equally likely beforehand, the adversary answers correctly with "
        f"probability at most {success}. Without the release, it is 50%.{more} All bounds are rounded up.</p>"
    )


def _noise(released: Any) -> str:
    kinds = sorted({kind for noise in released.ledger["noise"] for kind in noise.split(", ")})
    paragraph = f"<p>Type of noise: {escape(', '.join(kinds))}. "
    if released.status == "release":
        return paragraph + (
            f"OpenDP {escape(_opendp_version())} sampled the noise from the operating system's random numbers, with "
            "exact integer arithmetic. The noise has no seed.</p>"
        )
    return paragraph + "NumPy sampled it from a generator that accepts a seed. Use it in simulations only.</p>"


def _opendp_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("opendp")
    except PackageNotFoundError:
        return ""


def _measured(released: Any) -> str:
    assert released.evaluation is not None
    rows = [
        (
            MEASURES[row["measure"]],
            f"{row['value']:.3f}",
            f"{row['noise_low']:.3f} to {row['noise_high']:.3f}",
            f"{row['low']:.3f} to {row['high']:.3f}",
        )
        for row in released.evaluation.to_dict(orient="records")
    ]
    head = ("Measure", "Value", "95% confidence interval, test set", "95% confidence interval, population")
    return (
        _table(head, rows)
        + f"<p>{escape(baseline_note(released.evaluation))}</p>"
        + f"<p>Each record was assigned to the test set with probability {released.test_share:.0%}, "
        "independently of its content. The model was trained on the other records. "
        "Both confidence intervals account for the noise. "
        "The interval for the population also accounts for the sampling of the records.</p>"
    )


def _synthetic(released: Any) -> str:
    assert released.table is not None
    note = uniform_note(released.uniform, released.table)
    return f"<p>{escape(note)}</p>" if note else "<p>Every column was sampled from the released noisy counts.</p>"


def _facts(released: Any, stated_by: str | None) -> str:
    from dpml.schema.facts import OF_KIND

    schema = released.schema
    who = escape(stated_by) if stated_by else "the author of schema.yaml"
    domains: dict[tuple[str, str], list[str]] = {}
    for feature in schema.features:
        domains.setdefault((_domain(feature), _origin(feature, OF_KIND[feature.kind])), []).append(feature.name)
    # columns with the same domain share a row
    rows = [(", ".join(names), *domain) for domain, names in domains.items()]
    table = {"classes": ("classes", ", ".join(map(str, schema.classes)))}
    if schema.is_binary:
        table["row_bound"] = ("ones per record, at most", str(schema.row_bound))
    table["n_lower"] = ("records, at least", f"{schema.n_lower:,}")
    if schema.n_rows is not None:
        table["n_rows"] = ("records", f"{schema.n_rows:,}")
    if schema.ignored:
        table["ignored"] = ("columns left out", ", ".join(schema.ignored))
    rows += [(*row, _origin(schema, (fact,))) for fact, row in table.items()]
    return (
        f"<p>Declared by {who} as public and known without the table. Values outside the domain were clipped. "
        "Unreadable records and records without a valid label were excluded. Their number is not published.</p>"
        + _table(("Column or property", "Domain", "Source"), rows)
        + "<p>“Stated”: written by a person. “Confirmed”: derived from the data, then declared public by a person. "
        "“Released with noise”: charged to the privacy budget.</p>"
    )


def _origin(holder: Any, facts: tuple[str, ...]) -> str:
    """Return the origin of each fact: stated, confirmed, released with noise, or not confirmed."""
    marks = dict.fromkeys(holder.data_derived, "DATA-DERIVED, not confirmed")
    marks |= dict.fromkeys(holder.confirmed, "confirmed") | dict.fromkeys(
        getattr(holder, "paid", ()), "released with noise"
    )
    words = [marks.get(fact, "stated") for fact in facts]
    if len(set(words)) == 1:
        return words[0]
    return ", ".join(f"{fact} {word}" for fact, word in zip(facts, words, strict=True))


def _domain(feature: Feature) -> str:
    if feature.kind != "categorical":
        domain = feature.domain
    else:
        domain = "one of " + ", ".join(map(str, feature.categories or ()))
    return domain if feature.missing is None else f"{domain}, missing values are replaced by {feature.missing}"


def _limits(released: Any) -> str:
    together = two_digits_up(_growth(GROUP * released.spent))
    return (
        "<ul><li>Public metadata: the names, bounds and categories above are published unchanged.</li>"
        "<li>Properties of the population: a model of smokers reveals something about every smoker, including people "
        "outside the table.</li>"
        f"<li>Groups: the privacy loss multiplies by the number of people. For {GROUP} people, the odds change by a "
        f"factor of at most {together}. The same bound holds for one person with {GROUP} records.</li>"
        "<li>Other releases: the privacy losses of all releases about the same people add up. This report covers one "
        "release.</li>"
        "<li>Other access: the guarantee excludes the original table, its copies and the computation time. Protect "
        "them as before.</li></ul>"
    )


def claims(released: Any) -> list[str]:
    """Return the parts of the report that follow from the ledger and the evaluation alone, for a check."""
    style = f"<style>{STYLE}</style>"
    parts = [style, _banner(released), _charges(released), _meaning(released), _limits(released)]
    return [part for part in parts + ([] if released.evaluation is None else [_measured(released)]) if part]
