# SPDX-License-Identifier: BSD-2-Clause
"""Loops over panels, strips and portions are unrolled as the shapes demand, in any order."""

from collections import Counter

import pytest

from hypercast.host.compiler.assembly import updates_at
from hypercast.host.compiler.compiler import compile_job
from hypercast.host.compiler.phase_name import PhaseKind
from hypercast.host.training.prepare import prepare
from hypercast.reference.network import AGGREGATE_FIRST, COMBINE_FIRST, LINEAR, Layer, Network
from hypercast.reference.recipe import Recipe
from hypercast.rtl.isa import DrainSource, Engine, Opcode, OperandSource, decode
from hypercast.rtl.registers import PHASES
from tests.host.models import (
    SMALL,
    left_channel,
    named_model,
    small_graph,
    small_model,
)
from tests.host.noted_programs import noted, summary

CONFIG = SMALL.replace(weight_rows=1024, channel_words=16384, program_rows=2048, tensors=64)


def instructions(model, config=CONFIG, entry="train"):
    """The decoded instructions of a pass, but for the AGGREGATE that prefetches."""
    job = compile_job(model, config)
    return [entry for entry in map(decode, job.instructions(entry)) if not entry.get("prefetch")]


def of(opcode, program, **fields):
    return [entry for entry in program if entry["opcode"] == opcode
            and all(entry[name] == value for name, value in fields.items())]


def tensor_of(entry, job):
    """Name of the tensor that an instruction makes."""
    return next(name for name, number in job.tensors.items() if number == entry["o"])


def tiles_of_weights(entry):
    """Bank rows at which the tiles that a MATMUL multiplies with begin."""
    return [entry["weights"] + index * entry["weight_stride"] for index in range(entry["panels"])]


def piece_of(entry, job):
    """Parameter, portion, and range of the parameter's rows that a GRADIENT reduces."""
    region = next(region for region in job.regions.values()
                  if region.channel == entry["gradient_channel"] and region.columns
                  and 0 <= entry["gradient_address"] - region.address < region.words)
    weights = job.weights[f"{'b' if entry['ones'] else 'W'}{region.name[-1]}"]
    lanes = 1 if entry["ones"] else job.config.lanes
    panel = (entry["gradient_address"] - region.address) // region.stride
    first = panel * weights.height + entry["panel"] * lanes
    rows = range(first, first + entry["panels"] * lanes)
    portion = next(portion for portion in weights.portions if first in portion.rows)
    assert rows.stop <= portion.rows.stop
    return weights, portion, rows


@pytest.mark.parametrize("after", [False, True])
def test_next_batch(after):
    """Sums for the next step go where nothing reads in this one."""
    job = compile_job(small_model(orders=AGGREGATE_FIRST, dropout=0.0), CONFIG, ahead=True)
    job = job.after_step() if after else job
    program = [entry for entry in map(decode, job.instructions("train"))]
    own, following = (job.regions[name] for name in ("M1", "M1.next"))

    def touched(opcode, **fields):
        return [entry["address"] for entry in of(opcode, program, **fields)
                if left_channel(entry) == own.channel and not entry.get("ones")
                and entry.get("operand") != OperandSource.BUFFER]

    def inside(addresses, region):
        return [address for address in addresses
                if 0 <= address - region.address < region.words]

    written = touched(Opcode.DRAIN)
    assert len(inside(written, following)) == following.panels and not inside(written, own)
    read = touched(Opcode.MATMUL) + touched(Opcode.GRADIENT)
    assert inside(read, own) and not inside(read, following)


def test_products_of_a_step():
    """An AGGREGATE per panel, a MATMUL or more per output panel, one DRAIN for each of them."""
    program = instructions(small_model(small_graph(features=5, classes=3), hidden=(4,)))
    assert len(of(Opcode.AGGREGATE, program)) == 2 + 2 + 2 + 2
    assert len(of(Opcode.DRAIN, program, source=DrainSource.AGGREGATION)) == 8
    assert len(of(Opcode.DRAIN, program, source=DrainSource.ARRAY)) == 2 + 2 + 2
    assert len(of(Opcode.LOSS, program)) == 1


