# SPDX-License-Identifier: BSD-2-Clause
"""Threads do every task once a turn, however many there are, also after a rest."""

import ctypes
import time

import pytest

from hypercast.sim.library import load_library
from hypercast.sim.library_build import Design, build
from tests.system.chips import WIDE

HARNESS = """
#include "crew.h"

struct Work {
    std::vector<uint64_t> *done;
    void operator()(size_t task) const { (*done)[task]++; }
};

extern "C" {

void *hypercast_crew(size_t tasks, size_t threads, std::vector<uint64_t> *done) {
    return new Crew<Work>(tasks, threads, Work{done});
}

void *hypercast_tasks(size_t tasks) { return new std::vector<uint64_t>(tasks); }

// Returns whether all tasks were done, once each, after every turn.
bool hypercast_run(Crew<Work> *crew, std::vector<uint64_t> *done, uint64_t turns) {
    bool right = true;
    while (turns--) {
        uint64_t before = done->front(), first = 0;
        crew->run([&] { first++; });
        for (uint64_t count : *done) right &= count == before + 1;
        right &= first == 1;
    }
    return right;
}

void hypercast_end(Crew<Work> *crew) { delete crew; }

}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crew")
    harness = folder / "harness.cpp"
    harness.write_text(HARNESS)
    path = build(Design(config=WIDE, harness=harness, convert=lambda _: []), cache=folder)
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    return load_library(path, "hypercast_", {
        "crew": (pointer, [size, size, pointer]), "tasks": (pointer, [size]),
        "run": (ctypes.c_bool, [pointer, pointer, ctypes.c_uint64]), "end": (None, [pointer])})


@pytest.mark.parametrize(("tasks", "threads"), [(1, 0), (2, 0), (2, 1), (4, 1), (8, 3)])
def test_every_task_is_done_once_a_turn(library, tasks, threads):
    done = library.hypercast_tasks(tasks)
    crew = library.hypercast_crew(tasks, threads, done)
    for _ in range(3):
        assert library.hypercast_run(crew, done, 2000)
        time.sleep(0.02)  # long enough for threads to fall asleep
    library.hypercast_end(crew)
