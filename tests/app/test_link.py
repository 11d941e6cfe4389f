"""A link can say anything: every fault in it is answered by a sentence, what is right is kept, and nothing raises."""

import json
import string
from types import SimpleNamespace
from urllib.parse import quote_plus, urlencode

import numpy as np
import param
import pytest
from dpml_app.core import link
from dpml_app.core.alerts import Alerts
from dpml_app.page_list import PAGES
from dpml_app.settings import EPSILONS
from dpml_app.shell import MOST_MESSAGE, Shell
from dpml_app.state import Settings

NAMES = ["page", *Settings.names()]
# what people and robots put into addresses
ODD = [
    "", " ", "-1", "0", "1", "7", "1e400", "-1e999", "nan", "inf", "1_000", "０", "1" * 999, "9" * 5000, "true", "[1",
    "{}", '"', "%", "%zz", "\x00", "é", "ε", "None", "a.b.c", "...", "replace-one", "toy", "<script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>", "&amp;", "p" + "0" * 600, "y." * 400, "[]", "[[]]", "[{}]", "[1, 2]",
]  # fmt: skip


@pytest.fixture(autouse=True)
def every_data_set_is_here(monkeypatch):
    """What a link says is read the same on a machine without files; which of them are here is another test's."""
    monkeypatch.setattr("dpml_app.settings.missing", lambda name: {})


def taken(settings):
    return {name: getattr(settings, name) for name in NAMES}


def good_value(parameter, rng):
    """Return a value that a setting can have, another than its default where it has others."""
    if isinstance(parameter, param.ListSelector):
        some = [name for name in parameter.objects if rng.random() < 0.5]
        return some or list(parameter.objects)[:1]
    if isinstance(parameter, param.Selector):
        return list(parameter.objects)[rng.integers(len(parameter.objects))]
    if isinstance(parameter, param.Integer):
        low, high = parameter.bounds
        return int(rng.integers(low, high + 1))
    if isinstance(parameter, param.Number):
        low, high = parameter.bounds
        return float(np.round(rng.uniform(low, high), 3))
    raise AssertionError(parameter.name)


def odd_text(rng):
    if rng.random() < 0.7:
        return ODD[rng.integers(len(ODD))]
    letters = string.printable + "éελ∞\U0001f600"
    return "".join(letters[i] for i in rng.integers(len(letters), size=rng.integers(1, 60)))


def generated(seed):
    """Return a query string, and the settings in it that are well written."""
    rng = np.random.default_rng([15, seed])
    pairs, good = [], {}
    for _ in range(rng.integers(0, 9)):
        name = NAMES[rng.integers(len(NAMES))]
        kind = rng.random()
        if kind < 0.4:
            good[name] = good_value(Settings.param[name], rng)
            pairs.append((name, link.text_of(Settings.param[name], good[name])))
        elif kind < 0.8:
            good.pop(name, None)
            pairs.append((name, odd_text(rng)))
        else:
            pairs.append((odd_text(rng), odd_text(rng)))
    query = "&".join(
        f"{quote_plus(n) if rng.random() < 0.9 else n}={quote_plus(v) if rng.random() < 0.9 else v}" for n, v in pairs
    )
    return "?" + query, good


def test_a_thousand_links_are_answered_and_what_is_right_in_them_is_kept():
    faulty = 0
    for seed in range(1000):
        query, good = generated(seed)
        settings = Settings()
        defaults = taken(settings)
        given = link.parse(query)
        sentences = link.read(settings, given, NAMES)
        now = taken(settings)
        # whatever was refused is named, whatever was not named was taken or is what it was
        told = link.faults(sentences) if sentences else ""
        assert len(told) <= 300, query
        assert all(sentence.strip() for sentence in sentences)
        for name, text in given.items():
            if name not in NAMES:
                assert "unknown setting" in sentences[0], query
            elif now[name] == defaults[name] and text != link.text_of(Settings.param[name], now[name]):
                refused = any(sentence.startswith(f"{name} = ") for sentence in sentences)
                # another way to write the default
                assert refused or same(name, text, now[name]), (query, name, text)
        for name, value in good.items():
            if given.get(name) == link.text_of(Settings.param[name], value):
                assert getattr(settings, name) == value, (query, name)
        faulty += bool(sentences)
        assert link.read(Settings(), link.parse(link.query_of(settings, NAMES)), NAMES) == []
    assert 500 < faulty < 1000


