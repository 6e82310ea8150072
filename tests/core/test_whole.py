"""Files and folders that are whole: what stands in the place already, and what others see meanwhile."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fault_parts import own_disk
from tls_tasks.core.whole import made_folder, replaced, write_whole


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_is_seen_until_the_new_one_is_whole(tmp_path):
    place = tmp_path / "a.txt"
    write_whole(place, "old")
    with replaced(place) as file:
        file.write_text("new, ")
        assert place.read_text() == "old"
        assert [name.startswith(".tls-tasks.") for name in names(tmp_path)] == [True, False]
    assert place.read_text() == "new, " and names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_fails_leaves_the_old_one(tmp_path, error):
    write_whole(tmp_path / "a", "old")
    with pytest.raises(error), replaced(tmp_path / "a") as file:
        file.write_text("new")
        raise error
    with pytest.raises(error), made_folder(tmp_path / "b") as folder:
        (folder / "c").write_text("new")
        raise error
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "old"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    write_whole(tmp_path / "there" / "a", "old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "there" / "a").read_text() == "new"
    assert names(tmp_path / "there") == ["a"]


def test_a_pipe_and_a_device_are_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as threads:
        read = threads.submit((tmp_path / "pipe").read_text)
        write_whole(tmp_path / "pipe", "through")
    assert read.result() == "through" and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    write_whole(tmp_path / ".." / tmp_path.name / "x", "")
    for device in ("/dev/null", "/dev/stdout"):
        before = os.lstat(device).st_mode
        write_whole(type(tmp_path)(device), "")
        assert os.lstat(device).st_mode == before


def test_long_names(tmp_path):
    name = "\u00e9" * 127  # 254 of the 255 bytes that a name may have
    write_whole(tmp_path / name, "x")
    with made_folder(tmp_path / name[1:]):
        pass
    assert names(tmp_path) == [name[1:], name]


def test_a_folder_in_the_way(tmp_path):
    with pytest.raises(IsADirectoryError, match=f"'{tmp_path}'"):
        write_whole(tmp_path, "x")
    write_whole(tmp_path / "file", "x")
    with pytest.raises(NotADirectoryError, match="file'"), made_folder(tmp_path / "file"):
        pass
    with pytest.raises(OSError, match="not empty; choose another folder or remove it: '"), made_folder(tmp_path):
        pass
    assert names(tmp_path) == ["file"]


def test_an_empty_folder_that_can_not_be_replaced(tmp_path, monkeypatch):
    """The one in which the process works, and one that is mounted, as into a container."""
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    with made_folder(type(tmp_path)()) as folder:
        (folder / "a").write_text("x")
    assert names(type(tmp_path)()) == ["a"] and names(tmp_path) == ["cwd"]
    with own_disk(tmp_path / "disk") as disk:
        if disk is None:
            pytest.skip("no disk can be mounted here: only root may")
        with made_folder(disk) as folder:
            write_whole(folder / "a" / "b", "x")
        assert names(disk) == ["a"] and (disk / "a" / "b").read_text() == "x"


def test_errors_name_what_was_wanted_and_no_other_file_is_renamed(tmp_path):
    with pytest.raises(OSError, match=f"'{tmp_path / 'd' / 'none' / 'x'}'"), made_folder(tmp_path / "d") as folder:
        (folder / "none" / "x").write_text("x")
    with pytest.raises(FileNotFoundError, match=f"'{tmp_path / 'source'}'"), replaced(tmp_path / "a"):
        (tmp_path / "source").read_text()
    assert names(tmp_path) == []
