"""The publishers of synthetic tables, and those of a model of the cells or of weights."""

from typing import Any

from dpml.methods.registry import Method, register


def _publisher(
    key: str, title: str, target: str, *claims: str, group: str = "table", label: str = "", **options: Any
) -> None:
    register(Method(key, title, "publisher", f"dpml.{target}", options, label, group=group, claims=claims))


_publisher("privpfc", "PrivPfC", "publishing.PrivPfC", "privpfc", "privpfc-release")
_publisher("privbayes", "PrivBayes", "publishing.PrivBayes", "privbayes", "privbayes-release")
_publisher("diffgen", "DiffGen", "publishing.DiffGen", "diffgen", "diffgen-release")
_publisher("pph", "PPH", "publishing.PPH", "pph", "pph-release")
_publisher("uniform", "Uniform grid, EUG", "publishing.UniformGrid", "uniform-grid", "uniform-grid-release")
_publisher("uniform-ug", "Uniform grid, UG", "publishing.UniformGrid", "uniform-grid", rule="ug")
# a tree, which is compared with tables
_publisher("diffpc45", "DiffPC-4.5", "classifiers.DiffPC45", "diffp-c45", label="DiffPC-4.5 (tree)")
_publisher("privpfc-selnf", "PrivPfC, exact selection", "publishing.PrivPfCSelNF", "privpfc-selnf")
_publisher("privbayes-struct", "PrivBayes, exact selection", "publishing.PrivBayesStructNF", "privbayes-struct-nf")
_publisher("diffgen-struct", "DiffGen, exact selection", "publishing.DiffGenStructNF", "diffgen-struct-nf")
# a fit takes half a minute and more; δ is about 1/n² of 30,000 records
_publisher("mst", "MST", "publishing.MST", "mst", "mst-release")
_publisher("mst-delta", "MST, δ", "publishing.MST", "mst-delta", "mst-delta-release", delta=1e-9)
_publisher("aim", "AIM", "publishing.AIM", "aim", "aim-release")
_publisher("aim-delta", "AIM, δ", "publishing.AIM", "aim-delta", "aim-delta-release", delta=1e-9)

_publisher("privpfc-cells", "PrivPfCClassifier", "classifiers.PrivPfCClassifier", "privpfc-classifier", group="model")

WEIGHTS = "publishing.ImportanceWeights"
PUBLISHED = {"method": "output", "calibration": "published"}
_publisher("output", "Ji and Elkan", WEIGHTS, "importance-published", group="weights", **PUBLISHED)
_publisher("moments", "Noisy moments (ours)", WEIGHTS, "importance-moments", group="weights", method="moments")
