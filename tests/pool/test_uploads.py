"""Where a cluster's worker keeps files that were sent to it: other users of the machine must not get in."""

import hashlib
import os
import shutil
import stat
import tempfile

import pytest

from pool import uploads
from pool.folders import Absent, Entry, Folder, find_folder, store_piece, stored_path
from pool.uploads import UploadError, is_stored, store_file

pytestmark = pytest.mark.skipif(os.name == "nt", reason="owners and modes are Unix's")

PROGRAM = b"#!/bin/sh\necho sent\n"
PLANTED = b"#!/bin/sh\necho planted\n"


def digest_of(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A temporary directory of many users, and a worker that has just started."""
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    uploads._CHOSEN.clear()
    uploads._CHECKED.clear()
    yield tmp_path
    uploads._CHOSEN.clear()


def usual(shared):
    return shared / f"quetzal-files-{os.getuid()}"


def stored(name="engine"):
    path = store_file(PROGRAM, digest_of(PROGRAM), name)
    with open(path, "rb") as file:
        assert file.read() == PROGRAM
    for place in (path, os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
        status = os.lstat(place)
        assert stat.S_IMODE(status.st_mode) == 0o700
        assert status.st_uid == os.getuid()
    return path


def test_an_engine_is_stored_once(shared):
    path = stored()
    assert path == str(usual(shared) / digest_of(PROGRAM) / "engine")
    before = os.lstat(path)
    uploads._CHOSEN.clear()
    uploads._CHECKED.clear()
    assert stored() == path
    assert os.lstat(path).st_ino == before.st_ino


def plant(shared, mode=0o700, data=PLANTED):
    folder = usual(shared) / digest_of(PROGRAM)
    folder.mkdir(parents=True, mode=0o700)
    usual(shared).chmod(0o700)
    (folder / "engine").write_bytes(data)
    (folder / "engine").chmod(mode)
    return folder / "engine"


def test_a_planted_program_is_not_run(shared):
    """Whatever lies there already: it is run only if it is what was sent."""
    planted = plant(shared)
    assert stored() == str(planted)


def test_a_program_that_others_can_write_is_replaced(shared):
    planted = plant(shared, mode=0o777, data=PROGRAM)
    before = os.lstat(planted).st_ino
    stored()
    assert os.lstat(planted).st_ino != before


def test_a_program_that_is_changed_later_is_noticed(shared):
    path = stored()
    with open(path, "wb") as file:
        file.write(PLANTED)
    assert stored() == path


def test_links_are_not_followed(shared):
    """Neither in place of the program, nor of the directories."""
    planted = plant(shared)
    planted.unlink()
    (shared / "elsewhere").write_bytes(PLANTED)
    (shared / "elsewhere").chmod(0o700)
    planted.symlink_to(shared / "elsewhere")
    path = stored()
    assert not os.path.islink(path)
    assert (shared / "elsewhere").read_bytes() == PLANTED


@pytest.mark.parametrize("how", ["open", "link", "file", "owner"])
def test_a_directory_that_is_not_ours_alone_is_not_used(shared, monkeypatch, how):
    """It was made by somebody else, who knew its name; then a name is taken that nobody knows."""
    if how == "open":
        usual(shared).mkdir()
        usual(shared).chmod(0o777)
    elif how == "link":
        (shared / "elsewhere").mkdir(mode=0o700)
        usual(shared).symlink_to(shared / "elsewhere")
    elif how == "file":
        usual(shared).write_bytes(b"")
    else:
        usual(shared).mkdir(mode=0o700)
        if os.getuid() != 0:
            pytest.skip("only root can give a directory away")
        os.chown(usual(shared), 12345, 12345)
    path = stored()
    assert not path.startswith(str(usual(shared)) + os.sep)
    assert os.path.basename(os.path.dirname(os.path.dirname(path))).startswith("quetzal-files-")
    if how != "file":
        assert list(usual(shared).iterdir()) == []


@pytest.mark.parametrize("is_usual", [True, False])
def test_a_directory_that_was_removed_is_made_again(shared, is_usual):
    """As systemd-tmpfiles does it to a worker that runs for weeks. The path stays: processes know it already."""
    if not is_usual:
        usual(shared).write_bytes(b"")
    path = stored()
    shutil.rmtree(os.path.dirname(os.path.dirname(path)))
    assert stored() == path


def test_a_directory_that_is_opened_later_is_given_up(shared):
    path = stored()
    usual(shared).chmod(0o777)
    other = stored()
    assert not other.startswith(str(usual(shared)) + os.sep)
    assert stored() == other
    assert os.path.exists(path)


def test_a_directory_of_the_engine_that_is_open_to_others_is_refused(shared):
    stored()
    (usual(shared) / digest_of(PROGRAM)).chmod(0o777)
    with pytest.raises(UploadError, match="open to others"):
        store_file(PROGRAM, digest_of(PROGRAM), "engine")


def test_what_is_sent_must_be_what_was_announced(shared):
    with pytest.raises(UploadError, match="not what was announced"):
        store_file(PLANTED, digest_of(PROGRAM), "engine")
    with pytest.raises(UploadError, match="no SHA-256"):
        store_file(PROGRAM, "../" + digest_of(PROGRAM), "engine")
    assert not [path for path in shared.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["", ".", "..", "../engine", "/bin/sh", "a\\b", "a\nb", "a\0b"])
def test_names_lead_nowhere_else(shared, name):
    with pytest.raises(UploadError, match="no name for a file"):
        store_file(PROGRAM, digest_of(PROGRAM), name)


def entry_of(data, name="KQvK.rtbw", digest=None):
    return Entry(f"/home/of/{name}", len(data), digest or digest_of(data))


def test_a_file_comes_in_pieces(shared):
    data = bytes(range(250))
    entry = entry_of(data)
    for offset in range(0, 250, 100):
        assert not is_stored(stored_path(entry), entry.digest)
        store_piece("run", data[offset : offset + 100], entry, offset)
    assert stored_path(entry).read_bytes() == data
    assert os.listdir(stored_path(entry).parent) == ["KQvK.rtbw"]
    folder = Folder("/home/of", (entry, entry_of(data, "KRvK.rtbw")))
    with pytest.raises(Absent) as absent:
        find_folder(folder, "me")
    assert absent.value.keys == [(entry.digest, "KRvK.rtbw")]
    store_piece("run", data, folder.entries[1], 0)
    found = find_folder(folder, "me")
    assert sorted(os.listdir(found)) == ["KQvK.rtbw", "KRvK.rtbw"]
    assert find_folder(folder, "me") == found


def test_a_folder_that_is_here_is_found_from_anywhere(shared):
    """Its name at home may be a relative one, which means something else to a worker in another directory."""
    entries = []
    for name in ("first", "second"):
        (shared / name).mkdir()
        path = shared / name / f"{name}.rtbw"
        path.write_bytes(b"table")
        entries.append(Entry(str(path), 5, digest_of(b"table")))
    found = find_folder(Folder("first:second", tuple(entries)), "me")
    assert found == os.pathsep.join((str(shared / "first"), str(shared / "second")))


def test_what_cannot_be_used_is_said_when_it_is_stored(shared, monkeypatch):
    """As on a file system without owners; else it would be asked for again and again."""
    monkeypatch.setattr("pool.folders.is_stored", lambda path, digest: False)
    with pytest.raises(UploadError, match="could not be stored"):
        store_piece("run", b"data", entry_of(b"data"), 0)


def test_pieces_of_a_killed_sender_are_removed(shared):
    """Not those of another one that is still at it."""
    old, new = entry_of(b"old."), entry_of(b"new.")
    store_piece("killed", b"ol", old, 0)
    (left,) = usual(shared).rglob("*.partial")
    os.utime(left, (1e9, 1e9))
    store_piece("another", b"ol", old, 0)
    store_piece("run", b"new.", new, 0)
    assert not left.exists()
    store_piece("another", b"d.", old, 2)
    assert is_stored(stored_path(old), old.digest)
    assert not list(usual(shared).rglob("*.partial"))


@pytest.mark.parametrize(
    "pieces, reason",
    [
        ([(0, b"aaaa"), (4, b"bbbX")], "is not what was announced"),
        ([(0, b"aaaa"), (5, b"bbb")], "a piece of 'KQvK.rtbw' is missing"),
        ([(4, b"bbbb")], "No such file"),
    ],
)
def test_pieces_that_do_not_fit_are_refused(shared, pieces, reason):
    entry = entry_of(b"aaaabbbb")
    with pytest.raises((UploadError, OSError), match=reason):
        for offset, data in pieces:
            store_piece("run", data, entry, offset)
    assert not list(usual(shared).rglob("*VK*"))
    assert not list(usual(shared).rglob("*.partial"))


@pytest.mark.parametrize("name", ["..", "x\n", "a:b"])
def test_files_of_folders_need_names(shared, name):
    entry = Entry(f"/home/{name}", 1, digest_of(b"a"))
    with pytest.raises(UploadError, match="is no name for a file"):
        store_piece("run", b"a", entry, 0)


def test_links_that_somebody_left_are_not_followed(shared):
    """Neither where pieces are written nor where the directory is put together."""
    entry = entry_of(b"data")
    target = shared / "target"
    target.write_bytes(b"precious")
    store_piece("run", b"da", entry, 0)
    (partial,) = usual(shared).rglob("*.partial")
    partial.unlink()
    partial.symlink_to(target)
    with pytest.raises(OSError):
        store_piece("run", b"ta", entry, 2)
    store_piece("run", b"data", entry, 0)
    folder = find_folder(Folder("/home/of", (entry,)), "me")
    os.unlink(os.path.join(folder, "KQvK.rtbw"))
    os.symlink(target, os.path.join(folder, "KQvK.rtbw"))
    assert find_folder(Folder("/home/of", (entry,)), "me") == folder
    assert not os.path.islink(os.path.join(folder, "KQvK.rtbw"))
    assert target.read_bytes() == b"precious"
