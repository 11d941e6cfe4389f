"""The settings, facts and accuracies of the app's linear models, for tests of their computations and cards."""

from dpml_app.core.card import CHOSEN
from dpml_app.pages.train.compute import TrainValues, linear_facts, measure, nb_facts, with_levels
from dpml_app.state import Settings


def values_of(**changes):
    settings = Settings()
    settings.param.update(**{"train_family": "linear", **changes})
    return TrainValues.of(settings)


def facts_of(name):
    return with_levels(nb_facts(name), linear_facts(name))


def measured(name, method, epsilon=1.0, draws=5, seed=3, **more):
    options = values_of(dataset=name, **more).options(method)
    return measure(name, method, "add-remove", epsilon, options, draws, seed)["accuracy"]


def touched(before, now):
    """Return the series of which a task is new, but for those at the chosen setting."""
    old, new = ({(place, task) for place, task in work.items() if place[1] not in CHOSEN} for work in (before, now))
    return {place[0] for place, _task in old ^ new}
