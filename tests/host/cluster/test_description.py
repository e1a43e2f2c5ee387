# SPDX-License-Identifier: BSD-2-Clause
"""Clusters: files and names say what boards there are and how they are joined; the rest is refused.
"""

from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypercast.host.cluster.description import CLUSTERS, Cluster, load_cluster
from hypercast.host.description.conversion import DescriptionError
from tests.packaging.source_tree import ROOT

PAIR = {"boards": {"a": {"board": "vcu128", "count": 2}}, "links": {"wire": {"gigabits": 8}}}


def changed(section, name, **keys):
    """``PAIR`` with other keys in a section."""
    return {**PAIR, section: {**PAIR[section], name: {**PAIR[section].get(name, {}), **keys}}}


@pytest.mark.parametrize("name", CLUSTERS)
def test_presets_are_clusters_whose_boards_are_joined(name):
    cluster = load_cluster(name)
    cluster.require_joined()
    assert len(cluster.boards) > 1
    assert all(board.memory > 0 and board.clock > 0 for board in cluster.boards)


@pytest.mark.parametrize("name", CLUSTERS)
def test_presets_have_as_many_boards_as_they_say(name):
    """A power of two of one kind; of the mixed ones, half are of each."""
    boards = load_cluster(name).boards
    kinds = Counter(board.name.rpartition("-")[0] for board in boards)
    if name == "mixed":
        assert len(set(kinds.values())) == 1 and len(kinds) == 2
    else:
        kind, count = name.removesuffix("-slow").split("-")
        assert kinds == {kind: int(count)}
    assert len(boards).bit_count() == 1


def test_slow_presets_differ_by_their_links_alone():
    slow = [name for name in CLUSTERS if name.endswith("-slow")]
    assert slow
    for name in slow:
        first, second = load_cluster(name), load_cluster(name.removesuffix("-slow"))
        assert first.boards == second.boards
        for size in (0, 1 << 20):
            assert first.route(*first.boards[:2]).seconds(size) > second.route(
                *second.boards[:2]).seconds(size)


def test_only_the_boards_that_are_asked_for_have_to_be_joined():
    """All of them, if none are named."""
    cluster = Cluster.of_sections({
        "boards": {"a": {"board": "vcu128", "count": 3}},
        "links": {"wire": {"gigabits": 8, "boards": ["a-0", "a-2"]}}})
    first, second, third = cluster.boards
    cluster.require_joined([first, third])
    cluster.require_joined([second])
    for boards in (None, [first, second], [third, second], [first, second, third]):
        with pytest.raises(DescriptionError, match="no link joins the boards a-"):
            cluster.require_joined(boards)
    assert cluster.connects(third, first) and not cluster.connects(first, second)


def test_the_example_is_what_its_comments_say():
    cluster = load_cluster(str(ROOT / "examples/cluster.toml"))
    first, second, small = cluster.boards
    assert [board.name for board in cluster.boards] == ["fast-0", "fast-1", "small-0"]
    assert small.memory <= 4e9 < 2 * small.memory
    assert cluster.route(first, second).bandwidth == 100e9 / 8
    assert cluster.route(first, small).bandwidth == first.host.bandwidth


@given(st.floats(0.001, 1e4), st.floats(0, 1e4), st.floats(0.001, 1e4), st.floats(0.001, 1e4),
       st.integers(0, 1 << 30))
def test_the_slowest_part_of_a_way_sets_the_pace(gigabits, microseconds, first, second, size):
    cluster = Cluster.of_sections({
        "boards": {"a": {"board": "u50", "host_gigabits": first, "host_microseconds": 1},
                   "b": {"board": "u280", "host_gigabits": second, "host_microseconds": 2}},
        "links": {"wire": {"gigabits": gigabits, "microseconds": microseconds}}})
    seconds = cluster.route(*cluster.boards).seconds(size)
    assert seconds == pytest.approx(
        (3 + microseconds) * 1e-6 + 8 * size / (min(gigabits, first, second) * 1e9))
    assert seconds == cluster.route(*reversed(cluster.boards)).seconds(size)


def test_bytes_take_the_fastest_connection():
    cluster = Cluster.of_sections({**PAIR, "links": {
        "slow": {"gigabits": 1}, "fast": {"gigabits": 2, "direct": True}, "lame": {"gigabits": 1}}})
    assert cluster.route(*cluster.boards).bandwidth == 2e9 / 8


def test_a_part_of_a_cluster_has_the_links_of_its_boards():
    part = load_cluster("mixed").only(["vcu128-0", "vcu128-1", "vcu128-2"])
    part.require_joined()
    assert [board.name for board in part.boards] == ["vcu128-0", "vcu128-1", "vcu128-2"]


