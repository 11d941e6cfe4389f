"""What holds on every page: controls and their link, missing data, cancel and resume."""

from functools import partial
from operator import methodcaller
from types import SimpleNamespace

import pytest
from each_commit import others_in_full
from playwright.sync_api import expect

pytestmark = pytest.mark.browser
# work that lasts long enough to be cancelled; the source that tells of it; a source that has data once there are some
WORK = {
    "explore": ("&draws=190&seed=97", "explore-work", ("cost-curve", "epsilon")),
    "select": ("&dataset=toy&draws=100&seed=97", "select-work", ("select-rows", "row")),
    "train": (
        "&draws=100&seed=97&train_methods=auto.objective",
        "train-work",
        ("train-methods-rows", "mean"),
    ),
    "publish": ("&dataset=toy&publish_draws=20&seed=97", "publish-work", ("publish-accuracy-table", "epsilon")),
    "evaluate": (
        "&dataset=toy&draws=60&seed=97&evaluate_methods=histogram.recursive-medians",
        "evaluate-work",
        ("evaluate-roc-exact", "fpr"),
    ),
}
press, hit, pick = (partial(methodcaller, name) for name in ("push", "hit", "pick"))


SHARED = [
    (press("Runs"), "draws", ()),
    (hit("button", "Resample"), "seed", ()),
]
# of the envelope some control leaves each part as it is
RELEASES = ("noise-release-intervals", "noise-release-releases")
RANKED = ("select-rows",)
# of each page, what is done to its controls in this order, the setting that the link then has anew, and what the
# browser draws by itself; test_controls.py holds what the server draws
CONTROLS = {
    "explore": (
        "&dataset=toy&draws=10",
        [
            (press("ε"), "epsilon", ()),
            (press("Number of features", "ArrowLeft"), "n_features", ()),
            (press("Budget share for selection"), "selection_share", ()),
            (press("Threshold percentile"), "threshold_percentile", ()),
            (pick("Score", "Mutual information"), "map_score", ()),
            (pick("Model", "Logistic"), "hand_model", ()),
            (press("Regularisation λ", "ArrowLeft"), "reg_lambda", ()),
            *SHARED,
            (hit("radio", "Replace one record"), "relation", ()),
        ],
    ),
    "noise": (
        "",
        [
            (press("Changed numbers k"), "noise_touched", ()),
            (press("δ of Gaussian noise"), "noise_delta", ()),
            (press("β as a share of ε", "ArrowLeft"), "noise_beta", RELEASES),
            (pick("Statistic", "Mean"), "noise_statistic", RELEASES),
            (pick("Points", "Skewed"), "noise_preset", RELEASES),
            (press("Number of points", "ArrowLeft"), "noise_size", RELEASES),
            (hit("button", "Resample"), "noise_seed", ("noise-release-releases",)),
            (pick("Mechanism", "Staircase"), "noise_mechanism", ()),
            (press("Sensitivity Δ"), "noise_sensitivity", ()),
            (press("ε of the noise", "ArrowLeft"), "noise_epsilon", RELEASES),
        ],
    ),
    "select": (
        "&dataset=toy&draws=10&n_features=5",
        [
            (press("ε"), "epsilon", RANKED),
            (press("Number of features"), "n_features", RANKED),
            (press("Budget share for selection", "ArrowLeft"), "selection_share", RANKED),
            (hit("radio", "Mutual information"), "select_order", ("select-rows",)),
            (hit("checkbox", "Joint mechanism, by counts"), "select_methods", ()),
            *SHARED,
            (hit("radio", "Replace one record"), "relation", RANKED),
        ],
    ),
    "train": (
        "&draws=10&train_methods=binned.algorithm-1.objective",
        [
            (press("Threshold percentile"), "threshold_percentile", ()),
            (press("ε"), "epsilon", ()),
            (hit("checkbox", "Output perturbation"), "train_methods", ()),
            *SHARED,
            (hit("radio", "Replace one record"), "relation", ()),
            (press("λ of linear models"), "train_lambda", ()),
        ],
    ),
    "evaluate": (
        "&dataset=toy&draws=10&evaluate_methods=histogram.laplace&epsilon=1",
        [
            (press("ε"), "epsilon", ("evaluate-roc-band", "evaluate-roc-release")),
            (hit("checkbox", "Laplace: not private"), "evaluate_methods", ()),
            (press("Runs"), "draws", ("evaluate-roc-band",)),
            (hit("button", "Resample"), "seed", ("evaluate-roc-band",)),
            (hit("radio", "Replace one record"), "relation", ("evaluate-roc-band",)),
            (press("Test records"), "evaluate_tested", ("evaluate-roc-band",)),
        ],
    ),
    "audit": (
        "&audit_draws=1000&audit_method=geometric",
        [
            (press("Claimed ε"), "audit_epsilon", ()),
            (hit("button", "Resample"), "audit_seed", ()),
            (press("Number of samples"), "audit_draws", ()),
            (hit("radio", "Replace one record"), "audit_relation", ()),
            (pick("Method (✗: claim violated)", "Laplace mechanism"), "audit_method", ()),
        ],
    ),
}
LENGTH = "([name, column]) => Bokeh.documents[0].get_model_by_name(name)?.data[column].length ?? 0"


