"""Files of data sets: found, missing, damaged or downloaded, and their original formats."""

import hashlib
import zipfile

import numpy as np
import pytest

from dpml import datasets
from dpml.datasets import _files, card, load
from dpml.exceptions import DataDamaged, DataNotFound


def publish(monkeypatch, name, content, urls=("https://example.org/file",)):
    """Declare some bytes to be the published content of a file."""
    monkeypatch.setitem(_files.FILES, name, _files.SourceFile(hashlib.sha256(content).hexdigest(), tuple(urls)))


@pytest.fixture
def small_file(monkeypatch, tmp_path):
    """Write a small file in its original format and declare it the published one."""

    def write(name, text):
        content = text.encode("utf-8")
        publish(monkeypatch, name, content)
        (tmp_path / name).write_bytes(content)
        return tmp_path

    return write


# ---- files: found, missing, damaged, downloaded


@pytest.mark.parametrize("name", ["adult", "sms", "newsgroup1"])
def test_a_missing_file_is_named_with_its_source_and_folder(name, offline, tmp_path):
    with pytest.raises(DataNotFound) as caught:
        load(name, tmp_path)
    file = card(name)["files"][0]
    assert repr(file) in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    for url in _files.FILES[file].urls:
        assert url in str(caught.value)
    assert offline == list(_files.FILES[file].urls)
    # nothing half-downloaded is left behind
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_given_or_of_the_environment_or_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("DPML_DATA", str(tmp_path / "environment"))
    assert _files.data_folder(tmp_path / "given") == tmp_path / "given"
    assert _files.data_folder() == tmp_path / "environment"
    monkeypatch.delenv("DPML_DATA")
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "cache" / project)
    assert _files.data_folder() == tmp_path / "cache" / "dpml"


@pytest.mark.parametrize("content", [b"", b"1\t2\t3\n"])
def test_a_damaged_file_is_refused_and_kept(content, offline, tmp_path):
    (tmp_path / "Skin_NonSkin.txt").write_bytes(content)
    with pytest.raises(DataDamaged) as caught:
        load("skin", tmp_path)
    assert "'Skin_NonSkin.txt'" in str(caught.value)
    assert _files.FILES["Skin_NonSkin.txt"].sha256 in str(caught.value)
    assert ("empty" if not content else hashlib.sha256(content).hexdigest()) in str(caught.value)
    assert offline == []
    assert (tmp_path / "Skin_NonSkin.txt").read_bytes() == content


def test_a_missing_file_is_downloaded_once_into_the_folder(monkeypatch, tmp_path):
    content, tried = b"1\t2\t3\t1\n9\t8\t7\t2\n4\t4\t4\t2\n", []
    publish(monkeypatch, "Skin_NonSkin.txt", content, ["https://example.org/first", "https://example.org/second"])

    def download(url, path):
        tried.append(url)
        if url.endswith("first"):
            raise ConnectionError
        path.write_bytes(content)

    monkeypatch.setattr(_files, "_download", download)
    home = tmp_path / "new" / "folder"
    assert load("skin", home).X_train.shape == (2, 24)
    assert load("skin", home).X_train.shape == (2, 24)
    assert tried == ["https://example.org/first", "https://example.org/second"]
    assert [path.name for path in home.iterdir()] == ["Skin_NonSkin.txt"]


