"""The Select page says what the chosen selector costs: read without a browser."""


def test_words_state_the_true_cost(alone):
    alone.enter("select", "&dataset=toy&draws=10&n_features=20&epsilon=0.1")
    text = alone.text
    assert "Stated ε: 0.05. Weights of ε/(2Δ) per feature spend 0.5" in text
    assert "only 0.025, so they add more noise than needed" in text
    assert "sensitivities from the worst to the best feature" in text
    assert "not private: Threshold testing" in text
    assert "simulation (never publish)" in text
