"""Taxonomies: what a person states is checked, groups are runs of finer groups, and the shipped ones fit their data."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from dpml.datasets import TAXONOMIES, card, load, taxonomies
from dpml.exceptions import InvalidParameter, InvalidSchema, InvalidTaxonomy
from dpml.schema import Feature, Schema
from dpml.schema.domain import halved

LETTERS = ("a", "b", "c", "d")
TREE = [[["a", "c"], ["b", "d"]], "each"]


def letters(levels):
    return Feature("p", "categorical", LETTERS, levels=levels)


def number(levels):
    return Feature("n", "numeric", lower=0, upper=80, levels=levels)


def test_groups_of_each_level_are_runs_of_the_finer_ones():
    taxonomy = letters(TREE).taxonomy
    assert taxonomy.sizes == (1, 2, 4)
    assert taxonomy.values == ("a", "c", "b", "d")
    assert taxonomy.places(pd.Categorical(list("abcd"), categories=list("dcba"))).tolist() == [0, 2, 1, 3]
    assert taxonomy.above(1).tolist() == [0, 0, 1, 1]
    assert taxonomy.runs(2, 1).tolist() == [0, 2]
    assert taxonomy.groups(1) == ["a, c", "b, d"]


def test_a_cut_point_belongs_to_the_interval_above_it():
    taxonomy = number([[40], [20, 40, 60]]).taxonomy
    assert taxonomy.places([0, 19.9, 20, 40, 60, 80]).tolist() == [0, 0, 1, 2, 3, 3]
    assert taxonomy.groups(1) == ["0 to 40", "40 to 80"]


def test_a_cut_point_at_the_upper_bound_sets_that_value_apart():
    taxonomy = number([[80]]).taxonomy
    assert taxonomy.places([79.9, 80]).tolist() == [0, 1]
    assert taxonomy.draw(1, np.array([1, 1]), np.random.default_rng(0)).tolist() == [80, 80]


@pytest.mark.parametrize(
    ("feature", "sizes"),
    [
        (Feature("n", "numeric", lower=0, upper=1), (1, 2, 4, 8, 16)),
        (Feature("n", "numeric", lower=1e16, upper=1e16 + 2), (1,)),
        (Feature("p", "categorical", LETTERS), (1, 4)),
        (Feature("p", "categorical", ("one",)), (1,)),
        (Feature("b"), (1, 2)),
        (Feature("b", levels=[[[1], [0]]]), (1, 2)),
    ],
)
def test_sizes_of_levels(feature, sizes):
    assert feature.taxonomy.sizes == sizes


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([[["a"], ["b", "c"]]], "a partition: 'd' once"),
        ([[["a", "a"], ["b", "c", "d"]]], "a partition: 'a' once"),
        ([[["z"], ["a", "b", "c", "d"]]], r"category of 'p' must be one of \('a', 'b', 'c', 'd'\)"),
        ([[["a", "b"], ["c", "d"]], [["a", "c"], ["b"], ["d"]]], "a refinement of the level above"),
        (["each", "each"], "a refinement of the level above"),
        ([[["a", "b", "c", "d"]]], "a refinement of the level above"),
        ([[[], ["a", "b", "c", "d"]]], "at least one category"),
        ("each", "a list of levels"),
        ([[["a", "b"], "cd"]], "a list of groups"),
    ],
)
def test_levels_that_do_not_refine_or_cover_are_named(levels, message):
    with pytest.raises(InvalidTaxonomy, match=message) as caught:
        letters(levels)
    assert "'p'" in str(caught.value)
    assert isinstance(caught.value, InvalidSchema)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([[0]], "above 0, up to 80"),
        ([[81]], "above 0, up to 80"),
        ([[40, 30]], "increasing"),
        ([[40], [20, 30]], "a refinement of the level above"),
        ([[40], [40]], "a refinement of the level above"),
        ([[]], "a refinement of the level above"),
        ([40], "a list of cut points"),
        ([[float("nan")]], "a finite number"),
        ([["x"]], "a finite number"),
    ],
)
def test_cut_points_that_do_not_refine_are_named(levels, message):
    with pytest.raises(InvalidParameter, match=message) as caught:
        number(levels)
    assert "'n'" in str(caught.value)


def test_a_schema_keeps_its_taxonomies_in_subsets_and_as_text():
    schema = Schema((letters(TREE), number([[40]]), Feature("b")))
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.subset(["n", "p"]).features[1].taxonomy == letters(TREE).taxonomy
    assert hash(schema.features[0]) == hash(letters(TREE))
    assert schema != Schema((letters(None), number([[40]]), Feature("b")))


@pytest.mark.parametrize("feature", [letters(TREE), letters([[["d", "a"], ["b", "c"]]]), number(None), Feature("b")])
def test_drawn_values_lie_in_their_groups_and_all_are_drawn(feature):
    taxonomy = feature.taxonomy
    lookup = taxonomy.places((0, 1)) if feature.kind == "binary" else None
    for level in range(taxonomy.n_levels):
        group = np.repeat(np.arange(taxonomy.sizes[level]), 200)
        values = taxonomy.draw(level, group, np.random.default_rng(0))
        clean = feature.clean(values, "raise")
        places = lookup[clean.astype(int)] if lookup is not None else taxonomy.places(clean)
        np.testing.assert_array_equal(taxonomy.above(level)[places], group)
        assert set(places) == set(range(taxonomy.sizes[-1]))  # misses one with probability below 1e-5


def test_drawn_numbers_lie_between_their_cut_points():
    values = number([[40]]).taxonomy.draw(1, np.repeat([0, 1], 8000), np.random.default_rng(0))
    for low, drawn in ((0, values[:8000]), (40, values[8000:])):
        # 4 standard errors of the share of a sixteenth
        assert (drawn == low).mean() == pytest.approx(1 / 16, abs=0.011)
        assert (low <= drawn).all()
        assert (drawn < low + 40).all()
        # and all over the group, up to its end
        counts = np.histogram(drawn[drawn > low], 15, (low + 2.5, low + 40))[0]
        assert counts == pytest.approx(500, abs=100)
    narrow = halved("x", 0.0, 5e-324).draw(0, np.zeros(50, dtype=int), np.random.default_rng(0))
    assert (narrow == 0).all(), "below the end, whatever is rounded"


# ---- shipped ---------------------------------------------------------------------------------------------------------


def attributes(name):
    """The features that a data set's card states, with another label where the name says so."""
    base, _, label = name.partition("-")
    facts = card(base)
    features = {
        a["name"]: Feature(**{k: a[k] for k in ("name", "kind", "categories", "lower", "upper") if k in a})
        for a in facts["attributes"]
    }
    if label:
        old = facts["label"]
        features.pop({"marital": "marital-status"}.get(label, label))
        features[old["name"]] = Feature(old["name"], "categorical", tuple(c["value"] for c in old["classes"]))
    return features


