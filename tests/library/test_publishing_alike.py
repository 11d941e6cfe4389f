"""What all publishers do alike: tables that satisfy the schema, charges, the boundary, and what is for study alone."""

import numpy as np
import pandas as pd
import pytest
from observing import assert_function_of_releases, observing
from pet_table import SCHEMA, people
from public_estimators import KINDS, NOT_PRIVATE, PUBLISHING
from sklearn.base import clone

from dpml.budget import Budget
from dpml.classifiers import DiffPC45, DiffPID3
from dpml.classifiers.grid import PrivPfCClassifier
from dpml.evaluation import private_cross_val_score
from dpml.exceptions import InvalidParameter, NotPrivate
from dpml.mechanisms.source import LargestScore
from dpml.publishing import PPH, DiffGen, PrivBayes, PrivPfC, UniformGrid

PUBLISHERS = [KINDS[name] for name in PUBLISHING if name not in NOT_PRIVATE]
FOR_STUDY = [KINDS[name] for name in PUBLISHING if name in NOT_PRIVATE]
TREES = [DiffPID3, DiffPC45]
# label of each charge, and its share of ε
CHARGES = {
    PrivPfC: [("PrivPfC, number of records", 0.03), ("PrivPfC, choice of the grid", 0.37), ("PrivPfC, counts", 0.6)],
    DiffGen: [("DiffGen, specialisations", 0.5), ("DiffGen, counts", 0.5)],
    PPH: [("PPH, number of records", 0.03), ("PPH, attributes", 0.37), ("PPH, counts", 0.6)],
    PrivBayes: [("PrivBayes, number of records", 0.03), ("PrivBayes, network", 0.3), ("PrivBayes, counts", 0.67)],
    UniformGrid: [("uniform grid, number of records", 0.03), ("uniform grid, counts", 0.97)],
    DiffPID3: [("DiffP-ID3", 1.0)],
    DiffPC45: [("DiffP-C4.5", 1.0)],
}

OTHER_CHOICES = [
    (DiffGen, {"score": "gain"}), (PPH, {"n_attributes": 2}), (PrivBayes, {"score": "mutual_information", "degree": 2}),
    (UniformGrid, {"rule": "lei"}), (PrivPfC, {"consistency": "total"}), (DiffPC45, {"criterion": "gini"}),
    (PrivPfCClassifier, {}),
]  # fmt: skip


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1.0, 1e9])
@pytest.mark.parametrize("kind", [*PUBLISHERS, *FOR_STUDY])
def test_a_table_satisfies_the_schema_at_every_epsilon(kind, epsilon):
    table = kind(epsilon, schema=SCHEMA, random_state=0).fit(people(), "wealth").sample(300)
    X, codes, _ = SCHEMA.check_table(table[SCHEMA.feature_names], table["wealth"])
    assert X.shape == (300, 4)
    assert len(codes) == 300
    assert list(table.columns) == [*SCHEMA.feature_names, "wealth"]


@pytest.mark.parametrize("kind", [*PUBLISHERS, *FOR_STUDY])
def test_a_table_has_the_released_number_of_records_and_seeds_repeat_it(kind):
    model = kind(1.0, schema=SCHEMA, random_state=0).fit(people(), "wealth")
    assert len(model.sample()) == pytest.approx(3000, abs=150)
    again = kind(1.0, schema=SCHEMA, random_state=0).fit(people(), "wealth")
    pd.testing.assert_frame_equal(model.sample(50), again.sample(50))
    assert not model.sample(50, random_state=1).equals(model.sample(50, random_state=2))


@pytest.mark.parametrize("consistency", ["back-off", "total", "floor"])
@pytest.mark.parametrize("kind", [PrivPfC, DiffGen, PPH, UniformGrid])
def test_counts_of_a_grid_fit_together_as_for_privpfc(kind, consistency):
    model = kind(0.5, schema=SCHEMA, random_state=0, consistency=consistency).fit(people(), "wealth")
    assert (model.cell_counts_ >= 0).all()
    if consistency == "floor":
        assert (model.cell_counts_ == np.floor(model.cell_counts_)).all()
    with pytest.raises(InvalidParameter, match=r"^`consistency` must be .*Got 'no'"):
        kind(0.5, schema=SCHEMA, consistency="no").fit(people(), "wealth")


