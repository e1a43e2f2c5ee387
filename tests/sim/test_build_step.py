# SPDX-License-Identifier: BSD-2-Clause
"""Running a tool: what it says, how it fails, and that it can be stopped with all it started."""

import time

import pytest

from hypercast.sim import build_step
from hypercast.sim.build_step import BuildError, StoppedError, run


def test_output_is_returned_and_kept(tmp_path):
    assert run(["sh", "-c", "echo said; echo also >&2; pwd"], tmp_path, "tool") == \
        f"said\nalso\n{tmp_path}\n"
    assert (tmp_path / "tool.log").read_text().startswith("said\n")


def test_a_failure_shows_the_end_of_the_output(tmp_path):
    with pytest.raises(BuildError, match="tool failed with exit status 7") as error:
        run(["sh", "-c", "seq 20; exit 7"], tmp_path, "tool")
    assert str(error.value).endswith("\n".join(map(str, range(6, 21))))
    assert str(tmp_path / "tool.log") in str(error.value)


@pytest.mark.parametrize("script", ["true", "touch made", "mkdir made", "echo text > other"])
def test_a_tool_that_succeeds_without_a_product(script, tmp_path):
    with pytest.raises(BuildError, match=r"tool ended with exit status 0, but sh has written no m"):
        run(["sh", "-c", script], tmp_path, "tool", product="made")
    run(["sh", "-c", "rm -rf made; echo text > made"], tmp_path, "tool", product="made")


@pytest.fixture
def ticking(tmp_path, monkeypatch):
    """A tool whose child writes, forever, to a file."""
    monkeypatch.setattr(build_step, "_INTERVAL", 0.02)
    return ["sh", "-c", "while true; do echo tick >> ticks; sleep 0.02; done & wait"]


def ticks(folder):
    file = folder / "ticks"
    return len(file.read_text()) if file.exists() else 0


def still(folder):
    """Whether nobody writes any more."""
    before = ticks(folder)
    time.sleep(0.3)
    return ticks(folder) == before > 0


def test_a_tool_is_stopped_with_what_it_has_started(tmp_path, ticking):
    with pytest.raises(StoppedError, match=r"tool was stopped: enough \(log: .*tool.log\)"):
        run(ticking, tmp_path, "tool", lambda: "enough" if ticks(tmp_path) > 20 else "")
    assert still(tmp_path)


def test_so_it_is_where_nobody_can_tell_any_more(tmp_path, ticking):
    def stop():
        if ticks(tmp_path):
            raise KeyboardInterrupt
        return ""

    with pytest.raises(KeyboardInterrupt):
        run(ticking, tmp_path, "tool", stop)
    assert still(tmp_path)
