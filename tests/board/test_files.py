"""Atomic writing: the old file or the whole new one, and nothing but regular files is ever replaced."""

import contextlib
import errno
import os
import socket
import stat
import subprocess
import sys
import threading

import pytest
from support import ROOT

from board import files
from board.files import check_replaceable, parse_json, replace_file, replacing, sync_directory

IS_POSIX = os.name == "posix"
POSIX = pytest.mark.skipif(not IS_POSIX, reason="needs POSIX permissions and special files")


def listing(folder):
    return sorted(os.listdir(folder))


def permissions(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_bytes_and_text(tmp_path):
    replace_file(tmp_path / "a", b"\x00\r\n\xff")
    replace_file(tmp_path / "b", "½ point\n")
    assert (tmp_path / "a").read_bytes() == b"\x00\r\n\xff"
    assert (tmp_path / "b").read_bytes() == b"\xc2\xbd point\n"
    replace_file(str(tmp_path / "a"), b"")
    assert (tmp_path / "a").read_bytes() == b""
    assert listing(tmp_path) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "brackets within brackets within brackets"),
        ('{\n"a":' + "9" * 5000 + "}", "a number of more than 4300 digits: line 2"),
        (b'{\n"a":' + b"9" * 5000 + b"}", "a number of more than 4300 digits: line 2"),
        ('{\n"a"}', "line 2 column"),
        (b'"\xff"', "utf-8"),
    ],
)
def test_json_that_cannot_be_read_has_a_short_reason(text, reason):
    with pytest.raises(ValueError, match=reason) as refusal:
        parse_json(text)
    assert len(str(refusal.value)) < 200


def test_a_name_without_a_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    replace_file("plain", "here")
    assert (tmp_path / "plain").read_text(encoding="utf-8") == "here"


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
        (temporary,) = set(listing(tmp_path)) - {"file"}
        assert temporary.startswith(".quetzal-") and temporary.endswith(".partial")
    assert path.read_bytes() == b"new"
    assert listing(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [ValueError("wrong"), KeyboardInterrupt(), OSError(errno.ENOSPC, "full")])
@pytest.mark.parametrize("exists", [False, True])
def test_an_exception_leaves_everything_as_it_was(tmp_path, error, exists):
    path = tmp_path / "file"
    if exists:
        path.write_bytes(b"old")
    with pytest.raises(type(error)) as raised, replacing(path) as file:
        file.write(b"half of the n")
        raise error
    assert raised.value is error
    assert listing(tmp_path) == (["file"] if exists else [])
    assert not exists or path.read_bytes() == b"old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_error_of_the_system_leaves_everything_as_it_was(tmp_path, monkeypatch, step):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, step, fail)
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert listing(tmp_path) == ["file"]


