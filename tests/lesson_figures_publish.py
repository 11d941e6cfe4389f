"""The checks of the lesson about published tables; `lesson_figures` has the others, and says how to name one."""

from dpml_app.pages.publish import compute
from dpml_app.pages.publish.one_release import release_facts
from dpml_app.pages.publish.settings import PublishValues
from lesson_checks import check


def drawn(s):
    return compute.published(*PublishValues.of(s).table_key(s.epsilon))


def released(s):
    return release_facts(*PublishValues.of(s).release_key(s.epsilon), s.seed)


def told_apart(s):
    names = compute.tables(s.dataset).schema.feature_names
    return {name for name, level in zip(names, released(s)["levels"], strict=True) if level}


@check
def on_true_table(s):
    return 100 * compute.on_true_table(s.dataset, s.publish_classifier)


@check
def on_published_table(s):
    return 100 * drawn(s).mean()


@check
def publishing_costs(s):
    return on_true_table(s) - on_published_table(s)


@check
def trained(s, model):
    """Percent that a model is right for which is trained with the same ε."""
    assert model == "linear"
    return 100 * compute.linear(s.dataset, s.relation, s.epsilon, s.publish_draws, s.seed).mean()


@check
def table_columns(s):
    return len(compute.facts(s.dataset).columns)


@check
def columns_told_apart(s):
    return len(told_apart(s))


@check
def columns_of_noise(s):
    return table_columns(s) - columns_told_apart(s)


@check
def tells_apart(s, *names):
    return told_apart(s) == set(names)


@check
def chance_of_the_best(s):
    return 100 * released(s)["chances"][0]


@check
def place_of_the_chosen(s):
    return released(s)["place"] + 1
