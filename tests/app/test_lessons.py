"""The lessons: what each states is computed anew, and a file that is wrong is told in words that help."""

import json
import math
import re
from collections import Counter
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import yaml
from bokeh.models import ColumnDataSource
from dpml_app.core import link
from dpml_app.jobs import Pool
from dpml_app.lessons import FOLDER, InvalidLesson, lessons, position_of, read_lesson
from dpml_app.lessons.figures import computed, key_of, read_shipped, settings_of
from dpml_app.lessons.panel import payload
from dpml_app.lessons.read import TERM
from dpml_app.page_list import PAGES
from dpml_app.shell import Shell
from dpml_app.state import Settings
from dpml_app.text import phrases
from lesson_claims import data_marks, holds

from dpml.exceptions import InvalidParameter

ROOT = Path(__file__).parents[2]
STEPS = [(lesson, number) for lesson, of in lessons().items() for number in range(1, len(of.steps) + 1)]


def step_of(lesson, number):
    return lessons()[lesson].steps[number - 1]


# ---- figures and claims -------------------------------------------------------------------------------------------

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
PLACEHOLDER = re.compile(r"\{[^{}]+\}")
# whole numbers of cases, names, and sizes that a step states of itself
TYPED = re.compile(r"\b(?:50 of 100|90 of 100|of 100|100 (?:counts|columns)|Algorithm 1|Theorem 2|50th|65th|95th)\b")


def plain(text):
    """Return a text with its terms as mere words."""
    return TERM.sub(lambda match: match[2] or match[1], text)


def raw(lesson, number):
    [path] = [path for path in FOLDER.glob("*.yaml") if path.stem.endswith(lesson)]
    step = yaml.safe_load(path.read_text(encoding="utf-8"))["steps"][number - 1]
    return " ".join(step[name] for name in ("words", "question", "answer", "teaches"))


@pytest.mark.parametrize(("lesson", "number"), STEPS)
def test_numbers_of_a_step_are_computed_and_not_typed(lesson, number):
    text = TYPED.sub("", PLACEHOLDER.sub("", raw(lesson, number)))
    known = (ROOT / "docs" / "reference" / "references.md").read_text(encoding="utf-8")
    for year in re.findall(r"\b(?:20|19)\d\d\b", text):
        assert re.search(rf"(Stoddard|Zafarani|Ji and Elkan|Su et al).* {year} \|", known)
        text = text.replace(year, "")
    # an ε or λ of the step or of another one, and the case that a claim holds to
    step = step_of(lesson, number)
    states = [other.state for other in lessons()[lesson].steps]
    settings = {v for state in states for v in state.values()} | set(re.findall(r"=([\d.]+)", raw(lesson, number)))
    settings |= {f"{float(getattr(settings_of(step.state), PAGES[step.page].risk_of[0])):g}"}
    for stated in re.findall(r"[ελ] = ([\d.]*\d)", text):
        assert stated in settings, stated
        text = text.replace(f"= {stated}", "")
    for claim in step.claims:
        for case in claim.split()[1:] if claim.startswith("case") else ():
            text = text.replace(case.replace(",", ", "), "")
    assert NUMBER.findall(text) == []


@pytest.mark.parametrize(("lesson", "number"), STEPS)
def test_what_is_asked_of_an_epsilon_is_drawn_at_it(lesson, number):
    step = step_of(lesson, number)
    settings = settings_of(step.state)
    asked = re.findall(r"ε = ([\d.]*\d)", plain(step.question))
    drawn = f"{float(getattr(settings, PAGES[step.page].risk_of[0])):g}"
    assert set(asked) <= {drawn}


def test_figures_that_ship_are_those_that_lessons_name():
    named = {}
    for step in (step for lesson in lessons().values() for step in lesson.steps if step.figures):
        named.setdefault(key_of(step.state), set()).update(step.figures)
    assert named == {key: set(figures) for key, figures in read_shipped().items()}


