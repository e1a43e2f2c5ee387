# SPDX-License-Identifier: BSD-2-Clause
"""``hypercast model``: what it prints, what it refuses."""

import json
import re

import pytest

from tests.host.test_cli import refused, run

GRAPH = ["--vertices", 500, "--edges", 3000, "--layers", "20,8,3", "--preset", "test"]


def predicted(*arguments):
    return json.loads(run("model", *arguments, "--json").stdout)


def test_table():
    text = run("model", *GRAPH).stdout
    for part in ("4 cores, 4 lanes", "forward 1", "update 2", "limited by", "array words"):
        assert part in text


def test_both_bounds():
    found, text = predicted(*GRAPH), run("model", *GRAPH).stdout
    assert found["cycles"] >= max(found["bound"], found["chain"]) > 0
    loads = {name: sum(phase["loads"][name] for phase in found["phases"])
             for name in found["phases"][0]["loads"]}
    assert found["bound"] == loads[found["limit"]] == max(loads.values())
    for name, cycles in ((f"busiest resource, {found['limit']}", found["bound"]),
                         ("chain of dependent instructions", found["chain"])):
        [line] = [line for line in text.splitlines() if name in line]
        assert f"{cycles:,.0f}" in line and f"{cycles / found['cycles']:.1%}" in line


def test_what_does_not_fit_is_said_with_a_remedy():
    small, large = (["--vertices", 3000, "--edges", 30000, "--layers", "20,8,3", "--preset", "test",
                     *more] for more in (["-P", "program_rows=32"], [
                         "-P", "program_rows=8192", "-P", "channel_words=131072"]))
    assert predicted(*large)["shortages"] == []
    rows, words = predicted(*small)["shortages"]
    assert re.fullmatch(r"program_rows is 32, but \d+ are needed: .*; raise program_rows to \d+ "
                        r"\(-P program_rows=\d+\)", rows)
    assert re.fullmatch(r"channel_words is 4096, but \d+ are needed: memory channel [01] .*", words)
    text = run("model", *small).stdout
    assert f"does not fit: {rows}" in text and f"does not fit: {words}" in text


def test_what_would_be_faster_is_said_with_a_remedy():
    few, enough = (["--vertices", 5000, "--edges", 9000, "--layers", "20,8,3", "--preset", "test",
                    "-P", "program_rows=8192", "-P", "channel_words=131072", "-P",
                    "memory_stalls=true", "-P", f"row_counts={count}"] for count in (16, 256))
    slow, fast = predicted(*few), predicted(*enough)
    [found] = slow["slowdowns"]
    assert "row_counts is 16" in found and "(-P row_counts=" in found
    assert f"slower than it could be: {found}" in run("model", *few).stdout
    assert fast["slowdowns"] == [] and fast["cycles"] < slow["cycles"]


def test_data_set():
    found = predicted("karate", "--preset", "test", "--layers", 8)
    assert found["cycles"] > found["bound"] > 0
    assert sum(phase["cycles"] for phase in found["phases"]) == found["cycles"]
    assert {phase["name"] for phase in found["phases"]} >= {"forward 1", "loss", "backward 2"}
    # 156 edges and 34 loops; 8 features are 2 panels, 2 are 1: all go forward and back.
    assert found["work"]["edges"] == (156 + 34) * (2 + 1) * 2


def test_work_of_statistics():
    work = predicted(*GRAPH)["work"]
    assert work["edges"] == pytest.approx(3000 * (2 + 1) * 2, rel=0.01)
    # Panels: 20, 8 and 3 features are 5, 2 and 1; biases are sums of 1.
    matmul, gradient = 5 * 2 + 2 * 1 + 1 * 2, 5 * 2 + 2 * 1 + 2 + 1
    assert work["array_words"] == 500 * (matmul + gradient)


def test_what_is_asked_for_counts():
    plain = predicted(*GRAPH)
    first = predicted(*GRAPH, "--order", "aggregate_first")
    assert first["work"]["edges"] > plain["work"]["edges"]
    assert predicted(*GRAPH, "--degree-law", "uniform")["work"]["sent"] \
        > plain["work"]["sent"]
    assert predicted(*GRAPH, "-P", "dimensions=0")["cycles"] > 1.5 * plain["cycles"]


@pytest.mark.parametrize("arguments", [
    ["--vertices", 500, "--edges", 3000, "--layers", "4,16,3"], ["karate", "--layers", 12]])
def test_orders_are_the_fastest(arguments):
    arguments = [*arguments, "--preset", "test"]
    found = {order: predicted(*arguments, "--order", order)
             for order in ("fastest", "combine_first", "aggregate_first")}
    assert found["fastest"]["cycles"] <= min(one["cycles"] for one in found.values())
    for order in ("combine_first", "aggregate_first"):
        assert set(found[order]["orders"]) == {order}
    first, second = (f"layer {number} {order.replace('_', ' ')}"
                     for number, order in enumerate(found["fastest"]["orders"], 1))
    assert f"order of products: {first}, {second}" in run(
        "model", *arguments, "--order", "fastest").stdout


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "give a DATASET, or --vertices with --edges and --layers"),
    (["karate", "--vertices", 9], "give a DATASET, or --vertices with --edges and --layers"),
    (["karate", "--edges", 9], "--edges goes with --vertices; a DATASET has edges of its own"),
    (["--vertices", 9, "--layers", "5,2"], "--vertices needs --edges and --layers"),
    (["--vertices", 9, "--edges", 9], "--vertices needs --edges and --layers"),
    (["--vertices", 9, "--edges", 9, "--layers", "5"], "--vertices needs --edges and --layers"),
    (["--vertices", 9, "--edges", 9, "--layers", "5,two"], "'5,two' is not a number or a list"),
])
def test_usage_errors(arguments, message):
    assert message in refused("model", *arguments, status=2)


@pytest.mark.parametrize(("arguments", "message"), [
    (["nosuch"], "nosuch is neither a bundled data set"),
    (["--vertices", 9, "--edges", 9, "--layers", "5,0"], "0"),
    ([*GRAPH, "-P", "weight_rows=16"], "weight_rows is 16, but"),
])
def test_refusals(arguments, message):
    assert message in refused("model", *arguments)