def same(name, text, value):
    if isinstance(value, list):
        return text.split(".") == value or json.loads(text) == value
    return float(text) == value if isinstance(value, int | float) else text.strip() == value


@pytest.mark.parametrize("seed", range(20))
def test_a_link_brings_back_the_settings_it_was_written_from(seed):
    rng = np.random.default_rng([16, seed])
    for page in PAGES:
        settings = Settings(page=page)
        used = settings.page_names(page)
        settings.assign({name: good_value(Settings.param[name], rng) for name in used})
        again = Settings()
        assert link.read(again, link.parse(link.query_of(settings, used)), NAMES) == []
        assert taken(again) == taken(settings)


def test_a_link_names_only_what_differs_and_what_its_page_uses():
    settings = Settings(page="noise", epsilon=1.0, noise_epsilon=2.0)
    assert link.query_of(settings, settings.page_names("noise")) == "?page=noise&noise_epsilon=2"
    assert link.query_of(Settings(), NAMES) == "?"


# as people write them: numbers with more digits than ours, and lists in either form
WRITTEN = {
    "page": "train",
    "reg_lambda": "5.0",
    "noise_delta": "1e-06",
    "select_methods": '["one-shot", "iterative"]',
    "evaluate_methods": "histogram.laplace",
    "dataset": "seeds",
}


def test_a_link_with_settings_of_all_pages_is_understood():
    settings = Settings()
    assert link.read(settings, link.parse("?" + urlencode(WRITTEN)), NAMES) == []
    assert (settings.page, settings.dataset, settings.reg_lambda, settings.noise_delta) == ("train", "seeds", 5, 1e-6)
    assert settings.select_methods == ["one-shot", "iterative"]
    assert settings.evaluate_methods == ["histogram", "laplace"]


@pytest.mark.parametrize("name", ["visited", "near", "asking"])
def test_a_message_of_no_known_form_changes_nothing(name):
    shell = Shell()
    shell.link({})
    odd = ["", "quokka", "5", "null", "[]", "{}", "[" * 9000, '[["x"]]', '{"at": 1}', '{"query": 5, "at": 0}']
    odd += ['{"query": "?switch=1", "at": 0}', json.dumps({"query": "?page=train" + "&" * MOST_MESSAGE, "at": 0})]
    odd += [json.dumps({"what": what, "of": "\ud800", "serial": 1}) for what in (5, "address", "load", "x")]
    for epsilon, text in zip(EPSILONS, odd, strict=False):
        setattr(shell.messages, name, text)
        shell.settings.epsilon = epsilon
        assert link.parse(shell.address["query"]).get("epsilon", "0.1") == f"{epsilon:g}"
    asked = []
    shell.doc = SimpleNamespace(get_model_by_name=asked.append)
    shell._answer("x", "a b " * 1000)
    assert asked == ["a", "b"]


def test_a_link_of_a_hundred_thousand_unknown_names_is_read_at_once():
    """Each compared with all others it would take the only thread of the server for minutes."""
    [sentence] = link.read(Settings(), {f"x{number}": "1" for number in range(100_000)}, NAMES)
    assert sentence == "x0, x1, x10 and 99997 more: unknown setting."


def test_what_a_link_says_is_shown_as_text():
    alerts = Alerts()
    for given in ({"<b>x</b>": "1"}, {"epsilon": "<img src=x onerror=alert(1)>"}, {"<i>" * 30: "</p><script>"}):
        alerts.report("link", link.faults(link.read(Settings(), given, NAMES)))
        (alert,) = alerts.objects
        assert "<" not in alert.object
        assert "&lt;" in alert.object