@pytest.mark.parametrize(("sections", "text"), [
    ({}, "there are no boards"),
    ({"boards": {}}, "there are no boards"),
    ({"board": {}}, r"did you mean \[boards.NAME\]"),
    ({"machines": {}}, "there are"),
    ({"boards": {"board": "vcu128"}}, "must be sections"),
    ({"boards": 3}, "must be sections"),
    (changed("boards", "a", board="vcu129"), "board must be one of .*, not 'vcu129'"),
    ({"boards": {"a": {}}}, "board must be one of .*, not None"),
    (changed("boards", "a", count=0), "count must be 1 to 1024, not 0"),
    (changed("boards", "a", counts=2), "did you mean count"),
    (changed("boards", "a", megahertz=0), "megahertz must be 0.001 to 100000"),
    (changed("boards", "a", megahertz=float("nan")), "megahertz must be 0.001 to 100000"),
    (changed("boards", "a", host_gigabits=-1), "host_gigabits must be 0.000001 to 1000000, not -1"),
    (changed("boards", "a", preset="huge"), "preset must be one of"),
    (changed("boards", "a", lanes=3), "lanes must be one of"),
    (changed("boards", "a", gigabytes=1e-6), "leaves . words"),
    (changed("boards", "a", gigabytes=1, channel_words=64), "leave one out"),
    (changed("boards", "a", transfers="never"), "transfers must be"),
    (changed("links", "wire", gigabits=0), "gigabits must be 0.000001 to 1000000, not 0"),
    (changed("links", "wire", microseconds=-1), "microseconds must be 0 to 100000000, not -1"),
    (changed("links", "wire", gigabits=float("inf")), "1000000, not inf"),
    ({**PAIR, "links": {"wire": {}}}, "needs gigabits"),
    (changed("links", "wire", boards=["a-0", "a-2"]), "did you mean"),
    (changed("links", "wire", boards=["a-0", "a-0"]), "names a board twice"),
    (changed("links", "wire", boards=["a-0"]), "boards has 1, so that it joins nothing"),
    (changed("links", "wire", boards=[]), "boards has 0, so that it joins nothing"),
    (changed("links", "wire", boards=""), r"\[links.wire\] boards is empty; give a text"),
    (changed("links", "wire", boards=3), "boards must be a text, or a list of such, not 3"),
    (changed("boards", "a", preset=""), "preset is empty"),
    (changed("boards", "a", transfers=""), "transfers is empty"),
    (changed("boards", "a", device=""), "device is empty"),
    (changed("boards", "a", count=1.5), "count must be a whole number, not 1.5"),
    (changed("boards", "a", count=True), "count must be a whole number, not True"),
    (changed("boards", "a", count=date(2020, 1, 2)), "a whole number, not datetime.date"),
    (changed("boards", "a", megahertz=1e-320), "megahertz must be 0.001 to 100000, not 1e-320"),
    (changed("boards", "a", megahertz=None), "megahertz must be a number, not None"),
    (changed("boards", "a", gigabytes=99), "addresses reach 17.1799; give that or less"),
    (changed("boards", "b", board="u50", count=1023), r"\[boards.b\] makes the boards 1025; "),
    (changed("boards", "a", count=1024) | {"links": {str(n): {"gigabits": 1} for n in range(5)}},
     "5 links join more than"),
])
def test_what_makes_no_sense_is_refused(sections, text):
    with pytest.raises(DescriptionError, match=text) as error:
        Cluster.of_sections(sections)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [
    "", " ", "a b ", "a  b", "a,b", "a\nb", "\0", "\x1b[31m", "a\u202eb", "\u200b", "a\u00ad",
    "\ufeffa", "\u3164", "a\ufe0f", "\u2800", "a\u00a0b", "x" * 65])
@pytest.mark.parametrize("section", ["boards", "links"])
def test_names_that_do_not_print_are_refused(name, section):
    sections = {**PAIR, section: {name: next(iter(PAIR[section].values()))}}
    with pytest.raises(DescriptionError, match=r"NAME (is empty|must be a name)") as error:
        Cluster.of_sections(sections)
    assert str(error.value).isprintable()


@given(st.text(max_size=70), st.text(max_size=9))
def test_names_are_taken_as_they_are_or_refused(first, second):
    kinds = {first: {"board": "u50"}, second: {"board": "u50"}}
    try:
        cluster = Cluster.of_sections({"boards": kinds, "links": {second: {
            "gigabits": 1, "direct": True}, first: {"gigabits": 1}}})
    except DescriptionError as error:
        assert str(error).isprintable()
        return
    assert [board.name for board in cluster.boards] == [f"{name}-0" for name in kinds]
    if first != second:
        assert len({port for route in map(cluster.route, cluster.boards, cluster.boards[::-1])
                    for port in route.ports}) == 4


def test_boards_that_nothing_joins_are_named():
    cluster = Cluster.of_sections({**PAIR, "boards": {"a": {"board": "u50", "count": 3}},
                                   "links": {"wire": {"gigabits": 1, "boards": ["a-0", "a-1"]}}})
    assert cluster.connects(*cluster.boards[:2])
    with pytest.raises(DescriptionError, match="no link joins the boards a-0 and a-2"):
        cluster.require_joined()


def test_errors_of_files_name_the_line(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text('[boards.a]\nboard = "u50"\n\n[links.wire]\ngigabits = 1\nboards = ["b-0"]\n')
    with pytest.raises(DescriptionError, match=r"cluster\.toml, line 6: .*b-0"):
        load_cluster(str(path))


@pytest.mark.parametrize("name", ["vcu128-3", "nothing", "there/is/none.toml"])
def test_what_is_no_cluster_is_refused(name):
    with pytest.raises(DescriptionError, match=r"cluster|does not exist"):
        load_cluster(name)
