"""From a file to a release by the fewest clicks: no file of it has a value of the table that no person said."""

import io
import json
import pickletools
import re
import zipfile
import zlib

import numpy as np
import pandas as pd
import pytest
from dpml_app.pages.mydata.text import as_line, listed
from own_session import saved

# as the customers of a telephone company: each extreme is one customer's
LEAST, MOST = {"TotalCharges": 0.0, "MonthlyCharges": 18.25, "tenure": 1}, {
    "TotalCharges": 8684.8, "MonthlyCharges": 118.75, "tenure": 71,
}  # fmt: skip
N = 703
NAMES = [f"customer-{i:04}-QX" for i in range(N)]


def telco():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"customerID": NAMES})
    table["tenure"] = rng.integers(2, 71, N)
    table["MonthlyCharges"] = rng.uniform(19, 118, N).round(2)
    table["TotalCharges"] = rng.uniform(20, 8600, N).round(2)
    for name in LEAST:
        table.loc[17, name], table.loc[18, name] = LEAST[name], MOST[name]
    table["Contract"] = rng.choice(["Month-to-month", "One year", "Two year"], N, p=[0.55, 0.21, 0.24])
    table["PaymentMethod"] = rng.choice(["Electronic check", "Mailed check"], N)
    table.loc[17, "PaymentMethod"] = "By-one-camel-only"
    table["note"] = [f"said-{i}-once" for i in range(N)]
    return table.assign(Churn=np.where(rng.random(N) < 0.27, "Yes", "No"))


def texts(content, name=""):
    """Return everything that the bytes of a file say: as they are, unpacked, and each text and number of a pickle."""
    found = [content.decode("latin-1")]
    if content[:2] == b"PK":
        for each in zipfile.ZipFile(io.BytesIO(content)).namelist():
            found += texts(zipfile.ZipFile(io.BytesIO(content)).read(each), each)
    if content[:1] == b"\x78":
        found += texts(zlib.decompress(content))
    if name.endswith(".joblib"):
        import joblib

        found += list(walked(joblib.load(io.BytesIO(content))))
        # of an array the bytes follow, which no opcode is
        for _opcode, said, _at in leading(content):
            found.append(repr(said) if not isinstance(said, str) else said)
    return found


def leading(content):
    """Yield the opcodes of a pickle as far as they go."""
    try:
        yield from pickletools.genops(content)
    except (ValueError, IndexError):
        return


def walked(value, seen=None):
    """Yield every text and number that can be reached from an object."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (str, bytes, int, float, np.number)):
        yield value if isinstance(value, str) else f"{float(value)!r}" if not isinstance(value, bytes) else str(value)
        return
    if isinstance(value, (np.ndarray, pd.Series, pd.Index)):
        value = np.asarray(value).tolist()
    inside = [vars(value)] if hasattr(value, "__dict__") else []
    inside += [*value.keys(), *value.values()] if isinstance(value, dict) else []
    inside += list(value) if isinstance(value, (list, tuple, set, frozenset)) else []
    for each in inside:
        yield from walked(each, seen)


def numbers(found):
    """Return all numbers that stand in texts."""
    return {float(number) for text in found for number in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", text)}


@pytest.fixture
def one(session, without_advice):
    made = session()
    made.upload(telco().to_csv(index=False).encode(), "telco.csv")
    assert made.said == []
    return made


def click(one, button):
    one.do(lambda: button.param.trigger("clicks"))


def to_the_release(one):
    one.use()
    assert one.said == []
    click(one, one.page.to_release)


def test_clicks_alone_make_no_release_and_every_fact_is_in_view_before_it_is_ticked(one):
    to_the_release(one)
    step, draft = one.page.release, one.page.draft
    one.do(lambda: setattr(step.sure, "value", True))
    assert step.button.disabled
    one.do(step.start)
    assert step.done is None
    assert "<details" not in step.facts.object
    for fact in draft.proposed:
        assert not fact.column or draft.columns[fact.column].description in step.facts.object
    assert step.facts.object.endswith(one.page.facts.every.object)
    assert not any(fact.confirmed for fact in draft.proposed)


def test_a_release_by_the_fewest_clicks_has_no_extreme_count_or_category_that_nobody_said(one):
    draft = one.page.draft
    # a category that is one person's is typed away; of all else a person says how it is known, each by itself
    one.edit("PaymentMethod", "categories", "Electronic check, Mailed check")
    ticked = [column.description for column in draft.columns.values() if column.kind != "ignored"]
    one.confirm()
    to_the_release(one)
    step = one.page.release
    one.do(lambda: setattr(step.sure, "value", True))
    one.do(step.start)
    files = saved(one)
    found = [text for name, content in files.items() for text in texts(content, name)]
    assert len(found) > 1000
    every = "\n".join(found)
    # the canary that the reading of files works: what was ticked stands there
    assert {"Month-to-month", "Electronic check"} <= {text for text in found if text in every}
    assert {0.0, 9000.0, 200.0, 80.0} <= numbers(found)
    # 0, 1 and 71 may be anything's number; of no bound are they the value
    assert not {8684.8, 118.75, 18.25} & numbers(found)
    for feature in draft.schema().features[:3]:
        assert feature.lower == 0 or feature.lower < LEAST[feature.name]
        assert MOST[feature.name] < feature.upper
    for secret in (*NAMES, "said-", "By-one-camel-only"):
        assert secret not in every
    # exact counts: elsewhere noise may be one of them
    counts = {float(n) for name in ("Contract", "PaymentMethod", "Churn") for n in telco()[name].value_counts()}
    plain = [files[name].decode() for name in ("schema.yaml", "ledger.json")]
    assert not {float(N), *(count for count in counts if count > 1)} & numbers([*plain, *ticked])
    # and of each fact the statement says whose it is
    statement = files["statement.html"].decode()
    for row in ("<td>PaymentMethod</td><td>one of Electronic check, Mailed check</td><td>stated</td>",
                "<td>Contract</td><td>one of Month-to-month, One year, Two year</td><td>confirmed</td>",
                "<td>records, at least</td><td>300</td><td>confirmed</td>"):  # fmt: skip
        assert row in statement
    assert json.loads(files["ledger.json"])["status"] == "release"


def test_an_edit_of_one_entry_says_nothing_of_another(one):
    draft, form = one.page.draft, one.page.facts
    one.edit("tenure", "lower", "1")
    assert draft.columns["tenure"].read_off == ("upper",)
    assert form.known["column"].label == "From a public source: upper bound"
    one.tick("tenure")
    assert draft.columns["tenure"].marks["upper"] == "confirmed"
    one.tick("tenure", False)
    # what a person typed was never proposed
    assert draft.columns["tenure"].marks == {"upper": "data_derived"}
    for kind in ("ignored", "categorical"):
        one.edit("Contract", "kind", kind)
    assert draft.columns["Contract"].read_off == ("categories",)


def test_categories_come_back_as_they_were_sent():
    texts = ('a, b', 'say "no"', "plain", "two\nlines", "it's")  # fmt: skip
    assert listed(as_line(texts)) == texts
