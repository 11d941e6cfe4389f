"""Keeps what each piece of a long study found as it comes, so that a run which was stopped goes on where it was.

A piece is a tuple of plain values. Each has one line of JSON in a file, which is written once the piece is done. A line
that a stopped run left half written is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed


class KeptFolds:
    """The pieces that are done, by their keys, with their rows."""

    def __init__(self, path: Path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        self.done: dict[tuple, list[list]] = {tuple(p): rows for p, rows in map(json.loads, whole.splitlines())}

    def keep(self, piece: tuple, rows: list) -> None:
        """Write the rows of a piece down."""
        self.done[piece] = rows
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([piece, rows]) + "\n")

    def run(
        self, pieces: Iterable[tuple], measure: Callable[..., list], jobs: int, after: Callable[[list], Any]
    ) -> list:
        """Measure the pieces that are missing, and return the rows of all; `after` sees the rows after each piece."""
        wanted = list(pieces)
        missing = [delayed(_measured)(measure, piece) for piece in wanted if piece not in self.done]
        for piece, rows in Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(missing):
            self.keep(piece, rows)
            after(self._rows(wanted))
        return self._rows(wanted)

    def _rows(self, wanted: list[tuple]) -> list:
        return [row for piece in wanted for row in self.done.get(piece, ())]


def _measured(measure: Callable[..., list], piece: tuple) -> tuple[tuple, list]:
    return piece, measure(*piece)
