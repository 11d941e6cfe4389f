"""What is proposed for tables of strangers, and what is said of them before a release.

``python -m benchmarks.public_tables LABEL=FILE ...`` reads each CSV file with pandas, proposes a schema with
``peek=True``, leaves out what has no proposal, and forecasts a release at ε = 1. It prints Markdown: the columns of
numbers with what they hold and what is proposed, and the forecast with its warnings and seconds. A proposal is
impossible if it leaves out a value, is negative where no value is, has a fraction for whole numbers, a year outside
1850 to 2200, or, unless the name says the bounds for everybody, more than twice the range.
"""

import sys
import time

import numpy as np
import pandas as pd

from dpml.release import Plan
from dpml.schema import Feature, Schema
from dpml.schema.describe import YEARS, finite_numbers


def faults(feature: Feature, values: np.ndarray) -> list[str]:
    """Return what is impossible about proposed bounds of some ascending numbers."""
    lower, upper = feature.lower, feature.upper
    assert lower is not None
    assert upper is not None
    whole = bool((values == np.trunc(values)).all())
    checks = {
        "leaves out values": not lower <= values[0] <= values[-1] <= upper,
        "negative": values[0] >= 0 > lower,
        "no whole bounds": whole and (lower % 1 != 0 or upper % 1 != 0),
        "no year": "year_birth" in feature.name.lower() and (lower < YEARS[0] or upper > YEARS[1]),
        "too wide": bool(feature.data_derived) and upper - lower > 2 * (values[-1] - values[0]),
    }
    return [name for name, fault in checks.items() if fault]


def main(arguments: list[str]) -> None:
    """Print the proposals and forecasts of all tables."""
    for argument in arguments:
        label, _, file = argument.partition("=")
        table = pd.read_csv(file, encoding="utf-8-sig")
        proposal = Schema.describe(table, label=label, peek=True)
        print(f"\n## {label}: {len(table):,} records, {len(proposal.columns)} columns\n")
        print(
            f"Left out as identifiers: {', '.join(f'{n} ({why})' for n, why in proposal.reasons.items()) or 'none'}.\n"
        )
        print("| column | values | proposed | impossible |\n| --- | --- | --- | --- |")
        for feature in proposal.features:
            if feature.kind == "numeric":
                values = finite_numbers(table[feature.name])
                found = ", ".join(faults(feature, values)) or "no"
                print(f"| {feature.name} | {values[0]:g} to {values[-1]:g} | {feature.domain} | {found} |")
        known = {feature.name for feature in proposal.features}
        left_out = [name for name in proposal.columns if name not in known]
        classes = tuple(sorted(table[label].dropna().unique().tolist()))
        schema = proposal.complete(ignored=left_out, classes=classes, n_lower=len(table) // 2)
        begun = time.perf_counter()
        forecast = Plan(schema, 1.0).forecast(table, label)
        print(f"\nForecast in {time.perf_counter() - begun:.1f} s: {forecast}.\n")
        for warning in forecast.warnings:
            print(f"- {warning.kind}: {warning}")


if __name__ == "__main__":
    main(sys.argv[1:])