# test_controls.py and test_cards.py hold the controls of the others
@pytest.mark.parametrize("name", others_in_full(CONTROLS, "select"))
def test_each_control_goes_into_the_link_and_the_browser_draws_at_once(app, name):
    query, controls = CONTROLS[name]
    app.enter(name, query)
    for do, setting, drawn in controls:
        before, link, answers = [app.written(source) for source in drawn], app.query, app.answers
        do(app)
        # the address follows the setting; what is computed for it is not waited for
        app.wait_for_link(setting, link[setting])
        for source, data in zip(drawn, before, strict=True):
            app.wait_for_other(source, data)
        app.wait_for_answer(answers)
        now = app.query
        assert {n for n in link if link[n] != now[n]} == {setting}, setting
    assert app.alerts == []


# test_work_engine.py holds what a cancel does to the engine that they share
@pytest.mark.parametrize("name", others_in_full(WORK, "select"))
def test_work_is_cancelled_and_taken_up_again(app, name):
    heavy, state, _ = WORK[name]
    app.enter(name, heavy, wait=False)
    # a card that comes, or another setting, would begin the work anew once it has been cancelled
    app.settle(0, working=False)
    if name == "publish":
        before = app.answers
        app.pick("Classifier", "Linear SVM")
        app.settle(before, working=False)
    app.hit("button", "Cancel")
    app.page.get_by_role("button", name="Resume", exact=True).wait_for()
    app.page.wait_for_function("(name) => !Bokeh.documents[0].get_model_by_name(name).data.running[0]", arg=state)
    held = app.read(state)
    assert held["done"][0] < held["total"][0]
    app.wait_for_text("Cancelled")
    app.page.wait_for_timeout(700)
    assert app.read(state) == held
    app.hit("button", "Resume")
    # it goes on where it was; that it ends is what every other test waits for
    app.page.wait_for_function(
        "([name, held]) => Bokeh.documents[0].get_model_by_name(name).data.done[0] > held", arg=[state, held["done"][0]]
    )


@pytest.fixture(scope="module")
def without_data(module_server, tmp_path_factory):
    """A server that has no files and no network to fetch them from."""
    home = tmp_path_factory.mktemp("nothing")
    nowhere = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere)
    return SimpleNamespace(server=module_server(DPML_DATA=str(home), no_proxy="localhost", **proxies), home=home)


# test_real_data.py holds the offer of what is not here
@pytest.mark.parametrize("name", others_in_full(WORK, "explore"))
def test_missing_and_damaged_data_are_said_and_another_set_still_works(make_app, without_data, name):
    (without_data.home / "Skin_NonSkin.txt").write_bytes(b"1\t2\t3\n")
    source, column = WORK[name][2]
    app = make_app(without_data.server).enter(name, "&dataset=adult&draws=10", wait=False)
    app.wait_for_alerts("adult is not on this machine yet. Press Download to get it. The page shows census.")
    expect(app.page.get_by_role("button", name="Download", exact=True)).to_be_visible()
    # no axes are empty, and nobody is asked for an environment variable
    app.page.wait_for_function(f"(of) => ({LENGTH})(of) > 0", arg=[source, column])
    assert "DPML_DATA" not in app.text
    app.pick("Data set", "Toy, generated")
    app.page.wait_for_function("location.search.includes('dataset=toy')")
    app.page.get_by_role("button", name="Download", exact=True).wait_for(state="hidden")
    app.page.wait_for_function(f"(of) => ({LENGTH})(of) > 0", arg=[source, column])
    if name == "explore":
        # a damaged file is said, and the data before are shown again
        app.pick("Data set", "Skin colours")
        app.page.get_by_text("skin, so toy is shown: the data file 'Skin_NonSkin.txt'").wait_for()
        app.page.wait_for_function("location.search.includes('dataset=toy')")
        app.page.wait_for_function(f"(of) => ({LENGTH})(of) > 0", arg=[source, column])