@pytest.mark.parametrize("name", [n for n in TAXONOMIES if n != "nursery"])
def test_shipped_taxonomies_fit_the_domains_of_their_cards(name):
    levels, features = taxonomies(name), attributes(name)
    assert list(levels) == list(features)
    for attribute, feature in features.items():
        facts = {k: getattr(feature, k) for k in ("kind", "categories", "lower", "upper")}
        taxonomy = Feature(attribute, **facts, levels=levels[attribute]).taxonomy
        alone = feature.kind == "categorical" and len(feature.categories) > 1
        assert taxonomy.sizes[-1] == len(feature.categories) if alone else taxonomy.n_levels >= 1


def test_an_unknown_name_is_refused():
    with pytest.raises(InvalidParameter, match=r"`name` must be .*Got 'iris'"):
        taxonomies("iris")


@pytest.mark.data
@pytest.mark.parametrize(("name", "options"), [("adult", {}), ("bank", {}), ("bank", {"label": "poutcome"})])
def test_every_record_of_the_data_has_a_group(name, options, data_home):
    dataset = load(name, data_home, **options)
    stated = taxonomies("-".join([name, *options.values()]))
    for feature in dataset.frame_schema.features:
        facts = {k: getattr(feature, k) for k in ("kind", "categories", "lower", "upper", "missing")}
        taxonomy = Feature(feature.name, **facts, levels=stated[feature.name]).taxonomy
        places = taxonomy.places(feature.clean(dataset.frame[feature.name], "raise"))
        assert 0 <= places.min() <= places.max() < taxonomy.sizes[-1]


def test_cuts_and_a_logarithmic_scale_are_short_for_levels():
    facts = {"kind": "numeric", "lower": 0, "upper": 1024}
    stated = Feature("n", **facts, cuts=[1, 5, 20, 50])
    assert stated == Feature("n", **facts, levels=[[50], [5, 50], [1, 5, 20, 50]])
    assert dataclasses.replace(stated, name="m").levels == stated.levels
    growing = Feature("n", **facts, scale="log").taxonomy
    assert growing.sizes == (1, 2, 4, 8, 16)
    np.testing.assert_allclose(growing.values[1:-1], [2.0 ** (10 - 20 * k / 15) for k in range(15, 0, -1)])
    for lower, upper, expected in ((1, 16, range(1, 16)), (-16, -1, range(15, 0, -1))):
        cuts = Feature("n", "numeric", lower=lower, upper=upper, scale="log").levels[-1]
        np.testing.assert_allclose(np.log2(np.abs(cuts)), [k / 4 for k in expected])
    both = Feature("n", "numeric", lower=-8, upper=2, scale="log").levels[-1]
    assert len(both) == 15
    assert 0.0 in both


@pytest.mark.parametrize(("lower", "upper"), [(5e-324, 1e308), (-9e307, 8e307), (0, 6e-306)])
def test_a_logarithmic_scale_holds_in_every_domain(lower, upper):
    assert Feature("n", "numeric", lower=lower, upper=upper, scale="log").taxonomy.n_values == 16


def test_logarithmic_scale_of_a_few_floats_has_fewer_bins():
    assert Feature("n", "numeric", lower=1e16, upper=1e16 + 6, scale="log").taxonomy.n_values <= 4


@pytest.mark.parametrize(
    "facts",
    [{"cuts": [3], "scale": "log"}, {"cuts": [3], "levels": [[3]]}, {"scale": "lg"}, {"cuts": 5}, {"cuts": [200]}],
)
def test_cuts_that_say_something_else_too_are_refused(facts):
    with pytest.raises(InvalidParameter, match="of 'n'"):
        Feature("n", "numeric", lower=0, upper=100, **facts)
    with pytest.raises(InvalidParameter, match="of 'p'"):
        Feature("p", "categorical", LETTERS, **{name: facts[name] for name in facts if name != "levels"})
