"""The Select page says what the chosen selector costs: read without a browser."""


def test_words_state_the_true_cost(alone):
    alone.enter("select", "&dataset=toy&draws=10&n_features=20&epsilon=0.1")
    text = alone.text
    assert "stated 0.05 a feature, costs 0.5 for the set" in text
    assert "cost only 0.025: the rest is wasted" in text
    assert "sensitivities from the worst to the best feature" in text
    assert "not private: Threshold testing" in text
    assert "they are a study and no release" in text
