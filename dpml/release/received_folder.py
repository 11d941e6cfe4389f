"""The files of a folder that somebody else has written, each read once and compared with the manifest."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpml import __version__
from dpml.exceptions import DISTRIBUTION
from dpml.release.folder import CONTENTS, MANIFEST, README, digest
from dpml.release.received import Deadline, RefusedError, content, csv_header, digest_of, json_values, name_shown

RELEASE, DEMONSTRATION = "release", "simulation, not a release"
# bytes of each file; the two large ones are read in parts
LARGE = {"model.joblib": 1 << 30, "table.csv": 1 << 30}
MOST = {
    MANIFEST: 1 << 16,
    README: 1 << 16,
    "evaluation.json": 1 << 24,
    "ledger.json": 1 << 22,
    "model.json": 1 << 26,
    "schema.yaml": 1 << 20,
    "score.py": 1 << 16,
    "statement.html": 1 << 24,
}
NEEDED = ("README.md", "ledger.json", "schema.yaml", "statement.html")
# a model has its status, under this name
IN_MODEL = (b"status_", DEMONSTRATION.encode())


@dataclass
class Verified:
    """The terms that a folder states, and its faults in sentences, or none if the folder is unchanged."""

    status: str
    epsilon: float
    delta: float
    relation: str
    digest: str
    problems: list[str] = field(default_factory=list)


class ReceivedFiles:
    """The files that are listed and there, each read once: the small ones whole, of the large ones a digest."""

    def __init__(self, folder: Path, facts: dict[str, Any], names: list[str], deadline: Deadline):
        self.folder, self.deadline = folder, deadline
        self.listed = set(facts["files"])
        self.same_version = facts["versions"].get(DISTRIBUTION) == __version__
        self.small: dict[str, bytes] = {}
        # large files that were read, and the texts of `IN_MODEL` that each has
        self.large: dict[str, set[bytes]] = {}
        self._header: list[str] = []
        self.problems: list[str] = []
        sizes = facts.get("bytes")
        for name, expected in sorted(facts["files"].items()):
            if name not in CONTENTS and name != README:
                self.problems.append(f"{name_shown(name)} is in the manifest, but no release writes this file.")
                continue
            size = sizes.get(name) if isinstance(sizes, dict) else None
            try:
                self._read(name, expected, size)
            except RefusedError as error:
                self.problems.append(f"{name} {error}.")
        known = {*facts["files"], MANIFEST}
        self.problems += [
            f"{name_shown(name)} does not belong to the release: the manifest does not list it."
            for name in names
            if name not in known
        ]
        for name in NEEDED:
            if name not in self.listed:
                self.problems.append(f"{name} is missing from the manifest.")

    def _read(self, name: str, expected: str, size: Any) -> None:
        path = self.folder / name
        if name in LARGE:
            sha256, length, self.large[name] = digest_of(path, LARGE[name], self.deadline, IN_MODEL)
        else:
            self.small[name] = content(path, MOST[name], self.deadline)
            sha256, length = digest(self.small[name]), len(self.small[name])
        if sha256 != expected:
            raise RefusedError("has changed: its SHA-256 digest differs from the manifest")
        if size != length:
            raise RefusedError("has changed: its size differs from the manifest")

    def text(self, name: str) -> str:
        """Return a small file as text, or raise KeyError if it could not be read."""
        return self.small[name].decode("utf-8")

    def json(self, name: str) -> Any:
        """Return the values of a small file in JSON."""
        return json_values(self.small[name])

    def header(self) -> list[str]:
        """Return the names of the columns of the table, of which every cell is read once."""
        self._header = self._header or csv_header(self.folder / "table.csv", LARGE["table.csv"], self.deadline)
        return self._header
