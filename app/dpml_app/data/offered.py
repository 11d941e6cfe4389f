"""The data sets that the app offers, from their cards: what its lists call them, and how many classes they have."""

from dpml.datasets import NAMES, card

CARDS = {name: card(name) for name in NAMES}
# a ROC curve and its cost are about two
OF_TWO_CLASSES = tuple(name for name, facts in CARDS.items() if len(facts["label"]["classes"]) == 2)