def test_file_and_directory_are_synced_around_the_renaming(tmp_path, monkeypatch):
    """A rename that reaches the disk before the bytes would leave an empty file after a power cut."""
    calls = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(handle):
        calls.append("directory" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        if calls[-1] == "file":
            assert os.fstat(handle).st_size == 3
        fsync(handle)

    def watched_replace(source, target):
        calls.append("replace")
        replace(source, target)

    monkeypatch.setattr(files.os, "fsync", watched_fsync)
    monkeypatch.setattr(files.os, "replace", watched_replace)
    replace_file(tmp_path / "file", b"new")
    assert calls == (["file", "replace", "directory"] if IS_POSIX else ["file", "replace"])


@POSIX
def test_file_systems_that_cannot_sync_directories(tmp_path, monkeypatch):
    """They say EINVAL. Any other error is one."""
    code = errno.EINVAL

    def fail(_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files.os, "fsync", fail)
    sync_directory(tmp_path)
    code = errno.EIO
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        sync_directory(tmp_path)


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        replace_file(tmp_path / "none" / "file", b"new")
    assert raised.value.filename == str(tmp_path / "none" / "file")
    with pytest.raises(IsADirectoryError) as raised:
        replace_file(tmp_path, b"new")
    assert raised.value.filename == str(tmp_path)
    assert listing(tmp_path) == []


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_permissions_are_kept(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_file(path, b"new")
    assert permissions(path) == mode
    assert path.read_bytes() == b"new"


@POSIX
@pytest.mark.parametrize(("mask", "mode"), [("022", 0o644), ("077", 0o600), ("002", 0o664)])
def test_a_new_file_obeys_the_umask(tmp_path, mask, mode):
    """In a process of its own: the umask belongs to all threads."""
    program = "import os, sys; from board.files import replace_file; os.umask(int(sys.argv[1], 8)); "
    program += "replace_file(sys.argv[2], b'new')"
    subprocess.run([sys.executable, "-c", program, mask, str(tmp_path / "file")], cwd=ROOT, check=True)
    assert permissions(tmp_path / "file") == mode


@POSIX
def test_nobody_else_can_open_the_temporary_file_of_a_private_one(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path):
        (temporary,) = set(listing(tmp_path)) - {"file"}
        assert permissions(tmp_path / temporary) == 0o600


@POSIX
def test_links_to_regular_files_are_followed(tmp_path):
    (tmp_path / "place").mkdir()
    target = tmp_path / "place" / "file"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link, second = tmp_path / "link", tmp_path / "second"
    link.symlink_to("place/file")
    second.symlink_to(link)
    replace_file(second, b"new")
    assert second.is_symlink() and link.is_symlink() and not target.is_symlink()
    assert (target.read_bytes(), permissions(target)) == (b"new", 0o640)
    assert listing(tmp_path / "place") == ["file"]
    assert listing(tmp_path) == ["link", "place", "second"]


@POSIX
def test_a_link_to_nothing_makes_what_it_points_to(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("file")
    replace_file(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@POSIX
def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        replace_file(tmp_path / "a", b"new")
    assert listing(tmp_path) == ["a", "b"]


def special_files(folder):
    """A pipe, a socket, and a link to each."""
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(".", os.O_RDONLY)  # a socket's name must be short
        try:
            os.chdir(folder)
            listener.bind("socket")
        finally:
            os.fchdir(here)
            os.close(here)
    (folder / "link-to-pipe").symlink_to("pipe")
    (folder / "link-to-socket").symlink_to("socket")
    return ["pipe", "socket", "link-to-pipe", "link-to-socket"]


@POSIX
def test_special_files_are_refused_and_never_replaced(tmp_path):
    names = special_files(tmp_path)
    before = {name: os.lstat(tmp_path / name) for name in names}
    for name in names:
        with pytest.raises(OSError, match="not a regular file") as raised:
            check_replaceable(tmp_path / name)
        assert raised.value.filename == str(tmp_path / name)
        with pytest.raises(OSError, match="not a regular file"), replacing(tmp_path / name):
            pytest.fail("writing has begun")
    after = {name: os.lstat(tmp_path / name) for name in names}
    assert {name: (state.st_ino, state.st_mode) for name, state in before.items()} == {
        name: (state.st_ino, state.st_mode) for name, state in after.items()
    }
    assert listing(tmp_path) == sorted(names)


@POSIX
def test_a_pipe_that_appears_while_the_file_is_written_is_not_replaced(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError, match="not a regular file"), replacing(path) as file:
        file.write(b"new")
        os.mkfifo(path)
    assert stat.S_ISFIFO(os.stat(path).st_mode)
    assert listing(tmp_path) == ["file"]


@POSIX
def test_the_inherited_output_is_refused_if_it_is_a_pipe(tmp_path):
    """/dev/stdout leads to a name that does not exist when the output is a pipe."""
    if not os.path.exists("/proc/self/fd/1"):
        pytest.skip("this system has no /proc")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    program = "import sys; from board.files import replace_file; replace_file(sys.argv[1], b'new')"
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "stdout")], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stdout == ""
    assert "not a regular file" in run.stderr
    assert (tmp_path / "stdout").is_symlink()


def test_threads_that_write_the_same_file(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([65 + number]) * 100_000 for number in range(8)]
    threads = [threading.Thread(target=replace_file, args=(path, content)) for content in contents]
    for thread in threads:
        thread.start()
    refusals = () if IS_POSIX else (PermissionError,)  # Windows opens no file in the moment when it is replaced
    while any(thread.is_alive() for thread in threads):
        with contextlib.suppress(FileNotFoundError, *refusals):
            assert path.read_bytes() in contents
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents
    assert listing(tmp_path) == ["file"]


@pytest.mark.parametrize("times", [3, 10**6])
def test_a_file_that_somebody_has_open_on_windows(tmp_path, monkeypatch, times):
    """It is tried again for a while; a file that stays open is an error, and nothing is left of the new one."""
    replace, left = os.replace, times

    def refuse(source, target):
        nonlocal left
        left -= 1
        if left > 0:
            raise PermissionError(errno.EACCES, "in use", source)
        replace(source, target)

    path = str(tmp_path / "file")
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", refuse)
        patch.setattr(files.os, "name", "nt")
        patch.setattr(files, "PATIENCE", 0.2)
        if times == 3:
            replace_file(path, b"new")
        else:
            with pytest.raises(PermissionError) as raised:
                replace_file(path, b"new")
            assert raised.value.filename == path
    assert listing(tmp_path) == ["file"] * (times == 3)
