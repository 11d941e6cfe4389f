"""Each control changes what it should on its page, and nothing else: the data of plots, read without a browser."""

import pytest
from dpml_app.shell import Shell

NAIVE = ("binned", "row-bounded", "global", "smooth", "algorithm-1", "published")
BY_HAND = {"by-hand", "point", "roc", "roc-exact"}


def named(form, *names):
    return [form.format(name) for name in names]


# of each page: what is opened, and groups of its data sources; what the browser draws by itself it is told by sources
# that are named here as well
PAGES = {
    # of few fits, so at a seed of which nothing ships
    "explore": (
        "&dataset=toy&draws=20&seed=4",
        {
            "roc": ["roc-private"], "roc-exact": ["roc-exact"],
            "by-hand": ["cost-hand", "cost-hand-now"], "point": ["cost-hand-now"], "default": ["cost-curve"],
        },
    ),
    "noise": (
        "",
        {
            "count": ["noise-densities", "noise-releases"],
            "rivals": named("noise-rivals-{}", "laplace", "geometric", "staircase", "gaussian"),
            "points": ["noise-release-points"], "levels": ["noise-envelope-terms", "noise-envelope-global"],
            "release": ["noise-release-releases"],
        },
    ),
    "select": (
        "&dataset=toy&draws=10&n_features=5",
        {
            "rows": ["select-rows"],
            "accuracy": named("select-accuracy-{}", "mask-count", "mask-mi", "exact", "joint", "all", "best"),
        },
    ),
    "train": (
        "&draws=10&epsilon=2&train_methods=" + ".".join(NAIVE),
        {
            "accuracy": named("train-accuracy-{}", *NAIVE), "now": ["train-methods-rows"],
            "threshold": ["train-threshold-algorithm-1"],
        },
    ),
    # λ from 0.01 on: below the public rule's, so that it shows
    "linear": (
        "&draws=10&dataset=toy&epsilon=1&seed=4&train_methods=output",
        {
            "accuracy": ["train-accuracy-output"],
            "now": ["train-methods-rows"],
            "lambda": named("train-lambda-{}", "objective", "output"),
        },
    ),
    "evaluate": (
        "&dataset=toy&draws=10&evaluate_methods=histogram.laplace&epsilon=1",
        {
            "told": ["evaluate-counts", "evaluate-noise", "evaluate-now"],
            "exact": ["evaluate-roc-exact"],
            "errors": ["evaluate-errors-histogram", "evaluate-errors-laplace"],
            "success": ["evaluate-success-best"],
        },
    ),
    "publish": (
        "&dataset=toy&publish_draws=5&publish_grids=100&epsilon=1",
        {
            "table": ["publish-accuracy-table", "publish-models-table"],
            "cells": ["publish-models-cells"], "linear": ["publish-models-linear"],
            "drawn": ["publish-tables-kept", "publish-tables-others"],
            "release": ["publish-chances-bars"],
        },
    ),
    "audit": (
        "&audit_draws=1000&audit_method=geometric",
        {
            "outputs": ["audit-output-first", "audit-output-second", "audit-output-claim"], "ring": ["audit-chosen"],
        },
    ),
}  # fmt: skip
# in this order on one page: a setting, its new value, and the groups that must change
DRAWN = {"told", "errors"}
CHANGES = {
    "explore": [
        # an ε between those of the default's curve is added to it
        ("epsilon", 0.125, {*BY_HAND, "default"}),
        ("relation", "replace-one", {*BY_HAND, "default"}),
        ("n_features", 19, BY_HAND),
        ("selection_share", 0.55, BY_HAND),
        ("threshold_percentile", 66, BY_HAND),
        ("map_score", "mutual_information", BY_HAND),
        ("hand_model", "logistic", BY_HAND),
        ("reg_lambda", 20.0, BY_HAND),
        # twenty runs at any number of draws
        ("draws", 30, {"roc"}),
        ("seed", 1, {*BY_HAND, "default"}),
    ],
    "noise": [
        ("noise_touched", 2, {"rivals"}),
        ("noise_delta", 1e-5, {"rivals"}),
        ("noise_beta", "1/12", {"levels", "release"}),
        ("noise_statistic", "mean", {"levels", "release"}),
        ("noise_preset", "skewed", {"points", "levels", "release"}),
        ("noise_size", 20, {"points", "levels", "release"}),
        ("noise_seed", 1, {"count", "release"}),
        ("noise_mechanism", "staircase", {"count"}),
        ("noise_sensitivity", 2, {"count", "rivals"}),
        ("noise_epsilon", 0.8, {"count", "levels", "release"}),
    ],
    "select": [
        ("epsilon", 2.0, {"rows", "accuracy"}),
        ("n_features", 6, {"rows"}),
        ("selection_share", 0.9, {"rows", "accuracy"}),
        ("select_order", "mutual_information", {"rows"}),
        ("select_methods", ["mask-count", "mask-mi", "exact", "joint"], {"accuracy"}),
        ("select_methods", ["mask-count", "exact", "joint"], {"accuracy"}),
        ("draws", 20, {"accuracy"}),
        ("seed", 1, {"accuracy"}),
        ("relation", "replace-one", {"rows", "accuracy"}),
    ],
    "train": [
        ("threshold_percentile", 66, {"accuracy", "now", "threshold"}),
        ("epsilon", 2.5, {"now", "threshold"}),
        ("relation", "replace-one", set(PAGES["train"][1])),
        ("seed", 1, set(PAGES["train"][1])),
        ("draws", 20, set(PAGES["train"][1])),
    ],
    "linear": [
        ("train_lambda", 0.01, {"accuracy", "now"}),
        ("epsilon", 1.25, {"now", "lambda"}),
    ],
    "evaluate": [
        # the browser draws the curves
        ("epsilon", 1.25, set()),
        ("evaluate_methods", ["histogram"], {"errors"}),
        ("draws", 20, {"told", "errors"}),
        ("seed", 1, DRAWN),
        ("relation", "replace-one", DRAWN | {"success"}),
        ("evaluate_tested", 200, DRAWN | {"exact"}),
    ],
    # at each commit one, whose figures are nearly all
    "publish": [
        ("publish_share", 0.47, {"table", "cells", "drawn", "release"}),
    ],
    "publish-more": [
        ("epsilon", 1.25, {"drawn", "release"}),
        ("publish_grids", 300, {"table", "cells", "drawn", "release"}),
        ("publish_classifier", "logistic", {"table"}),
        ("seed", 1, {"table", "cells", "linear", "drawn"}),
        ("relation", "replace-one", {"table", "cells", "linear", "drawn", "release"}),
        ("publish_draws", 10, {"table", "cells", "linear"}),
    ],
    "audit": [
        ("audit_epsilon", 1.5, {"outputs", "ring"}),
        ("audit_seed", 1, {"outputs"}),
        ("audit_method", "laplace", {"outputs", "ring"}),
        ("audit_draws", 1600, {"outputs"}),
        ("audit_relation", "replace-one", {"outputs"}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", [*PAGES, pytest.param("publish-more", marks=pytest.mark.full)])
def test_each_control_changes_what_it_should_and_nothing_else(request, short_curves, case):
    page_id = case.partition("-")[0]
    alone = request.getfixturevalue("alone_of_few_fits" if page_id == "explore" else "alone")
    query, groups = PAGES[page_id]
    alone.enter("train" if page_id == "linear" else page_id, query)

    def read():
        return {group: [alone.read(name) for name in names if name in alone.sources] for group, names in groups.items()}

    before, link = read(), alone.settings
    for name, value, expected in CHANGES[case]:
        alone.act(**{name: value})
        after, now = read(), alone.settings
        assert {group for group in groups if before[group] != after[group]} == expected, (name, value)
        moved = {setting for setting in link if link[setting] != now[setting]}
        assert moved == {name}, (name, value)
        before, link = after, now
    assert alone.faults == alone.alerts == []


def test_a_reminder_leaves_the_browser_its_own_settings():
    shell = Shell()
    shell.link({"dataset": "toy"})
    controls = shell.shown.controls
    [told] = controls._told
    before = {name: list(column) for name, column in told.data.items()}
    controls.settings.epsilon = 1.0  # the browser hears of it by its slider, which may be further by now
    controls.remind()
    assert told.data["epsilon"] == before["epsilon"] == [0.1]
    assert told.data["serial"] == [before["serial"][0] + 1]
