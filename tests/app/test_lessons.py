"""The lessons: what each states is computed anew, and a file that is wrong is told in words that help."""

import json
import re
from pathlib import Path

import lesson_figures  # noqa: F401 (it fills CHECKS)
import lesson_figures_more  # noqa: F401
import lesson_figures_publish  # noqa: F401
import lesson_figures_weights  # noqa: F401
import pytest
from dpml_app.core import link
from dpml_app.lessons import FOLDER, InvalidLesson, lessons, position_of, read_lesson
from dpml_app.lessons.export import exported, main
from dpml_app.lessons.panel import payload
from dpml_app.lessons.read import plain
from dpml_app.page_list import PAGES
from dpml_app.state import Settings
from dpml_app.work.pool import Pool
from lesson_checks import CHECKS, numbers, run, says, settings_of

from dpml.catalogue import CATALOGUE

ROOT = Path(__file__).parents[2]
STEPS = [(lesson, number) for lesson, of in lessons().items() for number in range(1, len(of.steps) + 1)]
# figures that are part of a name, a year of a source, a whole of 100, of the case that is shown, or of another step
TAKEN = ("name", "year", "scale", "known", "in-the-case")


def step_of(lesson, number):
    return lessons()[lesson].steps[number - 1]


def said(step):
    """Return what a step states as true."""
    return " ".join(plain(text) for text in (step.words, step.question, step.answer, step.teaches))


# ---- figures and claims -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lesson", "number"), STEPS)
def test_every_number_of_a_step_names_its_check(lesson, number):
    step = step_of(lesson, number)
    stated = set(numbers(said(step)))
    assert stated - set(step.figures) == set()
    assert set(step.figures) - stated == set(), "figures that the step does not state"
    checks = [check.split()[0] for check in (*step.figures.values(), *step.claims)]
    assert set(checks) - set(CHECKS) - set(TAKEN) == set()


@pytest.mark.parametrize(("lesson", "number"), STEPS)
def test_figures_and_claims_of_a_step_are_computed(lesson, number):
    step = step_of(lesson, number)
    for figure, check in step.figures.items():
        if check not in TAKEN:
            found = run(check, step)
            assert says(figure, found), f"{figure} is stated, and {check} is {found}"
    for claim in step.claims:
        assert bool(run(claim, step)), claim


@pytest.mark.parametrize(("lesson", "number"), STEPS)
def test_figures_that_are_taken_over_stand_where_they_come_from(lesson, number):
    step = step_of(lesson, number)
    others = [other for other in lessons()[lesson].steps if other is not step]
    for figure, origin in step.figures.items():
        if origin == "name":
            assert f"Algorithm {figure}" in said(step)
        elif origin == "scale":
            assert figure == "100"
        elif origin == "known":
            assert any(other.figures.get(figure, "known") != "known" for other in others), figure
        elif origin == "year":
            known = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")
            assert re.search(rf"(Stoddard|Zafarani).* {figure} \|", known), figure
        elif origin == "in-the-case":
            case = CATALOGUE[step.state["audit_method"]].case(1.0, "add-remove")
            assert figure in numbers(case.words)


def test_a_wrong_figure_is_found():
    assert says("84.3", 84.33)
    assert says("5,360", 5358.0)
    assert says("88", 88.49)
    assert not says("84.4", 84.33)
    assert not says("5,300", 5358.0)
    assert not says("1", float("inf"))
    assert numbers("(1, 1) at ε = 0.05, of 20,000: 3 %") == ["1", "1", "0.05", "20,000", "3"]


# ---- the lessons as a whole ----------------------------------------------------------------------------------------


def test_there_are_the_seven_that_are_wanted_and_each_page_but_one_has_its_turn():
    assert len(lessons()) >= 7
    assert {step.page for lesson in lessons().values() for step in lesson.steps} >= set(PAGES) - {"mydata"}
    for lesson in lessons().values():
        assert 5 <= len(lesson.steps) <= 7
        assert len({step.question for step in lesson.steps}) == len(lesson.steps)
        # who clicks the same place each time is not right each time
        assert len({step.options.index(step.answer) for step in lesson.steps}) > 1


@pytest.mark.parametrize(("lesson", "number"), STEPS)
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
    assert step.answer in step.options
    assert len(plain(step.words).split()) <= 40


