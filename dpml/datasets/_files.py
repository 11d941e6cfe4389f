"""Sources of the data files: the published files of ``data/sources``, found, downloaded and checked."""

import hashlib
import json
import os
import tempfile
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dpml.exceptions import DataDamaged, DataNotFound

ENVIRONMENT = "DPML_DATA"


def shipped(name: str) -> Path:
    """Return the path of a file that is shipped with the library, a card or a taxonomy.

    Parameters
    ----------
    name : str
        Name of the file, for example ``"adult.json"``.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    FileNotFoundError
        The installation is incomplete.

    See Also
    --------
    card : Returns the card of a data set.

    Examples
    --------
    >>> shipped("adult.json").name
    'adult.json'
    """
    package = Path(__file__).resolve().parents[1]
    # beside the modules in an installed wheel, at the root of the project in a checkout
    for folder in (package / "data", package.parent / "data"):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"the file {name!r} that is shipped with dpml is missing: install dpml again")


@dataclass(frozen=True)
class SourceFile:
    """One published file: its checksum, its addresses, of itself or of a zip archive with it, and its bytes."""

    sha256: str
    urls: tuple[str, ...]
    size: int = 0


FILES = {
    name: SourceFile(facts["sha256"], tuple(facts["urls"]), facts["size"])
    for name, facts in json.loads(shipped("sources/files.json").read_text(encoding="utf-8")).items()
}


def data_folder(data_home: str | os.PathLike | None = None) -> Path:
    """Return the folder of the data files.

    Parameters
    ----------
    data_home : path, optional
        The folder. By default it is the environment variable ``DPML_DATA``, else the user's cache.

    Returns
    -------
    Path
        Path of the folder.

    See Also
    --------
    missing : Returns the files that are not in the folder.
    fetch : Downloads the files of a data set.
    """
    folder = data_home or os.environ.get(ENVIRONMENT)
    if not folder:
        import pooch  # imported here and below where it is used: it is slow, and only downloads need it

        folder = pooch.os_cache("dpml")
    return Path(folder).expanduser()


class Bar(Protocol):
    """A display of a download's progress: it gets `total`, then the bytes of each part, and at the end all at once."""

    total: int

    def update(self, n: int) -> Any:
        """Add the number of bytes that arrived."""

    def reset(self) -> Any:
        """Begin at 0 again."""

    def close(self) -> Any:
        """Take note of the end."""


def find(name: str, data_home: str | os.PathLike | None = None, *, bar: Bar | None = None) -> Path:
    """Return the path of a published file after checking its checksum. A missing file is downloaded.

    `bar` displays the progress of the download, by default the terminal.

    Raises `DataNotFound` where the file is missing and cannot be downloaded. The message names file, addresses and
    folder. Raises `DataDamaged` where the file, as found or as downloaded, is empty or differs from the published one.
    """
    folder = data_folder(data_home)
    path = folder / name
    if path.is_file():
        problem = problem_of(path, FILES[name].sha256)
        if problem:
            raise DataDamaged(
                f"the data file {name!r} in {folder} is damaged: {problem}. Delete it to have it downloaded "
                f"again from {FILES[name].urls[0]}"
            )
        return path
    _fetch(name, folder, bar)
    return path


def problem_of(path: Path, sha256: str) -> str:
    """Return how a file differs from the published one, or an empty string."""
    if not path.stat().st_size:
        return f"it is empty (expected sha256 {sha256})"
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return "" if digest == sha256 else f"expected sha256 {sha256}, found {digest}"


def _fetch(name: str, folder: Path, bar: Bar | None) -> None:
    """Try each address in turn. The file appears in the folder only when it is complete and checked."""
    failures: list[str] = []
    damaged = False
    source = FILES[name]
    download = _download if bar is None else partial(_download, bar=bar)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as scratch:
            for url in source.urls:
                part = Path(scratch) / "part"
                try:
                    download(url, part)
                    if url.endswith(".zip"):
                        _extract(part, name)
                    problem = problem_of(part, source.sha256)
                except zipfile.BadZipFile as error:
                    problem = str(error)
                except OSError as error:
                    failures.append(f"{url} ({type(error).__name__})")
                    continue
                if not problem:
                    os.replace(part, folder / name)
                    return
                damaged = True
                failures.append(f"{url} ({problem})")
    except OSError as error:
        failures.append(f"{source.urls[0]} (the folder cannot be written: {type(error).__name__})")
    tried = "; ".join(failures)
    if damaged:
        raise DataDamaged(f"the data file {name!r} was downloaded damaged, so {folder} does not have it: {tried}")
    raise DataNotFound(
        f"the data file {name!r} is not in {folder} and could not be downloaded: {tried}. Put the file into that "
        f"folder, or name a folder that has it with data_home or the environment variable {ENVIRONMENT}"
    )


def _download(url: str, path: Path, bar: Bar | None = None) -> None:
    """Download one address with a progress bar. Every failure is an OSError (as errors of requests are)."""
    import pooch

    pooch.HTTPDownloader(progressbar=True if bar is None else bar)(url, str(path), None)


def _extract(archive: Path, name: str) -> None:
    """Replace an archive by its member of this name, in any folder of the archive."""
    with zipfile.ZipFile(archive) as zipped:
        members = [m for m in zipped.namelist() if m.rsplit("/", 1)[-1] == name and not m.startswith("__MACOSX/")]
        if not members:
            raise zipfile.BadZipFile(f"the archive has no file {name!r}")
        content = zipped.read(members[0])
    archive.write_bytes(content)