@pytest.mark.parametrize("kind", [*PUBLISHERS, *TREES])
def test_each_part_is_charged_its_share(kind):
    frame = people(100)
    data = frame.drop(columns="wealth"), frame["wealth"]
    budget = Budget(1.0)
    kind(1.0, schema=SCHEMA, budget=budget, random_state=0).fit(*data)
    assert budget.ledger["label"].tolist() == [label for label, _ in CHARGES[kind]]
    np.testing.assert_allclose(budget.ledger["epsilon"], [share for _, share in CHARGES[kind]])


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("kind", "options"), [*((kind, {}) for kind in [*PUBLISHERS, *TREES]), *OTHER_CHOICES])
def test_what_a_fit_and_its_table_are_follows_from_what_was_released(kind, options, relation):
    """A fit to 3,000 records and one to 40 others, with the same releases, are the same to the byte."""

    def call(frame):
        model = kind(1.0, schema=SCHEMA, random_state=0, relation=relation, **options)
        model.fit(frame.drop(columns="wealth"), frame["wealth"])
        return model, model.sample() if kind in PUBLISHERS else None

    few = people(40, 7).assign(wealth="rich", pet="carp")
    assert_function_of_releases(call, people(3000), few)


@pytest.mark.parametrize("kind", [*PUBLISHERS, *FOR_STUDY, *TREES, PrivPfCClassifier])
def test_only_what_is_for_study_chooses_without_noise(kind):
    frame = people(400)
    with observing() as passed:
        kind(1.0, schema=SCHEMA, random_state=0).fit(frame.drop(columns="wealth"), frame["wealth"])
    assert bool(passed.of(LargestScore)) is (kind in FOR_STUDY)


@pytest.mark.parametrize("kind", FOR_STUDY)
def test_a_choice_without_noise_is_for_study(kind):
    frame = people(50)
    with pytest.raises(NotPrivate, match=f"{kind.__name__} is not private at its published ε"):
        kind(1.0, schema=SCHEMA, release=True).fit(frame, "wealth")
    budget = Budget(1.0)
    with pytest.raises(NotPrivate, match="without a budget"):
        kind(1.0, schema=SCHEMA, budget=budget).fit(frame, "wealth")
    assert not len(budget.ledger)
    assert clone(kind(1.0)).private is False
    with pytest.raises(NotPrivate, match="private = False"):
        private_cross_val_score(kind(1.0, schema=SCHEMA), frame.drop(columns="wealth"), frame["wealth"], 1.0,
                                classes=SCHEMA.classes, pos_label="rich", rng=np.random.default_rng(0))  # fmt: skip


OPTIONS = [
    (PrivPfC, {"max_grids": 0}), (PrivPfC, {"max_grids": 2.5}), (PrivPfC, {"calibration": "none"}),
    (PrivPfC, {"shares": (1, 1, 1)}),
    (DiffGen, {"n_steps": 0}), (DiffGen, {"score": "no"}), (DiffGen, {"shares": (1, 1)}), (PPH, {"n_attributes": 0}),
    (PPH, {"shares": (0.5, 0.5)}), (UniformGrid, {"rule": "no"}), (UniformGrid, {"shares": (0.5, 0.6)}),
    (PrivBayes, {"degree": -1}), (PrivBayes, {"usefulness": 0}), (PrivBayes, {"score": "no"}),
    (DiffPC45, {"max_depth": -1}), (DiffPID3, {"criterion": "no"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "options"), OPTIONS)
def test_parameters_are_named(kind, options):
    budget, frame = Budget(1.0), people(50)
    with pytest.raises(InvalidParameter, match=f"^`{next(iter(options))}` must be "):
        kind(**{"epsilon": 1.0, "schema": SCHEMA, "budget": budget, **options}).fit(
            frame.drop(columns="wealth"), frame["wealth"]
        )
    assert not len(budget.ledger)