@pytest.mark.parametrize("page_id", sorted(PAGES))
def test_a_card_that_a_step_is_about_is_on_its_page(page_id):
    for lesson in lessons().values():
        for number, step in enumerate(lesson.steps, 1):
            if step.page == page_id and step.card:
                settings = Settings()
                link.read(settings, step.state, ["page", *settings.names()])
                places = [position.name for position in PAGES[page_id](settings, Pool(1)).slots]
                assert f"place-{page_id}-{step.card}" in places, (lesson.name, number)


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
        ("page=explore&epsilon=2", "page=explore&noise_gap=2", "link = 'noise_gap' is not allowed: it must be a"),
        ('answer: "88.1"', 'answer: "88"', "step 2, answer = '88' is not allowed: it must be one of the options"),
        ('options: ["55", "70", "88.1"]', "options: [55, 70, 88.1]", "options = 55 is not allowed: it must be a text"),
        ('options: ["55", "70", "88.1"]', 'options: ["88.1"]', "it must be a list of 2 to 4 texts"),
        ('options: ["55", "70", "88.1"]', 'options: ["55", "55", "88.1"]', "it must be texts that differ"),
        ("[[odds]]", "[[luck]]", "step 1, teaches = '[[luck]]' is not allowed: it must be a term of the glossary"),
        ("So somebody proposes ε = 2.", "So " * 40, "step 2, words = '52 words' is not allowed: it must be at most 40"),
        ("steps:", "steps: 3\nothers:", "others = "),
        ("title: What does ε mean?", "title: 'What", "mine.yaml, text = "),
        ("title: What does ε mean?", "title: 3", "mine.yaml, title = 3 is not allowed: it must be a text"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_told_by_step_and_field_and_what_is_allowed(old, new, message):
    text = GOOD.read_text(encoding="utf-8")
    assert read_lesson("mine", text).name == "mine"
    assert old in text
    with pytest.raises(InvalidLesson, match=re.escape(message)):
        read_lesson("mine", text.replace(old, new, 1))


def test_a_lesson_has_five_to_seven_steps():
    text = GOOD.read_text(encoding="utf-8")
    short = text[: text.index("  - link: page=noise")]
    with pytest.raises(InvalidLesson, match=r"mine.yaml, steps = 3 is not allowed: it must be a list of 5 to 7 steps"):
        read_lesson("mine", short)
    with pytest.raises(InvalidLesson, match="step = 'x'"):
        read_lesson("mine", text.split("steps:")[0] + "steps: [x, x, x, x, x]")


# ---- a lesson as one file ------------------------------------------------------------------------------------------


def plot_of(step):
    return PAGES[step.page].lesson_plot(settings_of(step), step.card, list(step.state))


@pytest.mark.parametrize(
    ("lesson", "number", "label", "check"),
    [
        ("what-it-costs", 1, "Algorithm 1 of the thesis", "accuracy published"),
        ("what-it-costs", 5, "Row-bounded without noise", "without-noise row-bounded"),
        ("whose-error", 3, "Logistic, output", "accuracy logistic"),
        ("whose-error", 3, "The same without noise", "without-noise logistic"),
        ("whose-error", 4, "Algorithm 1 of the thesis", "accuracy published"),
        ("counts-or-information", 5, "Masks, by mutual information", "accuracy-of mask-mi"),
        ("the-curve-that-leaks", 3, "Best attack on the release", "best-attack"),
        ("the-curve-that-leaks", 5, "FixedSpace: publishes n", "off fixed-space"),
        ("noise-that-knows-its-data", 4, "Cauchy, by smooth sensitivity", "noise-width"),
        ("noise-that-knows-its-data", 6, "6/ε, Theorem 2", "calibration-costs theorem-2"),
        ("what-epsilon-means", 4, "Laplace", "mean-noise"),
        ("what-a-table-is-worth", 4, "published table", "on-published-table"),
        ("what-a-table-is-worth", 4, "linear model", "trained linear"),
        ("what-a-public-table-is-worth", 3, "True cost", "true-epsilon"),
    ],
)
def test_a_plot_of_an_export_shows_what_its_step_states(lesson, number, label, check):
    step = step_of(lesson, number)
    shown = plot_of(step)
    [line] = [line for line in shown.lines if line.look.label == label]
    assert line.middle[list(shown.values).index(shown.chosen)] == pytest.approx(run(check, step))
    assert {len(of) for of in (line.middle, line.low, line.high)} <= {0, len(shown.values)}


def test_bars_of_an_export_are_the_probabilities_of_its_step():
    step = step_of("published-and-not-private", 4)
    shown = plot_of(step)
    at, output = list(shown.values).index(shown.chosen), shown.outputs.index("a")
    assert shown.first[at][output] == 0
    assert shown.second[at][output] == pytest.approx(run("chance-after 1", step))
    assert sum(shown.first[at]) == pytest.approx(100)
    assert sum(shown.second[at]) == pytest.approx(100)


def test_an_export_loads_nothing_and_holds_every_step(tmp_path, capsys):
    file = tmp_path / "lesson.html"
    assert main(["noise-that-knows-its-data", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    # scripts hold tags in their texts
    tags = re.sub(r"(<script[^>]*>).*?</script>", r"\1", text, flags=re.S)
    assert re.findall(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=", tags) == []
    assert text.count('class="of-step"') == 6
    assert "No, its width would tell" in text
    assert "MB" in capsys.readouterr().out


def test_an_export_says_which_page_it_cannot_show(monkeypatch):
    monkeypatch.setattr(PAGES["train"], "lesson_plot", None)
    lesson = read_lesson("mine", GOOD.read_text(encoding="utf-8").replace("page=explore&epsilon=2", "page=train"))
    with pytest.raises(InvalidLesson, match=r"mine.yaml, step 2, link = 'page=train' is not allowed: .* evaluate"):
        exported(lesson)


def test_an_export_of_no_lesson_is_refused(tmp_path, capsys):
    assert main(["alchemy", str(tmp_path / "lesson.html")]) == 2
    assert "name = 'alchemy' is not allowed: it must be one of what-epsilon-means" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
