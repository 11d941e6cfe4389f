"""What the Publish page computes is what the library does, and its figures and words hold what they should."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dpml_app import uploaded_table
from dpml_app.core.card import WORKER
from dpml_app.jobs import Pool, forget
from dpml_app.pages.publish import compute
from dpml_app.pages.publish.compute import (
    BEST,
    CLASSIFIERS,
    PUBLISH_DATASETS,
    PublishValues,
    drawn_table,
    make_shipped,
    read_own,
    records,
    release_facts,
    shares_of,
    shipped_facts,
)
from dpml_app.pages.publish.page import PublishPage
from dpml_app.settings import EPSILONS, SWEEP_EPSILONS
from dpml_app.state import Settings
from each_commit import others_in_full
from sklearn.tree import DecisionTreeClassifier

from dpml.classifiers import LinearClassifier, PrivPfCClassifier
from dpml.classifiers.grid import GridQuality, grid_counts, quality_range
from dpml.classifiers.grid.cells import SHARES, divided
from dpml.datasets import NAMES, load, taxonomies
from dpml.exceptions import InvalidData
from dpml.publishing import PrivPfC, PrivPfCSelNF
from dpml.schema import Feature, Schema
from dpml.studies.publishing import CART, one_hot

ROOT = Path(__file__).parents[2]
TOY = ("toy", "add-remove", 1.0, 100, 0.37)


def drawn(seed, draw):
    return np.random.default_rng([seed, draw])


# ---- tables ---------------------------------------------------------------------------------------------------------


TEXTS = {"newsgroup1", "newsgroup2", "newsgroup3", "xwindows", "sms"}


def test_data_sets_are_those_with_columns():
    assert {*PUBLISH_DATASETS, *TEXTS} == set(NAMES)
    assert TEXTS.isdisjoint(PUBLISH_DATASETS)


@pytest.mark.data
def test_a_text_is_refused_in_words():
    with pytest.raises(InvalidData, match="sms is text: it has 8,444 words and no columns"):
        compute.tables("sms")


@pytest.mark.data
@pytest.mark.parametrize(
    "name", others_in_full(["adult", "bank", "mushrooms", "skin", "seeds", "glass"], "bank", "glass")
)
def test_other_data_sets_are_published_and_learned(name):
    drawn = compute.published(name, "add-remove", 1.0, 10, 0.37, "logistic", 1, 0)
    assert 0.1 < drawn[0] < compute.on_true_table(name, "logistic") + 0.05
    assert 0.1 < compute.linear(name, "add-remove", 1.0, 1, 0)[0] <= 1


def test_a_table_with_many_columns_is_published():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(2, size=(500, 120)), columns=[f"asked-{number}" for number in range(120)])
    frame["label"] = np.where(frame["asked-70"] == (rng.random(500) < 0.9), "yes", "no")
    schema = Schema(tuple(map(Feature, frame.columns[:-1])), ("no", "yes"), n_lower=400)
    table = uploaded_table.make(frame, "label", schema, "survey.csv")
    uploaded_table.attach(table)
    try:
        assert len(compute.facts(table.name).columns) == 120
        assert compute.published(table.name, "add-remove", 5.0, 100, 0.37, "cart", 1, 0)[0] > 0.7
    finally:
        forget(table.name)


def test_raw_tables_are_the_data_set_s_and_levels_its_taxonomies():
    found, data = compute.tables("census"), load("census")
    label = data.card["label"]["name"]
    for split, frame, y in (("train", found.train, found.y_train), ("test", found.test, found.y_test)):
        pd.testing.assert_frame_equal(frame.assign(**{label: y}), data.frame.loc[split])
    (education,) = (f for f in found.schema.features if f.name == "education")
    groups = taxonomies("census")["education"][0]
    assert education.taxonomy.groups(1) == [", ".join(group) for group in groups]
    assert len(found.test) == len(data.y_test)
    assert compute.facts("census").majority == max(np.bincount(data.y_test)) / len(data.y_test)


def test_one_hot_has_a_column_for_each_category_of_the_domain():
    found = compute.tables("census")
    names = found.schema.feature_names[:4]
    few = found.test[:3]
    widths = [len(f.categories) if f.categories else 1 for f in found.schema.features[:4]]
    shown = one_hot(few, found.schema, names)
    assert shown.shape == (3, sum(widths)), "categories that nobody has are columns, too"
    at = np.cumsum([0, *widths])
    for j, feature in enumerate(found.schema.features[:4]):
        part = shown[:, at[j] : at[j + 1]]
        if feature.categories:
            assert (part.sum(axis=1) == 1).all()
            assert [feature.categories[i] for i in part.argmax(axis=1)] == few[feature.name].tolist()
        else:
            assert part.ravel().tolist() == few[feature.name].tolist()


def test_a_table_of_one_class_and_one_without_columns_teach_the_commoner_class():
    found = compute.tables("toy")
    first = (found.y_test == found.schema.classes[0]).mean()
    label = np.full(5, found.schema.classes[0], dtype=object)
    assert compute.right(found, found.train[:5], label, ["x0"], "cart") == first
    label = np.array([found.schema.classes[i] for i in (0, 0, 1)], dtype=object)
    assert compute.right(found, found.train[:3], label, [], "cart") == first
    assert compute.right(found, found.train[:0], label[:0], ["x0"], "cart") == first


# ---- the library's own numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_accuracies_are_those_of_a_tree_on_the_library_s_tables(relation):
    found = compute.tables("toy")
    key = ("toy", relation, 1.0, 100, 0.37)
    expected = []
    for draw in range(3):
        options = {"relation": relation, "max_grids": 100, "shares": SHARES, "schema": found.schema}
        model = PrivPfC(1.0, random_state=drawn(4, draw), **options).fit(found.train, found.y_train)
        table = model.sample(int(model.cell_counts_.sum()))
        names = list(model.levels_)
        tree = DecisionTreeClassifier(**CART).fit(table[names].to_numpy(), table[model.label_name_])
        expected.append((tree.predict(found.test[names].to_numpy()) == found.y_test).mean())
    assert compute.published(*key, "cart", 3, 4) == pytest.approx(expected, abs=1e-12)


def test_models_for_the_same_epsilon_are_the_library_s():
    found, data = compute.tables("toy"), load("toy")
    options = {"max_grids": 100, "shares": SHARES, "schema": found.schema}
    cells, linear = [], []
    for draw in range(2):
        model = PrivPfCClassifier(1.0, random_state=drawn(2, draw), **options).fit(found.train, found.y_train)
        cells.append(model.score(found.test, found.y_test))
        model = LinearClassifier(1.0, schema=data.schema, random_state=drawn(2, draw)).fit(data.X_train, data.y_train)
        linear.append(model.score(data.X_test, data.y_test))
    assert compute.cells(*TOY, 2, 2) == pytest.approx(cells, abs=1e-12)
    assert compute.linear("toy", "add-remove", 1.0, 2, 2) == pytest.approx(linear, abs=1e-12)


@pytest.mark.data
def test_the_drawn_table_is_the_one_that_a_classifier_learned_from():
    found = compute.tables("census")
    key = ("census", "add-remove", 0.2, 300, 0.47)
    shown = drawn_table(*key, 3)
    options = {"max_grids": 300, "shares": shares_of(0.47), "schema": found.schema}
    model = PrivPfC(0.2, random_state=drawn(3, 0), **options).fit(found.train, found.y_train)
    table = model.sample(int(model.cell_counts_.sum()))
    accuracy = compute.right(found, table, table[model.label_name_].to_numpy(dtype=object), list(model.levels_), "cart")
    assert accuracy == compute.published(*key, "cart", 1, 3)[0]
    assert shown["kept"] == list(model.levels_)
    assert (len(shown["names"]), shown["n_columns"]) == (8, 14)
    assert shown["names"][1 : 1 + len(shown["kept"])] == shown["kept"], "what is kept comes first"
    for of, frame in (("true", found.train), ("published", table)):
        for place, name in enumerate(shown["names"][1:], 1):
            groups, shares = shown["groups"][place], shown["shares"][of][place]
            assert sum(shares) == pytest.approx(1, abs=1e-3)
            # a group of categories is named by them
            if frame[name].dtype == object:
                first = frame[name].astype(str).isin(groups[0].split(", ")).mean()
                assert shares[0] == pytest.approx(first, abs=1e-4)


# ---- one release ----------------------------------------------------------------------------------------------------


def test_one_release_is_that_of_the_first_table():
    found = compute.tables("census")
    key = ("census", "add-remove", 0.2, 300, 0.47)
    shown = release_facts(*key, 3)
    options = {"max_grids": 300, "shares": shares_of(0.47), "schema": found.schema}
    model = PrivPfC(0.2, random_state=drawn(3, 0), **options).fit(found.train, found.y_train)
    levels = dict(zip(found.schema.feature_names, shown["levels"], strict=True))
    assert {name: level for name, level in levels.items() if level} == model.levels_
    assert shown["n_candidates"] == model.n_candidates_


def test_chances_are_the_exponential_mechanism_s_over_all_candidates():
    shown, private = release_facts(*TOY, 0), records("toy")
    _, for_choice, for_counts = divided(1.0, SHARES)
    quality, width = GridQuality(for_counts, len(private.codes)), quality_range(for_counts, "add-remove")
    names = {}
    for j, first in enumerate(private.taxonomies):
        for a in range(1, first.n_levels):
            names[f"{first.name} in {first.sizes[a]}"] = [(j, a)]
    pairs = {}
    for one, [(j, a)] in names.items():
        for other, [(k, b)] in names.items():
            if j < k:
                pairs[f"{one} × {other}"] = [(j, a), (k, b)]
    names |= pairs

    def score(steps):
        levels = [0] * len(private.taxonomies)
        for j, level in steps:
            levels[j] = level
        return quality.of_grid(grid_counts(private, levels))

    # odds between candidates, from the definition
    known = [(name, chance) for name, chance in zip(shown["names"], shown["chances"], strict=True) if name in names]
    assert len(known) > 3
    name, chance = known[0]
    for other, rest in known[1:]:
        odds = np.exp(for_choice / width * (score(names[name]) - score(names[other])))
        assert chance / rest == pytest.approx(odds, rel=1e-9)
    assert (np.diff(shown["chances"]) <= 0).all()
    assert len(shown["names"]) == BEST
    assert 0 <= shown["place"] < shown["n_candidates"] <= 100
    if shown["place"] < BEST:
        assert shown["names"][shown["place"]] == shown["chosen"]
        assert shown["chances"][shown["place"]] == shown["chance"]


def test_without_noise_in_the_choice_it_is_the_best_candidate_s():
    found = compute.tables("toy")
    best = PrivPfCSelNF(1e6, max_grids=50, schema=found.schema, random_state=0).fit(found.train, found.y_train)
    shown = release_facts("toy", "add-remove", 1e6, 50, 0.37, 0)
    assert shown["place"] == 0
    assert shown["chance"] == pytest.approx(1)
    levels = dict(zip(found.schema.feature_names, shown["levels"], strict=True))
    assert {name: level for name, level in levels.items() if level} == best.levels_


# ---- what ships -----------------------------------------------------------------------------------------------------


def test_what_ships_is_what_is_computed():
    kept = read_own("census")
    place = 25
    made = make_shipped("census", ("cart",), (EPSILONS[place],))
    for name in ("records", "majority", "classes"):
        assert kept[name] == made[name]
    assert made["drawn"] == kept["drawn"]
    assert made["tables"]["cart"]["true"] == kept["tables"]["cart"]["true"]
    # fits of other versions may differ in a few records of ten thousand
    for new, old in (
        (made["tables"]["cart"]["published"], kept["tables"]["cart"]["published"]),
        (made["cells"], kept["cells"]),
        (made["linear"], kept["linear"]),
    ):
        assert np.abs(np.array(new[0]) - old[place]).max() <= 20


def test_the_page_opens_with_what_ships_and_computes_none_of_it():
    settings = Settings(page="publish")
    page, values = PublishPage(settings, Pool(1)), PublishValues.of(settings)
    assert "Computing" not in page.headline.object
    main_card = page.cards["accuracy"]
    facts = shipped_facts("census")
    assert page.cards.tasks == {"accuracy": main_card.work(values, facts)}
    assert page.cards.missing() == []
    assert len(main_card.figure.sources["table"].data["mean"]) == len(EPSILONS)
    assert compute.drawn_task(values) in compute.shipped_results("census")
    for classifier in CLASSIFIERS:
        other = replace(values, publish_classifier=classifier)
        page.cards.tasks = {"accuracy": main_card.work(other, facts)}
        assert page.cards.missing() == []


def test_other_settings_are_computed_and_not_taken_from_what_ships():
    settings = Settings(page="publish", publish_share=0.17)
    page, values = PublishPage(settings, Pool(1)), PublishValues.of(settings)
    main_card = page.cards["accuracy"]
    wanted = main_card.work(values, shipped_facts("census"))
    assert "Computing" in page.headline.object or page.headline.object == ""
    missing = page.cards.missing()
    assert wanted["table", WORKER] in missing
    assert {e for series, e in wanted if series == "table" and e != WORKER} == set(SWEEP_EPSILONS)