# of the states of the page Publish, whose tables take long, one at each commit
SHIPPED = [key for key in read_shipped() if "page=publish" not in key or key == "epsilon=1&page=publish"]


def shipped_states():
    """Yield the keys of the states, with the marks of each."""
    for key in read_shipped():
        marks = [] if key in SHIPPED else [pytest.mark.full]
        yield pytest.param(key, marks=[*marks, *data_marks(link.parse(key), *read_shipped()[key])])


@pytest.mark.parametrize("key", list(shipped_states()))
def test_figures_that_ship_are_those_that_are_computed(key):
    state = link.parse(key)
    assert key_of(state) == key
    for name, shipped in read_shipped()[key].items():
        value, rounded = computed(name, state), "" if isinstance(shipped, str) else ".1f"
        assert format(value, rounded) == format(shipped, rounded), "run python -m dpml_app.lessons"


@pytest.mark.parametrize(
    ("lesson", "number"),
    [pytest.param(*place, marks=data_marks(step_of(*place).state, *step_of(*place).claims)) for place in STEPS],
)
def test_claims_of_a_step_hold(lesson, number):
    step = step_of(lesson, number)
    for claim in step.claims:
        assert holds(claim, step), claim


def test_a_figure_that_is_not_known_is_an_error_that_names_it():
    with pytest.raises(InvalidParameter, match=r"`figure` must be one of accuracy.*Got 'alchemy'"):
        computed("alchemy", {"page": "explore"})
    with pytest.raises(InvalidParameter, match=r"`figure` must be a function with its keywords.*'method'"):
        computed("trained", {"page": "train"})


def test_a_figure_is_not_computed_from_data_that_would_be_downloaded(monkeypatch, tmp_path):
    monkeypatch.setenv("DPML_DATA", str(tmp_path / "nothing"))
    state = {"page": "train", "dataset": "seeds"}
    assert settings_of(state).dataset == "seeds"
    with pytest.raises(InvalidParameter, match=r"`dataset` must be .* dpml\.datasets\.fetch\('seeds'\).*Got 'seeds'"):
        computed("trained method=global", state)
    assert not (tmp_path / "nothing").exists()


# ---- what a step shows ---------------------------------------------------------------------------------------------

# what a step states and its page does not write, and why
NOT_SHOWN = {
    **dict.fromkeys(("guess", "records", "paid", "replacement_noise_ratio"), "it is the case that is asked about"),
    "columns_kept": "the page names them",
    "naive_bayes_without_privacy": "the curves behind More draw it",
    "one_step_of_the_curve": "it is too low to be seen, which is what is asked",
}
# differences and ratios: their parts are shown
PARTS = {
    "mean_noise_ratio at=1": ("mean_noise",),
    "custom_gain method=output train_lambda=100": ("main number=custom",),
    "default_gain": ("main number=default", "guess"),
    "steps_ratio score=count other=mutual_information": ("steps score=count", "steps score=mutual_information"),
    "off_ratio method=fixed-space other=histogram": ("off method=fixed-space", "off method=histogram"),
    "off_growth method=histogram from_dataset=census": ("off method=histogram",),
    "noise_cost method=output": ("without_noise", "trained method=output"),
    "table_cost": ("on_true_table", "on_published_table"),
    "columns_lost": ("columns", "columns_kept"),
}