def test_a_file_is_taken_out_of_its_archive(monkeypatch, tmp_path):
    content = b"ham\tapples pears\nspam\tplums\nham\tapples\n"
    publish(monkeypatch, "SMSSpamCollection", content, ["https://example.org/sms.zip"])

    def download(url, path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("__MACOSX/SMSSpamCollection", b"x")
            archive.writestr("folder/SMSSpamCollection", content)

    monkeypatch.setattr(_files, "_download", download)
    assert load("sms", tmp_path).X_train.shape == (2, 3)
    assert (tmp_path / "SMSSpamCollection").read_bytes() == content


@pytest.mark.parametrize("url", ["https://example.org/skin.txt", "https://example.org/skin.zip"])
def test_a_damaged_download_is_refused_and_not_kept(monkeypatch, tmp_path, url):
    publish(monkeypatch, "Skin_NonSkin.txt", b"the right content", [url])
    monkeypatch.setattr(_files, "_download", lambda url, path: path.write_bytes(b"an error page"))
    with pytest.raises(DataDamaged, match=rf"'Skin_NonSkin.txt' was downloaded damaged.*{url}"):
        load("skin", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_without_the_file_is_damaged(monkeypatch, tmp_path):
    publish(monkeypatch, "Skin_NonSkin.txt", b"the right content", ["https://example.org/skin.zip"])

    def download(url, path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("other.txt", b"x")

    monkeypatch.setattr(_files, "_download", download)
    with pytest.raises(DataDamaged, match=r"no file 'Skin_NonSkin\.txt'"):
        load("skin", tmp_path)


def test_a_folder_that_cannot_be_written_is_named(offline, tmp_path):
    (tmp_path / "file").write_text("a file where a folder should be")
    with pytest.raises(DataNotFound, match="cannot be written"):
        load("glass", tmp_path / "file" / "folder")
    assert offline == []


# ---- original formats, in small


ADULT = "39, State-gov, 77516, Bachelors, 13, Never-married, {}, Not-in-family, White, Male, 2174, 0, 40, ?, {}\n"


def test_adult_format(small_file, monkeypatch):
    small_file("adult.data", ADULT.format("Sales", "<=50K") + ADULT.format("?", ">50K") + "\n")
    home = small_file("adult.test", "|1x3 Cross validator\n" + ADULT.format("?", ">50K.") + "\n")
    dataset = load("adult", home)
    assert (list(dataset.y_train), list(dataset.y_test)) == ([0, 1], [1])
    ones = [dataset.feature_names[j] for j in np.flatnonzero(dataset.X_train[1])]
    assert ones == [
        "32<=age<40", "workclass=State-gov", "fnlwgt<110000", "education=Bachelors", "education-num>=12",
        "marital-status=Never-married", "occupation=?", "relationship=Not-in-family", "race=White", "sex=Male",
        "capital-gain>=1", "capital-loss<1", "40<=hours-per-week<45", "native-country=?",
    ]  # fmt: skip


def test_a_category_or_label_that_is_not_public_is_damage(small_file):
    small_file("adult.data", ADULT.format("Pilot", "<=50K"))
    home = small_file("adult.test", "|\n" + ADULT.format("?", ">50K."))
    with pytest.raises(DataDamaged, match=r"'occupation' has the value 'Pilot'"):
        load("adult", home)
    small_file("adult.data", ADULT.format("Sales", "50K"))
    with pytest.raises(DataDamaged, match=r"'income' has the value '50K'"):
        load("adult", home)


def test_sms_messages_may_hold_tabs_and_other_line_separators(small_file):
    home = small_file("SMSSpamCollection", "ham\tgreen\x0bapples\tand pears\nspam\tred\u2028plums\n")
    dataset = load("sms", home)
    assert dataset.feature_names == ["apples", "green", "pears", "plums", "red"]
    assert sorted(dataset.frame["text"]) == ["green\x0bapples\tand pears", "red\u2028plums"]


def test_seeds_with_two_tabs_in_a_row(small_file):
    home = small_file("seeds_dataset.txt", "15\t14.5\t0.87\t\t5.7\t3.3\t2.2\t5.2\t1\n11\t13\t0.85\t5\t2.8\t5\t5\t\t3\n")
    dataset = load("seeds", home)
    assert sorted(dataset.frame["area"]) == [11, 15]
    assert sorted(dataset.frame["variety"]) == ["Canadian", "Kama"]


def test_shipped_files_are_found_or_named():
    assert datasets.shipped("adult.json").read_text(encoding="utf-8").startswith("{")
    with pytest.raises(FileNotFoundError, match=r"'nothing\.json'"):
        datasets.shipped("nothing.json")
