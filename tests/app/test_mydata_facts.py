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
from dpml_app.pages.mydata.page import MyDataPage

from dpml.schema import Schema

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
def one(session, monkeypatch):
    async def quiet(_page, _name):
        """Advice takes seconds, and is not what is tested here."""

    monkeypatch.setattr(MyDataPage, "_advise", quiet)
    made = session()
    made.upload(telco().to_csv(index=False).encode(), "telco.csv")
    assert made.said == []
    return made


def click(one, button):
    one.do(lambda: button.param.trigger("clicks"))


def to_the_release(one):
    for _step in range(2):
        click(one, one.page.wizard.forth)
    click(one, one.page.wizard.use)
    assert one.said == []
    click(one, one.page.to_release)


def test_clicks_alone_make_no_release_and_every_fact_is_in_view_before_it_is_ticked(one):
    to_the_release(one)
    step, draft = one.page.release, one.page.draft
    one.do(lambda: setattr(step.sure, "value", True))
    assert step.button.disabled
    one.do(step.start)
    assert step.done == []
    assert "<details" not in step.facts.object
    for fact in draft.proposed:
        value = fact.words.removeprefix(f"{fact.column} is ")
        assert value in step.facts.object or fact.fact in ("classes", "n_lower")
        assert fact.words in one.page.wizard.facts.boxes.options
    # no button says it of several facts
    labels = [widget.label for widget in one.page.wizard.whole.select() if hasattr(widget, "label")]
    assert not any("all" in str(label).lower().split() for label in labels)


def test_a_release_by_the_fewest_clicks_has_no_extreme_count_or_category_that_nobody_said(one):
    draft, boxes = one.page.draft, one.page.wizard.facts.boxes
    # a category that is one person's is typed away; all else is ticked, each by itself
    typed = ["Electronic check", "Mailed check"]
    one.do(lambda: setattr(one.page.wizard.column, "value", "PaymentMethod"))
    one.do(lambda: setattr(one.page.wizard.categories, "value", "\n".join(typed)))
    assert [fact.words for fact in draft.proposed] == boxes.options
    ticked = list(boxes.options)
    for count, words in enumerate(ticked, 1):
        assert len(draft.unconfirmed) == len(ticked) - count + 1
        one.do(lambda words=words: setattr(boxes, "value", [*boxes.value, words]))
    to_the_release(one)
    step = one.page.release
    one.do(lambda: setattr(step.sure, "value", True))
    one.do(step.start)
    [made] = step.done
    found = [text for name, (_title, content) in made.files.items() for text in texts(content, name)]
    assert len(found) > 1000
    every = "\n".join(found)
    # the canary that the reading of files works: what was ticked stands there
    assert {"Month-to-month", "Electronic check"} <= {text for text in found if text in every}
    assert {-5000.0, 20000.0, -40.0, 200.0, 300.0} <= numbers(found)
    # 0, 1 and 71 may be anything's number; of no bound are they the value
    assert not {8684.8, 118.75, 18.25} & numbers(found)
    for feature in draft.schema().features[:3]:
        assert feature.lower < LEAST[feature.name] < MOST[feature.name] < feature.upper
    for secret in (*NAMES, "said-", "By-one-camel-only"):
        assert secret not in every
    # exact counts: elsewhere noise may be one of them
    counts = {float(n) for name in ("Contract", "PaymentMethod", "Churn") for n in telco()[name].value_counts()}
    plain = [made.files[f"release-1-{name}"][1].decode() for name in ("schema.yaml", "ledger.json")]
    assert not {float(N), *(count for count in counts if count > 1)} & numbers([*plain, *ticked])
    # and of each fact the statement says whose it is
    statement = made.files["release-1-statement.html"][1].decode()
    for row in ("<td>PaymentMethod</td><td>one of Electronic check, Mailed check</td><td>stated</td>",
                "<td>Contract</td><td>one of Month-to-month, One year, Two year</td><td>confirmed</td>",
                "<td>number of records, at least</td><td>300</td><td>confirmed</td>"):  # fmt: skip
        assert row in statement
    assert json.loads(made.files["release-1-ledger.json"][1])["status"] == "release"


def test_marks_outlast_a_saved_schema_and_another_upload(one):
    content = one.page._schema_text().encode()
    assert len(Schema.from_yaml(content.decode()).unconfirmed) == 11  # that columns are left out is one fact
    one.upload(telco().to_csv(index=False).encode(), "telco.csv")
    one.confirm()
    assert one.page.draft.unconfirmed == []
    one.upload(content, "schema.yaml", one.page.schema_upload)
    assert len(one.page.draft.unconfirmed) == 12


def test_a_change_of_one_widget_says_nothing_of_another(one):
    wizard, draft = one.page.wizard, one.page.draft
    one.do(lambda: setattr(wizard.column, "value", "tenure"))
    one.do(lambda: setattr(wizard.lower, "value", "0"))
    assert [fact.fact for fact in draft.columns["tenure"].proposed] == ["upper"]
    assert wizard.facts_of_column.boxes.options == ["tenure is at most 200"]
    # a text of several lines cannot be typed as it is: the widget holds others than were proposed
    draft.columns["Contract"] = draft.columns["Contract"].__class__(
        "Contract", "categorical", categories=("a\nb", "c"), data_derived=("categories",)
    )
    one.do(lambda: setattr(wizard.column, "value", "Contract"))
    for kind in ("ignored", "categorical"):
        one.do(lambda kind=kind: setattr(wizard.kind, "value", kind))
    assert [fact.fact for fact in draft.columns["Contract"].proposed] == ["categories"]


def test_of_a_wide_table_the_facts_that_are_not_listed_are_ticked_at_their_columns(one, monkeypatch):
    from dpml_app.pages.mydata import wizard as wizards

    monkeypatch.setattr(wizards, "MOST_FACTS", 3)
    one.do(one.page.wizard.show)
    wizard = one.page.wizard
    assert len(wizard.facts.boxes.options) == 3
    assert "9 more are listed at their columns" in wizard.facts_note.object
    one.do(lambda: setattr(wizard.column, "value", "tenure"))
    boxes = wizard.facts_of_column.boxes
    one.do(lambda: setattr(boxes, "value", [boxes.options[1]]))
    assert [fact.confirmed for fact in one.page.draft.columns["tenure"].proposed] == [False, True]


@pytest.mark.parametrize("said", [["x is at least 5"], ["tenure is at least 1"], [None], [7]])
def test_what_a_browser_ticks_besides_is_left_alone(one, said):
    before = one.page.draft.proposed
    one.page.wizard.facts._changed(type("Event", (), {"new": said}))
    assert one.page.draft.proposed == before