def shown_by(page, card):
    """Return the numbers that a page shows at its settings: in words, and in its plots at the chosen value."""
    panes = (page.risk, page.headline, page.controls.dataset_note)
    texts = [*(pane.object or "" for pane in panes), *(line.text for line in page.cards.readouts.values())]
    texts += [page.cards[card].caption]
    words = " ".join(re.sub(r"<[^>]+>", " ", unescape(unescape(text))) for text in texts)
    numbers = [float(number.replace(",", "")) for number in NUMBER.findall(words)]
    settings = [getattr(page.settings, name) for name in page.settings.page_names(page.page_id)]
    chosen = [float(v) for v in settings if isinstance(v, int | float) and not isinstance(v, bool)]
    plots = page.cards[card].plots
    for source in {s for plot in plots for s in plot.select({"type": ColumnDataSource})}:
        columns = {name: np.asarray(column) for name, column in source.data.items()}
        columns = {name: c.astype(float) for name, c in columns.items() if c.ndim == 1 and c.dtype.kind in "fiu"}
        for name, column in columns.items():
            if name in ("x", "epsilon", "n_features"):
                rows = np.isin(column, chosen)
                numbers += [float(v) for other in columns.values() for v in other[: len(rows)][rows[: len(other)]]]
    return [*numbers, *chosen]


def says(stated, value):
    """Return whether a number is the value, or its percentage, rounded to its own digits or to three."""
    digits = len(stated.partition(".")[2])
    return any(
        round(v, digits) == float(stated.replace(",", "")) or f"{v:,.3g}" == stated or phrases.number(v) == stated
        for v in (value, 100 * value)
        if math.isfinite(v)
    )


def missing(figure, text, state, shown):
    """Return the figures of a text that a page does not show; of a difference or a ratio all parts are to be shown."""
    if figure in PARTS:
        return [one for part in PARTS[figure] for one in missing(part, computed(part, state), state, shown)]
    name, *words = figure.split()
    if name in NOT_SHOWN or any(word.split("=")[0] in Settings().names() for word in words):
        return []
    text = text if isinstance(text, str) else phrases.number(text)
    return [figure for stated in NUMBER.findall(text) if not any(says(stated, v) for v in shown)]


def first_of_each_card():
    """Yield the steps, of which all but the first that is about a card of a page are marked `full`."""
    cards = [(step_of(*step).page, step_of(*step).card) for step in STEPS]
    for place, (step, card) in enumerate(zip(STEPS, cards, strict=True)):
        marks = [pytest.mark.full] if card in cards[:place] else []
        yield pytest.param(*step, marks=[*marks, *data_marks(step_of(*step).state, *step_of(*step).figures)])


# test_figures_that_ship_are_those_that_are_computed has the numbers of all
@pytest.mark.parametrize(("lesson", "number"), list(first_of_each_card()))
def test_every_number_of_a_step_is_shown_by_its_step(request, alone, lesson, number):
    step = step_of(lesson, number)
    if step.page in ("train", "evaluate"):  # steps of other pages are about points of their curves
        request.getfixturevalue("short_curves")
    query = "".join(f"&{name}={text}" for name, text in step.state.items() if name != "page")
    page_class, card = PAGES[step.page], step.card or step.picture
    page = alone.enter(step.page, query, only=[page_class.main_card, *page_class.details, card]).page
    shown = shown_by(page, card)
    assert [one for name, text in step.figures.items() for one in missing(name, text, step.state, shown)] == []


# ---- the lessons as a whole ----------------------------------------------------------------------------------------


def test_there_are_the_seven_that_are_wanted_and_each_page_but_one_has_its_turn():
    assert len(lessons()) >= 7
    assert {step.page for lesson in lessons().values() for step in lesson.steps} >= set(PAGES) - {"mydata"}
    for lesson in lessons().values():
        assert 5 <= len(lesson.steps) <= 7
        assert len({step.question for step in lesson.steps}) == len(lesson.steps)
        # who clicks the same place each time is not right each time
        assert len({step.options.index(step.answer) for step in lesson.steps}) > 1


