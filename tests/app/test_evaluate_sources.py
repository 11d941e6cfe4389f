"""The Evaluate page reads labels off the release that it draws: what its data sources hold, without a browser."""

from dataclasses import replace

import pytest
from dpml_app.pages.evaluate import compute as own
from dpml_app.pages.evaluate.figures import RocCard


@pytest.mark.parametrize("epsilon", [0.1, 10.0])
def test_people_are_read_off_the_very_release_that_is_drawn(alone, epsilon):
    """Thirty from the true curve, and from the private one as many as the library's attack reads."""
    alone.enter("evaluate", f"&dataset=toy&draws=40&seed=4&epsilon={epsilon:g}&evaluate_tested=0", ("success",))
    key, n = ("toy", own.ALL), own.ATTACKED
    people = alone.read("evaluate-people")
    labels = own.labels(*key)[own.victims(*key)]
    released = own.evaluation(*key, "add-remove", epsilon, 40, 4)
    guesses = own.private_attack(replace(released, counts=released.counts[:1]), *key, 4)
    assert people["right"] == [True] * n + (guesses[0] == labels).tolist()
    wrong = [k for k, right in enumerate(people["right"]) if not right]
    assert [k for k, size in enumerate(people["cross"]) if size] == wrong
    texts = alone.read("evaluate-people-words")["text"]
    share = own.best_attack_success(epsilon, "add-remove")
    # no simulated count beside the exact bound, which it may exceed
    shown = f"This release: at best {100 * share:.1f}% correct"
    assert texts[:2] == [f"Non-private curve: {n} of {n} correct", shown]
    # a small ε hides labels, a large one does not
    assert (share > 0.95) == (epsilon == 10)
    # the same draw is the line
    table = RocCard.browser_tables(alone.page.values())["evaluate-roc-release"]
    _fpr, tpr, _ = released.roc_curve()
    assert table["tpr"].tolist() == pytest.approx(tpr[0].tolist())
    assert f"{n} of {n} labels from the non-private curve" in " ".join(alone.text.split())
