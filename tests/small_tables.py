"""Small made-up tables in the place of the papers' data files, with the columns and classes of each card."""

from typing import Any

import numpy as np
import pandas as pd

from dpml.datasets import READERS
from dpml.datasets._readers import Facts, Raw, _words

N, N_TRAIN = 600, 400
# the words of Antonova's Tables A.2 and A.3
NAMED = ("windows", "microsoft", "dos", "motif", "window", "sun", "code", "win", "xterm", "server")
N_WORDS = {"xwindows": 600, "newsgroup1": 100, "newsgroup2": 100, "newsgroup3": 100}
MADE = ("toy", "census", "breast_cancer")
VOCABULARY = np.array([f"word{k}" for k in range(12_000)])


def small_readers() -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Return a reader of a small table for each data set that has files."""
    return {name: (_reader(name), options) for name, (read, options) in READERS.items() if name not in MADE}


def _reader(name: str) -> Any:
    def read(facts: Facts, data_home: Any = None, **options: Any) -> Raw:
        rng = np.random.default_rng(0)
        values = [c["value"] for c in facts["label"]["classes"]]
        codes = rng.integers(len(values), size=N)
        n_train = options.get("n_train") or N_TRAIN
        parts = np.arange(n_train), np.arange(n_train, N)
        return Raw(_table(name, facts, codes, rng), np.array(values, dtype=object)[codes], *parts)

    return read


def _table(name: str, facts: Facts, codes: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    if name == "sms":
        return pd.DataFrame({"text": [" ".join(rng.choice(VOCABULARY, 20)) for _ in range(N)]})
    if name in N_WORDS:
        words = [*NAMED, *(f"word{k}" for k in range(N_WORDS[name] - len(NAMED)))]
        _words(facts, words)
        rates = rng.uniform(0.02, 0.4, size=(2, len(words)))
        return pd.DataFrame((rng.random((N, len(words))) < rates[codes % 2]).astype(np.uint8), columns=words)
    columns = {}
    for item in facts["attributes"]:
        # the first category, or the lower half, belongs to even classes more often
        towards = rng.random(N) ** np.where(codes % 2, 1.0, 1.5)
        if item["kind"] == "numeric":
            columns[item["name"]] = item["lower"] + towards * (item["upper"] - item["lower"])
        else:
            names = np.array(item.get("categories", [0, 1]), dtype=object)
            columns[item["name"]] = names[(towards * len(names)).astype(int)]
    return pd.DataFrame(columns)