@pytest.mark.parametrize(
    ("lesson", "number"), [pytest.param(*place, marks=data_marks(step_of(*place).state)) for place in STEPS]
)
def test_a_step_is_a_state_that_a_link_opens_without_faults(lesson, number):
    step = step_of(lesson, number)
    position, given, faults = position_of({"lesson": lesson, "step": str(number)})
    assert faults == []
    assert given == dict(step.state)
    settings = Settings()
    assert link.read(settings, given, ["page", *settings.names()]) == []
    # the step's own link says nothing but lesson, step and page
    told = link.query_of(settings, settings.page_names(settings.page), position.state, position.query)
    assert link.parse(told) == {"page": step.page, "lesson": lesson, "step": str(number)}
    assert 2 <= len(step.options) <= 4
    for text, most in ((step.words, 40), (step.question, 25), (step.teaches, 40), *((o, 12) for o in step.options)):
        assert len(plain(text).split()) <= most, text


@pytest.mark.parametrize("page_id", sorted(PAGES))
def test_a_card_that_a_step_is_about_is_on_its_page(page_id):
    for lesson in lessons().values():
        for number, step in enumerate(lesson.steps, 1):
            if step.page == page_id and step.card:
                settings = Settings()
                link.read(settings, step.state, ["page", *settings.names()])
                places = [position.name for position in PAGES[page_id](settings, Pool(1)).slots.values()]
                assert f"place-{page_id}-{step.card}" in places, (lesson.name, number)


@pytest.mark.parametrize(("lesson", "number"), [place for place in STEPS if step_of(*place).control])
def test_the_control_of_a_step_is_laid_where_it_stands_behind_advanced(lesson, number):
    shell, step = Shell(), step_of(lesson, number)
    shell.link({"lesson": lesson, "step": str(number)})
    widget = shell.shown.controls.widgets.get(step.control)  # some cards have their own
    behind, laid = shell.shown.controls.advanced, shell.shown.slots["advanced"]
    assert list(laid.select(lambda part: part is widget)) == list(behind.select(lambda part: part is widget))
    shell.stop()


def test_what_the_reader_changes_stands_in_the_link_and_comes_back():
    start = {"lesson": "what-epsilon-means", "step": "2"}
    position, given, _ = position_of(start)
    settings = Settings()
    link.read(settings, given, ["page", *settings.names()])
    assert settings.epsilon == 2.0
    for epsilon in (0.1, 5.0):  # the default, too: it is not the step's
        settings.epsilon = epsilon
        told = link.parse(link.query_of(settings, settings.page_names("explore"), position.state, position.query))
        assert told == {**start, "page": "explore", "epsilon": f"{epsilon:g}"}
        again, (_, given, faults) = Settings(), position_of(told)
        assert faults == link.read(again, given, ["page", *again.names()]) == []
        assert again.epsilon == epsilon
    # another page within the lesson
    settings.page = "train"
    told = link.parse(link.query_of(settings, settings.page_names("train"), position.state, position.query))
    assert told["page"] == "train"
    assert position_of(told)[1]["page"] == "train"


@pytest.mark.parametrize(
    ("given", "sentence", "told"),
    [
        ({"lesson": "alchemy"}, "lesson = alchemy is not allowed: it must be one of what-epsilon-means", {}),
        (
            {"lesson": "whose-error", "step": "9"},
            "step = 9 is not allowed: it must be a whole number from 1 to 6",
            {"lesson": "whose-error", "step": "1"},
        ),
        ({"lesson": "whose-error", "step": "²"}, "step = ² is not allowed", {"lesson": "whose-error", "step": "1"}),
        ({"step": "2"}, "step = 2 is not allowed: it must stand beside a lesson", {}),
        ({"lessons": "yes"}, "lessons = yes is not allowed: it must be 1", {}),
        ({"lesson": "x" * 500}, "lesson = " + "x" * 40 + "… is not allowed", {}),
    ],
)
def test_a_place_that_is_not_there_is_a_fault_that_is_said(given, sentence, told):
    position, settings, faults = position_of({**given, "draws": "20"})
    assert len(faults) == 1
    assert faults[0].startswith(sentence)
    assert position.query == told
    assert settings["draws"] == "20"
    assert len(link.faults(faults)) <= 300


