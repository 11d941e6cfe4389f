"""diffprivlib's Gaussian naive Bayes and `MixedNB` on adult's six numbers: same rows and public bounds, in one run.

    python benchmarks/peer_gaussian_nb.py PEER_PYTHON [draws]

diffprivlib 0.6.6 does not work with this project's scikit-learn. It needs an environment of its own, whose Python is
PEER_PYTHON (``pip install diffprivlib==0.6.6 "scikit-learn<1.8"``). The real files are needed: set DPML_DATA.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from dpml.datasets import load
from dpml.studies.mixed import BinnedNBStudy

EPSILONS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
PEER = """
import json, sys, warnings
import numpy as np
from diffprivlib.models import GaussianNB
warnings.simplefilter("ignore")
data, epsilons, draws = np.load(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
bounds = (data["lower"], data["upper"])
result = {}
for epsilon in epsilons:
    result[epsilon] = [
        float(GaussianNB(epsilon=epsilon, bounds=bounds, random_state=seed).fit(data["X"], data["y"])
              .score(data["Xt"], data["yt"]))
        for seed in range(draws)
    ]
print(json.dumps(result))
"""


def main(python: str, draws: int) -> None:
    data = load("adult")
    facts = data.frame_schema
    names = [f.name for f in facts.features if f.kind == "numeric"]
    numbers = [f for f in facts.features if f.kind == "numeric"]
    frame = data.frame[names].to_numpy(dtype=float)
    n = len(data.y_train)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.npz"
        bounds = {"lower": [f.lower for f in numbers], "upper": [f.upper for f in numbers]}
        np.savez(path, X=frame[:n], y=data.y_train, Xt=frame[n:], yt=data.y_test, **bounds)
        command = [python, "-c", PEER, str(path), json.dumps(EPSILONS), str(draws)]
        peer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    study = BinnedNBStudy(data, columns=names)
    print(f"adult's six numbers, mean test accuracy in % over {draws} draws (standard error)")
    for epsilon in EPSILONS:
        ours = study(epsilon, draws=draws, rng=np.random.default_rng(0))["accuracy"]
        theirs = np.array(peer[str(epsilon)])
        cells = (f"{100 * a.mean():.1f} ({100 * a.std(ddof=1) / draws**0.5:.1f})" for a in (ours, theirs))
        print(
            f"ε = {epsilon:<5g}"
            + "   ".join(f"{who} {cell}" for who, cell in zip(("MixedNB", "diffprivlib"), cells, strict=True))
        )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50)
