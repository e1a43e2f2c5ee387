"""Compiles a training job: memory map, images and program for one configuration."""

import numpy as np

from hypercast.host.features import Features
from hypercast.host.job import Job, Weights
from hypercast.host.memory_map import CapacityError, MemoryMap, require_capacity
from hypercast.host.messages import compile_messages, relocate
from hypercast.host.packing import deal, pack_records, pack_rows
from hypercast.host.program import Program, RowTile
from hypercast.host.state import store_state, weight_rows
from hypercast.reference.network import COMBINE_FIRST
from hypercast.rtl.isa import OPERANDS, Opcode, Split, decode, encode
from hypercast.rtl.placement import rows_of

__all__ = ["compile_job", "updates_at"]

#: Classes a label record can name.
_MAXIMUM_CLASSES = 512
#: Panels an instruction can sum over, and rows of a core it can start from.
_MAXIMUM_PANELS = (1 << dict(OPERANDS[Opcode.MATMUL])["panels"]) - 1
_MAXIMUM_ROWS = 1 << dict(OPERANDS[Opcode.MATMUL])["row_start"]


def compile_job(model, config, *, word_sparse=True):
    """Compile a model, as it stands before its first step.

    Parameters
    ----------
    model : FixedGcn
        Network, recipe, graph, initial state and calibrated exponents.
    config : Config
        Configuration of the chip.
    word_sparse : bool
        Whether input features may be stored without their zero words, where that is less.

    Raises
    ------
    CapacityError
        If something does not fit the configuration; names what, and which field to raise.
    """
    _check(model, config)
    vertices = len(model.labels)
    rows = max(rows_of(core, vertices, config.cores) for core in range(config.cores))
    memory = MemoryMap(config, rows)
    images = [[] for _ in range(config.cores)]
    _place_tensors(model, memory, config)
    tiles, traffic = _place_messages(model, rows, memory, images, config)
    weights, used = _place_weights(model.network, memory, config)
    features = Features(model, rows, config, word_sparse=word_sparse)
    features.place(memory, sorted({chunk[1:3] for chunk in weights["W1"].chunks}))
    memory.check()

    features.fill(memory, images)
    _fill_labels(model, images, config)
    bank = np.zeros((used, config.lanes), dtype=np.int64)
    for name, place in weights.items():
        operands = weight_rows(_matrix(model.tensors[name]), place, config)
        bank[place.base:place.base + len(operands)] = operands
    _fill_state(model, weights, images, config)

    tensors = {name: number for number, (name, _) in enumerate(model.exponents.items())}
    require_capacity(config, "tensors", len(tensors), "the network has that many tensors")
    program = Program(network=model.network, config=config, regions=memory.regions,
                      weights=weights, tensors=tensors, tiles=tiles,
                      headroom=model.recipe.headroom,
                      momentum_exponents=model.momentum_exponents)
    program.train()
    evaluate = len(program.schedule.words)
    program.evaluate()
    words = program.schedule.words
    require_capacity(config, "program_rows", len(words), "the program has that many instructions")
    job = Job(
        config=config, vertices=vertices, program=words,
        entries={"train": 0, "evaluate": evaluate}, phases=program.phases,
        updates=tuple(program.updates), tensors=tensors,
        exponents=dict(model.exponents.items()), regions=memory.regions, images=images,
        weights=weights, weight_bank=pack_rows(bank, config),
        split_sizes=tuple(int(np.count_nonzero(model.splits == split))
                          for split in (Split.TRAIN, Split.VALIDATION, Split.TEST)),
        **traffic)
    for row, word in updates_at(job, model, 0):
        words[row] = word
    return job


def updates_at(job, model, epoch):
    """The program rows of UPDATEs, and the instructions with the rates of ``epoch``."""
    for row, name in job.updates:
        fields = decode(job.program[row]) | model.rates(name, epoch)._asdict()
        yield row, encode(fields.pop("opcode"), **fields)


def _check(model, config):
    if model.recipe.element_width != config.element_width:
        raise CapacityError(
            f"the model has {model.recipe.element_width}-bit elements, the configuration "
            f"{config.element_width}-bit; give both the same element_width")
    if model.network.classes > _MAXIMUM_CLASSES:
        raise CapacityError(f"the network has {model.network.classes} classes, but the loss unit "
                            f"takes {_MAXIMUM_CLASSES} at most")
    features = max(layer.features_in for layer in model.network.layers)
    if features > _MAXIMUM_PANELS * config.lanes:
        raise CapacityError(f"a layer has {features} input features, but with lanes = "
                            f"{config.lanes} there can be {_MAXIMUM_PANELS * config.lanes}; raise "
                            f"lanes, or reduce the features")
    if len(model.labels) >= _MAXIMUM_ROWS * config.cores:
        raise CapacityError(f"the graph has {len(model.labels)} vertices, but with dimensions = "
                            f"{config.dimensions} there must be fewer than "
                            f"{_MAXIMUM_ROWS * config.cores}; raise dimensions")