@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("vertices", [9, 70])
def test_products_multiply_with_every_tile_of_weights_once(orders, vertices):
    """Each strip of rows; the first layer's inputs have no gradient."""
    model = small_model(small_graph(vertices), hidden=(7,), orders=orders, dropout=0.0)
    job, program = compile_job(model, CONFIG), instructions(model)
    first_rows = range(0, -(-vertices // 2), CONFIG.accumulator_rows)
    for transposed, names in ((0, ("W1", "W2")), (1, ("W2",))):
        found = Counter((tile, entry["row_start"])
                        for entry in of(Opcode.MATMUL, program, transposed=transposed)
                        for tile in tiles_of_weights(entry))
        assert found == Counter(
            (job.weights[name].base + tile, first) for name in names for first in first_rows
            for tile in range(0, job.weights[name].rows, CONFIG.lanes))


def test_sums_begin_with_the_panels_that_are_there():
    """Products of what this step makes: the first output panel takes input panels one by one."""
    model = small_model(hidden=(8,))
    job, program = compile_job(model, CONFIG), instructions(model)
    base, height = job.weights["W2"].base, job.weights["W2"].height
    combine = [entry for entry in of(Opcode.MATMUL, program, transposed=0)
               if entry["weights"] >= base]
    assert sorted((entry["panel"], entry["panels"]) for entry in combine
                  if entry["weights"] < base + height) == [(0, 1), (1, 1), (2, 1), (3, 1)]
    assert [(entry["panel"], entry["panels"]) for entry in combine
            if entry["weights"] >= base + height] == [(0, 4)]
    assert len({entry["buffer"] for entry in combine if entry["panels"] == 1}) == 1
    drains = of(Opcode.DRAIN, program, o=job.tensors["H1"])
    assert program.index(combine[0]) < program.index(drains[-1])
    assert {entry["panels"] for entry in of(Opcode.MATMUL, program)
            if entry["weights"] < job.weights["b1"].base} == {3}, "X has been there all along"


def test_panels_are_those_of_the_addresses():
    """Dropout masks depend on the panel: on the left that is read, on the result that is made."""
    model = small_model(small_graph(features=11), hidden=(9,))
    job, program = compile_job(model, CONFIG), instructions(model)
    inputs = [entry for entry in program if entry.get("dropout") and "stride" in entry]
    assert {entry["opcode"] for entry in inputs} == {Opcode.MATMUL, Opcode.GRADIENT}
    for entry in inputs:
        assert entry["address"] == job.regions["X"].panel(entry["panel"])
    for entry in of(Opcode.DRAIN, program):
        assert entry["address"] == job.regions[tensor_of(entry, job)].panel(entry["panel"])


@pytest.mark.parametrize("vertices", [9, 70])
def test_accumulators_are_free_when_a_sum_begins(vertices):
    """Buffers of the array, and those that aggregations and reductions share."""
    model = small_model(small_graph(vertices, features=17), hidden=(9,))
    job, program = compile_job(model, CONFIG), instructions(model)
    made = {"array": {name: (job.weights[f"W{layer}"].base, transposed)
                      for name, layer, transposed in (("T1", 1, 0), ("T2", 2, 0), ("dZ1", 2, 1))},
            "aggregation": {"H1": "T1", "Z2": "T2", "dT2": "dZ2", "dT1": "dZ1"}}
    left = Counter(
        portion.reduction_group for weights in job.weights.values() for portion in weights.portions)
    owners, taken = {}, 0
    for entry in program:
        place = entry.get("buffer")
        if entry["opcode"] == Opcode.MATMUL:
            base = max(weights.base for weights in job.weights.values()
                       if weights.base <= entry["weights"])
            owner = (base, entry["transposed"]), entry["row_start"]
            assert owners.setdefault(("array", place), owner) == owner
        elif entry["opcode"] == Opcode.AGGREGATE:
            source = next(name for name in made["aggregation"].values()
                          if job.regions[name].channel == entry["channel"]
                          and 0 <= entry["address"] - job.regions[name].address
                          < job.regions[name].words)
            assert ("aggregation", place) not in owners
            panel = (entry["address"] - job.regions[source].address) // job.regions[source].stride
            owners["aggregation", place] = source, panel
        elif entry["opcode"] == Opcode.GRADIENT:
            group = piece_of(entry, job)[1].reduction_group
            assert owners.setdefault(("aggregation", place), group) == group
        elif entry["opcode"] == Opcode.DRAIN:
            kind = "array" if entry["source"] == DrainSource.ARRAY else "aggregation"
            factor = made[kind][tensor_of(entry, job)]
            assert owners.pop((kind, place)) == (
                factor, entry["row_start"] if kind == "array" else entry["panel"])
            taken += 1
        elif entry["opcode"] == Opcode.UPDATE:
            group = owners["aggregation", place]
            left[group] -= 1
            if not left[group]:
                del owners["aggregation", place]
    assert taken and not owners and not any(left.values())
    assert {entry["buffer"] for entry in of(Opcode.MATMUL, program)} == {0, 1}
    assert {entry["buffer"] for entry in of(Opcode.AGGREGATE, program)} == {0, 1}


@pytest.mark.parametrize(("vertices", "rows"), [(32, [16]), (33, [16, 1]), (70, [16, 16, 3])])
def test_destination_strips(vertices, rows):
    """More rows than the accumulators hold: products strip by strip, one exponent for all."""
    model = small_model(small_graph(vertices, classes=2), hidden=(2,))
    job, program = compile_job(model, CONFIG), instructions(model)
    strips = [(16 * index, limit) for index, limit in enumerate(rows)]
    for name in ("T1", "H1"):
        drains = of(Opcode.DRAIN, program, o=job.tensors[name])
        assert sorted((entry["row_start"], entry["row_limit"]) for entry in drains) == strips
        assert [entry["open"] for entry in drains] == [1] + [0] * (len(rows) - 1)
        assert all(entry["address"] == job.regions[name].address + entry["row_start"]
                   for entry in drains)
    aggregates = of(Opcode.AGGREGATE, program)
    assert len({entry["edge_set"] for entry in aggregates}) == len(rows)


@pytest.mark.parametrize("vertices", [9, 70])
def test_products_of_the_losses_gradient_follow_it(vertices):
    """Products of all strips of rows come after LOSS, which writes the whole gradient at once."""
    program = instructions(small_model(
        small_graph(vertices, classes=2), hidden=(4,), orders=AGGREGATE_FIRST, dropout=0.0))
    [loss] = of(Opcode.LOSS, program)
    products = of(Opcode.MATMUL, program, transposed=1)
    strips = -(-vertices // 2 // CONFIG.accumulator_rows)
    assert len(products) == strips * 2
    for entry in products:
        assert program.index(loss) < program.index(entry)


def test_directed_graph_has_messages_of_its_own_backward():
    edges = [[0, 1], [1, 2], [0, 3]]
    for directed, sets in ((False, 1), (True, 2)):
        graph = small_graph(vertices=6, edges=edges, directed=directed)
        program = instructions(small_model(graph))
        assert len({entry["edge_set"] for entry in of(Opcode.AGGREGATE, program)}) == sets


@pytest.mark.parametrize(("optimiser", "state_values"), [("sgd", 2), ("adam", 3)])
@pytest.mark.parametrize("features", [4, 16, 17, 40])
def test_reductions_in_portions(features, optimiser, state_values):
    """Two cores hold 32 gradient rows: every row of a portion is reduced once, where UPDATE is."""
    model = small_model(small_graph(features=features, classes=2), hidden=(3,),
                        optimiser=optimiser)
    job, program = compile_job(model, CONFIG), instructions(model)
    found = {}
    for entry in of(Opcode.GRADIENT, program):
        weights, portion, rows = piece_of(entry, job)
        assert entry["first_row"] == portion.first_row + rows.start - portion.rows.start
        found.setdefault((weights.name, portion), []).append((rows, entry))
    for name, weights in job.weights.items():
        updates = of(Opcode.UPDATE, program, o=job.tensors[name])
        assert [entry["open"] for entry in updates] == [1] + [0] * (len(weights.portions) - 1)
        for portion in weights.portions:
            pieces = found[name, portion]
            rows = sorted(row for rows, _ in pieces for row in rows)
            assert rows == list(portion.rows)
            [update] = (entry for entry in updates
                        if entry["weights"] == weights.base + portion.rows.start)
            assert (update["first_row"], update["rows"]) == (portion.first_row, len(rows))
            assert update["state"] == weights.state.address + \
                portion.rows.start // 2 * state_values * CONFIG.state_words
            assert update["adam"] == (optimiser == "adam")
            assert {entry["buffer"] for _, entry in pieces} == {update["buffer"]}
            last = max(program.index(entry) for _, entry in pieces)
            assert any(entry["waits"] >> Engine.REDUCTION & 1
                       for entry in program[last + 1:program.index(update) + 1])
    assert len(job.weights["W1"].portions) > 1 or features == 4


@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("orders", [COMBINE_FIRST, AGGREGATE_FIRST])
@pytest.mark.parametrize("features", [4, 17, 40])
def test_steps_in_pieces(features, orders, optimiser):
    """What is reduced is kept at once, and the update of the same rows takes it from there."""
    model = small_model(small_graph(features=features, classes=2), hidden=(3,), orders=orders,
                        dropout=0.0, optimiser=optimiser)
    job = compile_job(model, CONFIG, pieces=True)
    assert job.pieces and "train" not in job.starts
    sums, update = (list(map(decode, job.instructions(entry))) for entry in (
        "step_sums", "update"))
    assert [entry["opcode"] for entry in update[:-1]] == [Opcode.UPDATE] * (len(update) - 1)
    assert (sums[-1]["step"], update[-1]["step"]) == (0, 1)
    assert [job.program[row] for row, _ in job.updates] == job.instructions("update")[:-1]

    def work(program):
        return Counter((entry["weights"], entry["rows"], entry["state"], entry["adam"])
                       for entry in of(Opcode.UPDATE, program))

    assert work(sums) == work(update) and len(work(sums)) == len(update) - 1
    values = 5 if optimiser == "adam" else 4
    for entry in update[:-1]:
        assert (entry["keep"], entry["kept"]) == (0, 1)
        name, weights = next((name, weights) for name, weights in job.weights.items()
                             if weights.base <= entry["weights"] < weights.base + weights.rows)
        assert entry["o"] == job.tensors[name]
        assert entry["state"] == weights.state.address + (
            entry["weights"] - weights.base) // 2 * values * CONFIG.state_words
    for number in job.weights:
        assert [entry["open"] for entry in of(
            Opcode.UPDATE, update, o=job.tensors[number])].count(1) == 1
    one = job.tensors["one"]
    for entry in of(Opcode.UPDATE, sums):
        assert (entry["keep"], entry["kept"], entry["open"]) == (1, 0, 0)
        assert (entry["a"], entry["b"]) == (one, one)
    groups = {}
    for entry in sums:
        if entry["opcode"] == Opcode.GRADIENT:
            weights, portion, _ = piece_of(entry, job)
            groups[weights.base + portion.rows.start] = entry["buffer"], portion.first_row
    for entry in of(Opcode.UPDATE, sums):
        if entry["weights"] in groups:
            assert groups[entry["weights"]] == (entry["buffer"], entry["first_row"])
    plain = compile_job(model, CONFIG)
    assert not plain.pieces and all(
        not entry["keep"] and not entry["kept"]
        for entry in of(Opcode.UPDATE, map(decode, plain.program)))


def test_a_step_in_pieces_does_not_work_ahead():
    model = small_model(orders=AGGREGATE_FIRST, dropout=0.0)
    with pytest.raises(ValueError, match="a step in pieces does not work ahead"):
        compile_job(model, CONFIG, ahead=True, pieces=True)


def test_pieces_of_a_group_follow_each_other():
    """Digits of several GRADIENTs may be under way if they go to the same buffer."""
    model = small_model(small_graph(features=40, classes=2), hidden=(3,))
    job = compile_job(model, CONFIG)
    gradients = of(Opcode.GRADIENT, instructions(model))
    groups = [piece_of(entry, job)[1].reduction_group for entry in gradients]
    assert groups == sorted(groups)
    for before, after, entry in zip(groups, groups[1:], gradients[1:], strict=False):
        assert before != after or not entry["waits"] >> Engine.REDUCTION & 1


def test_biases():
    """GRADIENTs and an UPDATE for all panels; the forward pass reads them from there.

    Panels in memory are taken together, those that are kept one by one.
    """
    model = small_model(hidden=(5,))
    job, program = compile_job(model, CONFIG), instructions(model)
    for name, panels, each in (("b1", 3, 1), ("b2", 2, 2)):
        weights, region = job.weights[name], job.regions[f"dZ{name[1]}"]
        gradients = sorted(
            (entry for entry in of(Opcode.GRADIENT, program, ones=1)
             if piece_of(entry, job)[0] is weights), key=lambda entry: entry["first_row"])
        [update] = of(Opcode.UPDATE, program, o=job.tensors[name])
        assert update["rows"] == panels
        assert [(entry["first_row"], entry["panels"], entry["gradient_address"], entry["bypassed"])
                for entry in gradients] == [
            (update["first_row"] + panel, each, region.panel(panel), int(each == 1))
            for panel in range(0, panels, each)]
        assert all(entry["stride"] == region.stride for entry in gradients)
        assert update["weights"] == weights.base
        drains = [entry for entry in of(Opcode.DRAIN, program, bias=1)
                  if entry["bias_tensor"] == job.tensors[name]]
        assert sorted((entry["panel"], entry["bias_weights"]) for entry in drains) == [
            (panel, weights.base + panel) for panel in range(panels)]


@pytest.mark.parametrize(("features", "vertices", "alone"), [
    (5, 30, 0), (5, 70, 0), (7, 30, 1), (13, 70, 2), (40, 30, 3)])
def test_biases_of_what_passes(features, vertices, alone):
    """Layers that aggregate first: sums go with a panel's first tile, of every strip of rows, if
    they are reduced in the same group; the other panels have a GRADIENT of their own.
    """
    model = small_model(small_graph(vertices, features=features), hidden=(5,), dropout=0.0,
                        orders=AGGREGATE_FIRST)
    job, program = compile_job(model, CONFIG), instructions(model)
    strips = -(-vertices // 2 // CONFIG.accumulator_rows)
    passing = of(Opcode.GRADIENT, program, sums=1)
    found = Counter()
    for entry in passing:
        weights, portion, rows = piece_of(entry, job)
        panel = rows.start // weights.height
        assert rows.start % weights.height == 0
        [bias_portion] = job.weights[f"b{weights.name[1:]}"].portions
        assert (bias_portion.reduction_group, bias_portion.first_row + panel) == (
            portion.reduction_group, entry["sums_row"])
        found[weights.name, panel] += 1
    assert set(found.values()) == {strips}
    ones = of(Opcode.GRADIENT, program, ones=1)
    assert sum(entry["panels"] for entry in ones) == strips * alone
    panels = sum(job.weights[name].panels for name in ("b1", "b2"))
    assert len(found) == panels - alone


def test_what_is_kept_is_read_from_memory_once():
    """Features when they are loaded; what is made here is never read."""
    model, config = small_model(small_graph(features=9), hidden=(9,)), CONFIG.replace(
        operand_words=1024)
    load, train = (instructions(model, config, entry) for entry in ("load", "train"))
    job = compile_job(model, config)
    sources = {}
    for entry in load + train:
        if entry.get("operand"):
            for panel in range(entry["panels"]):
                place = entry["operand_base"] + panel * entry["operand_stride"]
                sources.setdefault(place, []).append(entry["operand"])
    assert len(sources) > 9
    inputs = range(job.regions["X"].words)
    for place, operands in sources.items():
        once = [OperandSource.FILL] if place in inputs else []
        assert operands == once + [OperandSource.BUFFER] * (len(operands) - len(once))
        assert len(operands) > 1


def test_dropout_is_where_the_layers_inputs_are_made():
    """The first layer's on what the array reads, all others' on what is drained."""
    for middle in (COMBINE_FIRST, AGGREGATE_FIRST):
        model = small_model(hidden=(4, 4), orders=(COMBINE_FIRST, middle, COMBINE_FIRST))
        program = instructions(model)
        keys = [dropout.key for dropout in model.network.dropouts]
        assert {entry["dropout_key"] for entry in of(Opcode.MATMUL, program, dropout=1)} == \
            {keys[0]}
        assert {entry["dropout_key"] for entry in of(Opcode.GRADIENT, program, dropout=1)} == \
            {keys[0]}
        drains = of(Opcode.DRAIN, program, dropout=1)
        assert Counter(entry["dropout_key"] for entry in drains) == {keys[1]: 2, keys[2]: 2}
        assert all(entry["relu"] and entry["mask_write"] and entry["bias"] for entry in drains)


def test_evaluation_has_no_dropout_and_leaves_training_alone():
    model = small_model(hidden=(4, 4), dropout=0.3)
    job = compile_job(model, CONFIG)
    program = instructions(model, entry="evaluate")
    assert {entry["opcode"] for entry in program} == {
        Opcode.MATMUL, Opcode.AGGREGATE, Opcode.DRAIN, Opcode.LOSS, Opcode.HALT}
    for entry in program:
        assert not entry.get("dropout") and not entry.get("mask_write") and not entry.get("scale")
    training = {number for name, number in job.tensors.items() if not name.endswith(".eval")}
    for entry in of(Opcode.DRAIN, program):
        assert entry["o"] not in training and entry["peak_of"] in training
    assert of(Opcode.LOSS, program)[0]["train"] == 0
    assert program[-1]["step"] == 0


# --- GraphSAGE, GIN, residual connections, jumping knowledge ------------------------------------


def edge_sets(job):
    """What each edge set belongs to: A or I, by address."""
    return {region.address: name.split()[3].rstrip(",") for name, region in job.regions.items()
            if name.startswith("edge set of")}


@pytest.mark.parametrize("variant", ["sage", "residual"])
def test_rows_are_added_in_the_accumulators(variant):
    """Two AGGREGATEs into a buffer, of neighbours' rows and of the vertices' own, then a DRAIN."""
    model = named_model("sage", hidden=(5,)) if variant == "sage" else named_model(
        "gcn", hidden=(5, 5), residual=True)
    job, program = compile_job(model, CONFIG), instructions(model)
    sets, layer = edge_sets(job), 1 if variant == "sage" else 2
    for result, sources in ((f"H{layer}", {"A": f"T{layer}", "I": f"S{layer}"}),
                            (f"dZ{layer - 1}", {"A": f"dM{layer}", "I": f"dS{layer}"}),
                            ("dZ1", {"A": "dM2", "I": "dS2"})):
        if result == "dZ0":
            continue
        drains = of(Opcode.DRAIN, program, o=job.tensors[result])
        assert len(drains) == job.regions[result].panels == 3
        for drain in drains:
            assert drain["source"] == DrainSource.AGGREGATION
            before = [entry for entry in program[:program.index(drain)]
                      if entry["opcode"] in (Opcode.AGGREGATE, Opcode.GRADIENT, Opcode.UPDATE,
                                             Opcode.DRAIN) and "buffer" in entry
                      and entry.get("source", 1) == DrainSource.AGGREGATION
                      and entry["buffer"] == drain["buffer"]][-2:]
            assert {sets[entry["edge_set"]]: entry["address"] for entry in before} == {
                name: job.regions[source].panel(drain["panel"])
                for name, source in sources.items()}


def test_linear_layers_do_not_aggregate():
    model = named_model("gin", hidden=(5,))
    job, program = compile_job(model, CONFIG), instructions(model)
    for name in ("H2", "Z4", "dZ3", "dZ1"):
        drains = of(Opcode.DRAIN, program, o=job.tensors[name])
        assert {drain["source"] for drain in drains} == {DrainSource.ARRAY}
        assert {drain["bias"] for drain in drains} == {name[0] in "HZ"}
    convolutions = (1, 3)
    assert len(of(Opcode.AGGREGATE, program)) == sum(
        job.regions[f"{name}{number}"].panels for number in convolutions for name in ("T", "dZ"))


def test_jumping_sums_over_all_hidden_features():
    """MATMULs of both parts of the last weights add to a buffer that is drained once."""
    model = named_model("gcn", hidden=(4, 5), jumping=True)
    job, program = compile_job(model, CONFIG), instructions(model)
    parts = [job.weights[name] for name in ("W3.1", "W3.2")]
    for panel in range(job.regions["Z3"].panels):
        [drain] = of(Opcode.DRAIN, program, o=job.tensors["Z3"], panel=panel)
        assert drain["exponent_bias"] == 1, "of dropout 0.5"
        tiles = {tile for entry in program[:program.index(drain)]
                 if entry["opcode"] == Opcode.MATMUL and not entry["transposed"]
                 and entry["buffer"] == drain["buffer"] for tile in tiles_of_weights(entry)}
        for part in parts:
            first = part.base + panel * part.height
            assert set(range(first, first + part.height, CONFIG.lanes)) <= tiles


@pytest.mark.parametrize("entry", ["train", "evaluate"])
@pytest.mark.parametrize("name", ["sage", "gcn", "gin"])
def test_a_shared_exponent_is_opened_once(name, entry):
    """By the tensor that the reference takes, and before other tensors of its entry are made."""
    model = named_model(name, hidden=(4, 4), jumping=True)
    job, program = compile_job(model, CONFIG), instructions(model, entry=entry)
    made = [one for one in program if one["opcode"] in (Opcode.DRAIN, Opcode.UPDATE)]
    entries = Counter(one["o"] for one in made)
    assert Counter(one["o"] for one in made if one["open"]) == dict.fromkeys(entries, 1)
    for number in entries:
        assert next(one for one in made if one["o"] == number)["open"]
    if entry == "train":
        first = next(one for one in made if one["o"] == job.tensors["dM"])
        assert first["address"] in {
            job.regions[f"dC{model.network.jumping[0]}"].panel(panel) for panel in range(2)}


@pytest.mark.parametrize(("order", "result"), [(COMBINE_FIRST, "T1"), (LINEAR, "H1")])
def test_what_fills_the_buffer_writes_what_the_step_writes_anew(order, result):
    """A panel of the first product; not on what it is the product of."""
    network = Network(layers=(Layer(features_in=5, features_out=4, order=order),
                              Layer(features_in=4, features_out=3, order=COMBINE_FIRST)))
    job = compile_job(prepare(small_graph(), network, Recipe(epochs=1)), CONFIG)
    [drain] = [entry for entry in map(decode, job.instructions("load"))
               if entry["opcode"] == Opcode.DRAIN]
    region = job.regions[result]
    assert (drain["channel"], drain["address"]) == (region.channel, region.address)
    assert drain["o"] == job.tensors[f"{result}.eval"]


def test_only_training_counts_steps():
    """Not what fills the operand buffer before it, nor an evaluation."""
    model = small_model(dropout=0.0)
    ends = {name: instructions(model, entry=name)[-1] for name in ("load", "train", "evaluate")}
    assert {name: (end["opcode"], end["step"]) for name, end in ends.items()} == {
        "load": (Opcode.HALT, 0), "train": (Opcode.HALT, 1), "evaluate": (Opcode.HALT, 0)}


@pytest.mark.parametrize(("layers", "counters"), [
    (1, 6), (4, 15), (5, 12), (7, 15), (9, 12), (10, 15)])
def test_phases_fit_the_counters(layers, counters):
    """Runs of neighbouring layers share them, so that each layer is in one phase of each kind."""
    config = CONFIG.replace(program_rows=1024, weight_rows=512, channel_words=4096, tensors=128)
    job = compile_job(small_model(hidden=(2,) * (layers - 1)), config)
    program = [decode(word) for name in ("train", "evaluate") for word in job.instructions(name)]
    assert {entry["phase"] for entry in program} == set(range(counters))
    assert len(job.phases) == counters <= PHASES
    for kind in (PhaseKind.FORWARD, PhaseKind.BACKWARD, PhaseKind.UPDATE):
        runs = [(name.layer, name.last or name.layer) for name in job.phases
                if name.kind == kind and name.layer]
        assert sorted(layer for first, last in runs for layer in range(first, last + 1)) == [
            *range(1, layers + 1)]


def test_rates_follow_the_schedule():
    model = small_model(schedule=((2, 0.5),), momentum=0.9)
    job, rules = compile_job(model, CONFIG), model.rules()
    before, same, after = (dict(updates_at(job, rules, step)) for step in (0, 1, 2))
    assert before == same == {row: job.program[row] for row, _ in job.updates}
    for row, name in job.updates:
        old, new = decode(before[row]), decode(after[row])
        changed = {field for field in old if old[field] != new[field]}
        assert changed <= {"rate", "rate_shift"} and changed, name
        assert new["rate"] / 2**new["rate_shift"] == \
            pytest.approx(0.5 * old["rate"] / 2**old["rate_shift"], rel=1e-4)


def test_constants_of_adam_change_with_every_step():
    model = small_model(optimiser="adam")
    job, rules = compile_job(model, CONFIG), model.rules()
    first, second = (dict(updates_at(job, rules, step)) for step in (0, 1))
    for row, name in job.updates:
        old, new = decode(first[row]), decode(second[row])
        assert {field for field in old if old[field] != new[field]} <= {
            "rate", "rate_shift", "epsilon", "epsilon_exponent"}, name
        assert old["rate"] != new["rate"]
        assert old["adam"] == new["adam"] == 1


@pytest.mark.parametrize("name", [
    "plain", "orders that differ", "GIN", "residual", "jumping", "jumping in strips", "GCNII",
    "MixHop", "runs with jumping", "step in pieces", "work ahead"])
def test_programs_are_those_noted(name):
    assert summary(name) == noted(name)
