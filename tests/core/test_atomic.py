"""Files and folders that are whole: what stands in the place already, and what others see meanwhile."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fault_parts import own_disk
from tls_tasks.core.atomic import atomic_file, atomic_folder, atomic_write_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_is_seen_until_the_new_one_is_whole(tmp_path):
    place = tmp_path / "a.txt"
    atomic_write_text(place, "old")
    with atomic_file(place) as file:
        file.write_text("new, ")
        assert place.read_text() == "old"
        assert [name.startswith(".tls-tasks.") for name in names(tmp_path)] == [True, False]
    assert place.read_text() == "new, " and names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_fails_leaves_the_old_one(tmp_path, error):
    atomic_write_text(tmp_path / "a", "old")
    with pytest.raises(error), atomic_file(tmp_path / "a") as file:
        file.write_text("new")
        raise error
    with pytest.raises(error), atomic_folder(tmp_path / "b") as folder:
        (folder / "c").write_text("new")
        raise error
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "old"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    atomic_write_text(tmp_path / "there" / "a", "old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a")
    atomic_write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "there" / "a").read_text() == "new"
    assert names(tmp_path / "there") == ["a"]


def test_a_pipe_and_a_device_are_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as threads:
        read = threads.submit((tmp_path / "pipe").read_text)
        atomic_write_text(tmp_path / "pipe", "through")
    assert read.result() == "through" and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    atomic_write_text(tmp_path / ".." / tmp_path.name / "x", "")
    for device in ("/dev/null", "/dev/stdout"):
        before = os.lstat(device).st_mode
        atomic_write_text(type(tmp_path)(device), "")
        assert os.lstat(device).st_mode == before


def test_long_names(tmp_path):
    name = "\u00e9" * 127  # 254 of the 255 bytes that a name may have
    atomic_write_text(tmp_path / name, "x")
    with atomic_folder(tmp_path / name[1:]):
        pass
    assert names(tmp_path) == [name[1:], name]


def test_a_folder_in_the_way(tmp_path):
    with pytest.raises(IsADirectoryError, match=f"'{tmp_path}'"):
        atomic_write_text(tmp_path, "x")
    atomic_write_text(tmp_path / "file", "x")
    with pytest.raises(NotADirectoryError, match="file'"), atomic_folder(tmp_path / "file"):
        pass
    with pytest.raises(OSError, match="not empty; choose another folder or remove it: '"), atomic_folder(tmp_path):
        pass
    assert names(tmp_path) == ["file"]


def test_an_empty_folder_that_can_not_be_replaced(tmp_path, monkeypatch):
    """The one in which the process works, and one that is mounted, as into a container."""
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    with atomic_folder(type(tmp_path)()) as folder:
        (folder / "a").write_text("x")
    assert names(type(tmp_path)()) == ["a"] and names(tmp_path) == ["cwd"]
    with own_disk(tmp_path / "disk") as disk:
        if disk is None:
            pytest.skip("no disk can be mounted here: only root may")
        with atomic_folder(disk) as folder:
            atomic_write_text(folder / "a" / "b", "x")
        assert names(disk) == ["a"] and (disk / "a" / "b").read_text() == "x"


def test_errors_name_what_was_wanted_and_no_other_file_is_renamed(tmp_path):
    with pytest.raises(OSError, match=f"'{tmp_path / 'd' / 'none' / 'x'}'"), atomic_folder(tmp_path / "d") as folder:
        (folder / "none" / "x").write_text("x")
    with pytest.raises(FileNotFoundError, match=f"'{tmp_path / 'source'}'"), atomic_file(tmp_path / "a"):
        (tmp_path / "source").read_text()
    assert names(tmp_path) == []