def test_the_list_of_lessons_is_a_place():
    position, settings, faults = position_of({"lessons": "1", "page": "noise"})
    assert (position.query, dict(position.state), settings, faults) == ({"lessons": "1"}, {}, {"page": "noise"}, [])


def test_the_browser_gets_every_step_once_and_no_element_ends_early():
    text = payload()
    assert "</" not in text
    told = json.loads(text)
    assert [lesson["name"] for lesson in told] == list(lessons())
    for lesson in told:
        for step, read in zip(lesson["steps"], lessons()[lesson["name"]].steps, strict=True):
            assert step["options"][step["answer"]] == read.answer
            assert step["page"] == read.page
            assert "[[" not in json.dumps(step)
    assert text.count("data-term=") >= 15


# ---- a teacher's file ----------------------------------------------------------------------------------------------

GOOD = FOLDER / "1-what-epsilon-means.yaml"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: What does ε mean?", "", "mine.yaml, title = None is not allowed: it must be given"),
        ("title: What", "colour: red\ntitle: What", "mine.yaml, colour = 'red' is not allowed: it must be one of"),
        ("page=explore&epsilon=2", "page=explore&epsilon=3", "mine.yaml, step 2, link = 'page=explore&epsilon=3'"),
        ("page=explore&epsilon=2", "epsilon=2", "it must be what an address has behind its question mark, with page="),
        ("page=explore&epsilon=2", "page=explore&noise_touched=2", "link = 'noise_touched' is not allowed"),
        ('answer: "{sure}"', 'answer: "88"', "step 1, answer = '88' is not allowed: it must be one of the options"),
        ('options: ["55", "70", "{sure}"]', "options: [55, 70, 88.1]", "options = 55 is not allowed: it must be a"),
        ('options: ["55", "70", "{sure}"]', 'options: ["55", "55", "88.1"]', "it must be texts that differ"),
        ('answer: "{sure}"', 'answer: "{luck}"', "step 1, answer = '{luck}' is not allowed: it must be a"),
        ("{factor}", "{factor:x}", "step 1, teaches = "),
        ("{factor}", "{factor - sure}", "step 1, teaches = "),
        ("words: Accuracy", "control: noise_size\n    words: Accuracy", "control = 'noise_size' is not allowed"),
        ("words: Accuracy", "card: map\n    words: Accuracy", "card = 'map' is not allowed: it must be a card of"),
        ("[[odds]]", "[[luck]]", "step 1, teaches = '[[luck]]' is not allowed: it must be a term of the glossary"),
        ("steps:", "steps: 3\nothers:", "others = "),
        ("title: What does ε mean?", "title: 'What", "mine.yaml is not YAML: "),
        ("title: What does ε mean?", "title: 3", "mine.yaml, title = 3 is not allowed: it must be a text"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_told_by_step_and_field_and_what_is_allowed(old, new, message):
    text = GOOD.read_text(encoding="utf-8")
    assert read_lesson("mine", text).name == "mine"
    assert old in text
    with pytest.raises(InvalidLesson, match=re.escape(message)):
        read_lesson("mine", text.replace(old, new, 1))


def test_a_lesson_is_read_where_its_data_are_not(monkeypatch, tmp_path):
    monkeypatch.setenv("DPML_DATA", str(tmp_path))
    path = FOLDER / "10-what-became-of-five-papers.yaml"
    lesson = read_lesson("mine", path.read_text(encoding="utf-8"))
    assert lesson.steps[0].state["dataset"] == "newsgroup1"


def test_the_page_for_teachers_counts_the_verdicts_of_the_map():
    steps = lessons()["what-became-of-five-papers"].steps
    verdicts = [text for step in steps for name, text in step.figures.items() if name.startswith("verdict ")]
    assert Counter(verdicts) == {"holds": 1, "holds with a condition": 4, "does not hold": 2}
    words = (ROOT / "docs/how_to/teach.md").read_text(encoding="utf-8")
    assert "Two of seven claims do not hold, and four need a condition." in words