def _matrix(values):
    return np.atleast_2d(values)


def _place_tensors(model, memory, config):
    """Allocate matrices, masks and labels: operands that meet lie in different channels."""
    network = model.network
    for number, layer in enumerate(network.layers, 1):
        last = number == len(network.layers)
        combine = layer.order == COMBINE_FIRST
        forward = [(f"T{number}" if combine else f"M{number}",
                    layer.features_out if combine else layer.features_in),
                   (f"Z{number}" if last else f"H{number}", layer.features_out)]
        for name, columns in forward:
            region = memory.matrix(name, 0, columns)
            memory.regions[f"{name}.eval"] = region  # evaluation uses the same words
        memory.matrix(f"dZ{number}", 1, layer.features_out)
        if combine:
            memory.matrix(f"dT{number}", 1, layer.features_out)
        elif number > 1:
            memory.matrix(f"dM{number}", 1, layer.features_in)
        if not last:
            memory.packed(f"mask{number}", 1, config.mask_rows, layer.features_out)
    memory.packed("labels", 1, config.info_rows)


def _place_messages(model, rows, memory, images, config):
    """Compile and place the messages of A and its transpose, tile by tile."""
    adjacency = model.tensors["A"]
    transposed = adjacency.T.tocsr()
    symmetric = (adjacency != transposed).nnz == 0
    tiles = []
    totals = {"messages": 0, "deliveries": 0, "edges": 0}
    for first in range(0, max(rows, 1), config.accumulator_rows):
        count = min(config.accumulator_rows, rows - first)
        places = []
        for name, matrix in (("A", adjacency), ("A^T", transposed)):
            if name == "A^T" and symmetric:
                places.append(places[0])
                continue
            messages = compile_messages(matrix, config, first_row=first, rows=count)
            lists = memory.words(f"send list of {name}, rows from {first}", 1,
                                 max(len(words) for words in messages.send_lists))
            sets = memory.words(f"edge set of {name}, rows from {first}", 1,
                                max(len(words) for words in messages.edge_sets))
            for core, image in enumerate(images):
                image.append((lists.name, messages.send_lists[core]))
                image.append((sets.name,
                              relocate(messages.edge_sets[core], sets.address, config)))
            places.append((lists.address, sets.address))
            if name == "A":
                totals["messages"] += messages.messages
                totals["deliveries"] += messages.deliveries
                totals["edges"] += int(messages.edges.sum())
        tiles.append(RowTile(first=first, rows=count, forward=places[0], backward=places[1]))
    return tiles, totals


def _place_weights(network, memory, config):
    """Give every parameter its weight bank rows and its state's region; returns rows used."""
    weights, base = {}, 0
    most = config.accumulator_rows // config.lanes * config.cores  # tiles one reduction can hold
    for number, layer in enumerate(network.layers, 1):
        for name, rows in ((f"W{number}", layer.features_in), (f"b{number}", 1)):
            tiles_in = -(-rows // config.lanes)
            panels = -(-layer.features_out // config.lanes)
            parts = [(panel, first, min(most, tiles_in - first))
                     for panel in range(panels) for first in range(0, tiles_in, most)]
            tile_words = config.lanes * 2 * config.state_words
            sizes = [-(-tiles // config.cores) * tile_words for _, _, tiles in parts]
            state = memory.words(f"state of {name}", 1, sum(sizes))
            starts = state.address + np.cumsum([0, *sizes[:-1]])
            weights[name] = Weights(
                name=name, shape=(rows, layer.features_out), base=base, tiles_in=tiles_in,
                panels=panels, state=state,
                chunks=tuple((*part, int(start)) for part, start in
                             zip(parts, starts, strict=True)))
            base += tiles_in * panels * config.lanes
    require_capacity(config, "weight_rows", base,
                     "the network's weights take that many rows of the weight bank")
    return weights, base


def _fill_labels(model, images, config):
    labels = np.maximum(model.labels, 0) | np.where(model.labels >= 0, model.splits, 0) << 13
    for core, image in enumerate(images):
        image.append(("labels", pack_records(deal(labels, core, config).astype("<u2"), config)))


def _fill_state(model, weights, images, config):
    for name, place in weights.items():
        parts = [np.zeros((place.state.words, config.chunks), dtype=np.uint32)
                 for _ in range(config.cores)]
        store_state(_matrix(model.masters[name]), _matrix(model.momenta[name]), place, config,
                    parts)
        for image, part in zip(images, parts, strict=True):
            image.append((place.state.name, part))
