"""A lesson as one file: its plots show what its steps state, and it loads nothing."""

import re
import sys

import pytest
from dpml_app.lessons import FOLDER, InvalidLesson, lessons, read_lesson
from dpml_app.lessons.export import exported, main
from dpml_app.lessons.figures import computed, settings_of
from dpml_app.page_list import PAGES
from dpml_app.pages.audit import compute as audit
from dpml_app.pages.audit.compute import AuditValues
from lesson_claims import data_marks

from dpml.exceptions import InvalidParameter


def plot_of(step):
    return PAGES[step.page].lesson_plot(settings_of(step.state), step.card, list(step.state))


def marked(cases):
    """Return the cases, those of data whose files do not ship marked `data`."""
    return [pytest.param(*case, marks=data_marks(lessons()[case[0]].steps[case[1] - 1].state)) for case in cases]


# the points of an axis, and the setting that chooses one
AXES = {"TRAIN_LAMBDAS": "train_lambda", "PERCENTILES": "threshold_percentile"}


@pytest.mark.parametrize(
    ("lesson", "number", "label", "check"),
    marked([
        ("what-it-costs", 1, "private", "main number=default"),
        ("what-it-costs", 1, "non-private baseline", "main number=non-private"),
        ("what-it-costs", 7, "AutoClassifier", "trained method=auto"),
        ("whose-error", 3, "Logistic, output", "trained method=output"),
        ("whose-error", 3, "Without noise", "without_noise"),
        ("whose-error", 4, "Algorithm 1 (Antonova 2016)", "thresholded"),
        ("counts-or-information", 5, "Masks, by mutual information", "accuracy_of selector=mask-mi"),
        ("the-curve-that-leaks", 3, "Best attack on the release", "best_attack"),
        ("the-curve-that-leaks", 5, "FixedSpace: reveals n", "off method=fixed-space"),
        ("noise-that-knows-its-data", 4, "Cauchy, smooth sensitivity", "noise_width"),
        ("noise-that-knows-its-data", 6, "Actual ε", "true_epsilon"),
        ("what-epsilon-means", 4, "Laplace", "mean_noise"),
        ("what-a-table-is-worth", 4, "synthetic table", "on_published_table"),
        ("what-a-table-is-worth", 4, "linear model", "linear"),
        ("what-a-public-table-is-worth", 3, "Actual ε", "true_epsilon"),
        ("what-became-of-five-papers", 2, "custom model", "main number=custom"),
        ("what-became-of-five-papers", 4, "RecursiveMedians", "off method=recursive-medians"),
        ("what-became-of-five-papers", 7, "Noisy moments (ours)", "answered source=moments"),
    ]),
)  # fmt: skip
def test_a_plot_of_an_export_shows_what_its_step_states(monkeypatch, lesson, number, label, check):
    step = lessons()[lesson].steps[number - 1]
    # a point of the axis that is not compared is not computed, but for the first
    module, settings = sys.modules[PAGES[step.page].lesson_plot.__module__], settings_of(step.state)
    axes = AXES | dict.fromkeys(("EPSILONS", "SWEEP_EPSILONS"), PAGES[step.page].risk_of[0])
    for name, setting in axes.items():
        if points := getattr(module, name, ()):
            kept = points[0], getattr(settings, setting)
            monkeypatch.setattr(module, name, tuple(point for point in points if point in kept))
    shown = plot_of(step)
    [line] = [line for line in shown.lines if line.look.label == label]
    drawn = line.middle[list(shown.values).index(shown.chosen)]
    assert drawn == pytest.approx(float(str(computed(check, step.state)).rstrip("%")), abs=0.05)
    assert {len(of) for of in (line.middle, line.low, line.high)} <= {0, len(shown.values)}


def test_bars_of_an_export_are_the_probabilities_of_its_step():
    step = lessons()["published-and-not-private"].steps[1]
    exact = audit.exact(AuditValues.of(settings_of(step.state)).key())
    shown = plot_of(step)
    at, output = list(shown.values).index(shown.chosen), shown.outputs.index("first")
    assert shown.first[at][output] == 0
    assert shown.second[at][output] == pytest.approx(100 * exact["outputs"][(1.0,)][1])
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
    assert "No, its width would reveal data" in text
    assert "MB" in capsys.readouterr().out


def test_an_export_without_data_has_every_step_and_says_what_it_lacks(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DPML_DATA", str(tmp_path / "nothing"))
    file = tmp_path / "lesson.html"
    assert main(["what-became-of-five-papers", str(file)]) == 0
    text = file.read_text(encoding="utf-8")
    assert text.count('class="of-step"') == len(lessons()["what-became-of-five-papers"].steps) == 7
    assert text.count('<section class="of-step" hidden><p class="no-plot">No plot: the files of the data set') == 6
    assert "6 steps have no plot" in capsys.readouterr().out
    assert not (tmp_path / "nothing").exists()


def test_a_figure_is_not_computed_from_data_that_would_be_downloaded(monkeypatch, tmp_path):
    monkeypatch.setenv("DPML_DATA", str(tmp_path / "nothing"))
    state = {"page": "train", "dataset": "seeds"}
    assert settings_of(state).dataset == "seeds"
    with pytest.raises(InvalidParameter, match=r"`dataset` must be .* dpml\.datasets\.fetch\('seeds'\).*Got 'seeds'"):
        computed("trained method=global", state)
    assert not (tmp_path / "nothing").exists()


def test_an_export_says_which_page_it_cannot_show(monkeypatch):
    monkeypatch.setattr(PAGES["train"], "lesson_plot", None)
    text = (FOLDER / "1-what-epsilon-means.yaml").read_text(encoding="utf-8")
    lesson = read_lesson("mine", text.replace("page=explore&epsilon=2", "page=train"))
    with pytest.raises(InvalidLesson, match=r"mine.yaml, step 2, link = 'page=train' is not allowed: .* evaluate"):
        exported(lesson)


def test_an_export_of_no_lesson_is_refused(tmp_path, capsys):
    assert main(["alchemy", str(tmp_path / "lesson.html")]) == 2
    assert "`name` must be one of what-epsilon-means" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
