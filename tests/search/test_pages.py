"""Memory in large pages: what the search touches in no order is asked for in them, and given back."""

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROOT

from search.searcher import Searcher

LARGE_PAGE = 2 << 20
MAPS = Path("/proc/self/smaps")


def advised():
    """Bytes of this process for which the system has been asked for large pages, by where they begin."""
    found, start, size = {}, 0, 0
    for line in MAPS.read_text().splitlines():
        words = line.split()
        if "-" in words[0] and not words[0].endswith(":"):
            start = int(words[0].split("-")[0], 16)
        elif words[0] == "Size:":
            size = int(words[1]) << 10
        elif words[0] == "VmFlags:" and "hg" in words:
            found[start] = size
    return found


@pytest.fixture
def smaps():
    # Under wine there is a MAPS, too, which is about Linux' pages and knows nothing of Windows' requests.
    if not sys.platform.startswith("linux") or not MAPS.exists() or "VmFlags:" not in MAPS.read_text():
        pytest.skip("this system does not tell how a process's memory is mapped")
    if not Path("/sys/kernel/mm/transparent_hugepage").exists():
        pytest.skip("this system has no large pages to ask for")


def test_all_that_a_search_touches_lies_in_large_pages(smaps):
    gc.collect()  # what tests before this one have left
    before = sum(advised().values())
    searcher = Searcher(megabytes=8, threads=2)
    made = advised()
    assert all(start % LARGE_PAGE == 0 for start in made)
    # The table, what all threads share, and two threads' histories, of more than a megabyte each.
    assert sum(made.values()) - before >= 8 * (1 << 20) + 3 * LARGE_PAGE

    searcher.set_threads(1)
    fewer = advised()
    assert sum(fewer.values()) <= sum(made.values()) - LARGE_PAGE
    del searcher
    gc.collect()
    assert sum(advised().values()) == before


def test_what_is_searched_again_and_again_is_given_back(smaps):
    Searcher(megabytes=8)
    gc.collect()
    before = sum(advised().values())
    for megabytes in (1, 2, 3, 5, 8):
        Searcher(megabytes=megabytes, threads=3)
    gc.collect()
    assert sum(advised().values()) == before


# A system whose memory is given back as a whole or not at all, which is how Emscripten has it.
WHOLE_ONLY = """
#include <stddef.h>
#include <sys/mman.h>
static void *made; static size_t length;
static void *map(size_t size)
{
    length = size;
    return made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
}
static int unmap(void *memory, size_t size)
{
    if (memory != made || size != length)
        return -1;
    made = NULL;
    return munmap(memory, size);
}
#define mmap(at, size, access, kind, file, offset) map(size)
#define munmap unmap
#include "pages.h"
int main(void)
{
    void *memory = qz_allocate_pages(5000);
    if (memory == NULL || length != 5000)
        return 1;
    qz_free_pages(memory, 5000);
    return made == NULL ? 0 : 2;
}
"""


@pytest.mark.skipif(os.name == "nt" or shutil.which("gcc") is None, reason="as gcc reads it")
def test_browsers_give_back_what_they_gave(tmp_path):
    """Once they never did: Emscripten's headers know the advice for large pages, its memory does not."""
    source, program = tmp_path / "whole.c", tmp_path / "whole"
    source.write_text(WHOLE_ONLY, encoding="utf-8")
    words = ["gcc", "-D_GNU_SOURCE", "-U__linux__", f"-I{ROOT / 'board'}", source, "-o", program]
    subprocess.run(words, check=True)
    assert subprocess.run([program]).returncode == 0
