# SPDX-License-Identifier: BSD-2-Clause
"""Trains a model of a graph, epoch by epoch: for Python and for the command line alike."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from hypercast.errors import InputError
from hypercast.host.cluster.assignment import Assignment
from hypercast.host.cluster.division import Division
from hypercast.host.compiler.compiled_edges import CompiledEdges
from hypercast.host.compiler.job import Job
from hypercast.host.description.conversion import DescriptionError
from hypercast.host.description.description import Description
from hypercast.host.description.device import Device
from hypercast.host.description.model import Model
from hypercast.host.description.recipe import recipe_values
from hypercast.host.description.sampling import Sampling
from hypercast.host.description.source import Source
from hypercast.host.description.stopping import Stopping
from hypercast.host.files.given_path import given_path
from hypercast.host.graphs.graph import Graph
from hypercast.host.graphs.interchange.weights import WeightsWarning
from hypercast.host.processes.virtual_time import VirtualTime
from hypercast.host.runtime.comparison import Comparison
from hypercast.host.runtime.training_device import TrainingDevice
from hypercast.host.schemes.worker import Worker
from hypercast.host.training.boards import Boards
from hypercast.host.training.deployment import Deployment, Wanted
from hypercast.host.training.distributed_training import DistributedTraining
from hypercast.host.training.history import History, summary
from hypercast.host.training.launched import LaunchedDevice
from hypercast.host.training.notebook import show_in_notebook
from hypercast.host.training.run_folder import Record, RunError, RunFolder
from hypercast.host.training.run_keeper import RunKeeper
from hypercast.host.training.scores import measures
from hypercast.host.training.trained import Trained
from hypercast.host.training.trainer_arguments import (
    Recording,
    Sharing,
    check_arguments,
    checked_choice,
    checked_count,
)
from hypercast.host.training.training import Training
from hypercast.host.transport.transport import Transport
from hypercast.reference.initial_model import InitialModel
from hypercast.reference.training_state import TrainingState
from hypercast.rtl.isa import Split

if TYPE_CHECKING:
    from hypercast.host.training.curves import Curves

__all__ = ["Trainer"]


class Trainer(Trained):
    """Trains a model of a graph on a device.

    ``for record in trainer`` trains epoch by epoch; ``fit`` goes through all of them. The device is
    opened when it is needed first; ``close`` it, or use the trainer in a ``with`` statement.

    Parameters
    ----------
    graph : Graph or Source
        The graph to train on, or its source. If boards are to share the whole graph of a source,
        the leader reads and prepares it in a process of its own (``DistributedTraining``), so that
        this one never has it.
    model : Model, optional
        What to train.
    device : Device, optional
        Where to train.
    sampling : Sampling, optional
        What steps work on; the whole graph if not given.
    run : pathlib.Path or str, optional
        Folder to keep the run in: description, metrics of every epoch, checkpoint. No other
        process can keep one there until ``close``.
    every : int
        Epochs from one checkpoint to the next.
    resume : bool
        Go on from the checkpoint in ``run``, if there is one, with the same bits as if the training
        had never stopped, on whatever device. Otherwise, an earlier run there is replaced after
        the first epoch.
    check : bool
        Compare every tensor with the reference after every training step.
    recording : Recording, optional
        What is recorded of a simulated chip: a step's timeline, waveforms.
    patience, monitor
        As in ``Stopping``.
    transport : Transport, optional
        To a chip of the configuration of ``device``, which is then not opened by its name.
    boards : int or Boards, optional
        Boards that train together: so many, or as ``Boards`` says. A process of this machine is
        started for each when the first one is needed; they end with ``close``, and with this
        process in any case. A ``Sharing`` says how this process is one of several itself.
    progress : callable
        Called with a line of text before each slow step; if not given, notebooks show it.
    **recipe
        How to train: fields of ``Recipe``, but ``learning_rate``, ``bias_learning_rate`` and
        ``weight_decay`` are in the singular, and may be one number, or one per layer.

    Attributes
    ----------
    network : Network
        The network that is trained.
    initial : InitialModel
        It, before the first step.
    edges : CompiledEdges or None
        The whole graph's, as ``compile_job`` takes them; or the first sample's, if they were
        compiled to choose orders for the chip.
    samples : SampleSource or None
        What steps work on, if not on the whole graph.
    history : History
        A list with a record of each epoch: ``epoch`` (from 0), ``training_loss`` (of the training
        step, with dropout); ``train_loss``, ``train_accuracy`` (of several labels per vertex,
        ``train_micro_f1``), ``validation_loss``, ... (after it, without
        dropout, None where there are no vertices); ``saturations`` in the training step; of a chip,
        ``train_cycles`` and ``evaluate_cycles`` so far; if the run is kept, ``exponents``.
    last_step : dict
        On a chip, ``phases`` (cycles by name) and ``counters`` of the last training step.
    progress : callable
        As given; it may be replaced.
    command : str
        The command line that this is part of, for the run's report; from Python, empty.

    Raises
    ------
    InputError
        If an argument is of another kind.
    DescriptionError
        If a value makes no sense.
    CheckpointError
        If the checkpoint is damaged, or of another graph, network or recipe.
    FolderLockError
        If another process keeps a run in the folder.
    GraphError
        If the graph cannot be trained on.
    """

    def __init__(self, graph: Graph | Source, model: Model | None = None,
                 device: Device | None = None, *, sampling: Sampling | None = None,
                 run: str | PathLike[str] | None = None,
                 every: int = 1, resume: bool = False, check: bool = False,
                 recording: Recording | None = None,
                 patience: int | None = None, monitor: str | None = None,
                 transport: Transport | None = None, boards: int | Boards | Sharing | None = None,
                 progress: Callable[[str], None] = show_in_notebook, **recipe: Any) -> None:
        if boards is not None and not isinstance(boards, Boards | Sharing):
            boards = Boards(checked_count("boards", boards))
        check_arguments(graph=graph, model=model, device=device, sampling=sampling, run=run,
                        progress=progress, transport=transport, recording=recording)
        every = checked_count("every", every)
        check, resume = checked_choice("check", check), checked_choice("resume", resume)
        self._recording = recording or Recording()
        if isinstance(boards, Boards) and (transport or recording):
            raise InputError(f"{'transport' if transport else 'recording'} is of one chip that "
                             f"trains alone; leave it out, or boards")
        self.stopping = Stopping(patience=patience, monitor=monitor)
        self.progress = progress
        kept = RunFolder(run) if run is not None else None
        wanted = Wanted(graph=graph, model=model or Model(), device=device or Device(),
                        sampling=sampling or Sampling(), stopping=self.stopping, recipe=recipe)
        self._deployment = Deployment(
            wanted, boards or Sharing(), check=check, transport=transport,
            goes_on=kept if kept and resume and kept.has_checkpoint else None, progress=progress)
        self._training = self._deployment.training
        self.model, self.device, self.sampling = wanted.model, wanted.device, wanted.sampling
        self._source = wanted.source
        self.recipe, self.network = self._training.recipe, self._training.network
        self.outline = self._training.outline
        self.samples = self._training.samples
        self.history = History()
        self.last_step: dict[str, Any] = {}
        self._target: TrainingDevice | None = None
        self._state: TrainingState | None = None
        self._best: TrainingState | None = None
        #: Why it cannot train, but evaluate.
        self._refusal: DescriptionError | None = None
        self._keeper = None if kept is None else RunKeeper(
            kept, every, self.description, self._resume if resume else None)

    @property
    def command(self) -> str:
        """The command line that this is part of, for the run's report."""
        return self._keeper.command if self._keeper else ""

    @command.setter
    def command(self, command: str) -> None:
        if self._keeper:
            self._keeper.command = command

    @classmethod
    def of_description(cls, description: Description, *, graph: Graph | None = None,
                       **options: Any) -> Self:
        """The trainer of a ``Description``; ``options`` are further parameters.

        A ``graph`` is taken instead of the description's.
        """
        source = description.graph
        given = source.with_graph(graph) if source and graph else graph or source
        if given is None:
            raise DescriptionError("[graph] needs source, the name of a bundled graph or a path; "
                                   "give a graph that was made in Python itself")
        try:
            return cls(given, description.model, description.device,
                       sampling=description.sampling, **description.stopping.values(),
                       **recipe_values(description.recipe), **options)
        except DescriptionError as error:
            raise description.locate(error) from error

    @classmethod
    def of_run(cls, folder: str | PathLike[str], device: str = "reference", *,
               graph: Graph | str | PathLike[str] | None = None, **options: Any) -> Self:
        """The trainer of a run that was kept, at its best epoch if it stops early, else its last.

        Parameters
        ----------
        folder : pathlib.Path or str
            The run's folder; nothing is written to it.
        device : str
            Name of the device to open; the bits are the same on all.
        graph : Graph, pathlib.Path or str, optional
            What was trained on, if it was made in Python; or where its files are now, if they are
            not where they were.
        **options
            Further parameters.

        Raises
        ------
        InputError
            If a path is none.
        RunError, DescriptionError, CheckpointError
            If the folder holds no run, or one that is damaged, or of another graph.
        """
        kept, data = RunFolder(given_path(folder, "folder")), None
        if graph is not None and not isinstance(graph, Graph):
            graph, data = None, given_path(graph, "graph")
        description = kept.description(data=data, required=graph is None).on(device)
        if graph is None and description.graph is None:
            raise RunError(f"{kept.description_path} names no graph, as that was made in Python; "
                           f"give it there, by Trainer.of_run(..., graph=...)")
        assignment, refusal = kept.assignment(), None
        try:
            assignment.check_alone(description.device.names)
        except DescriptionError as error:  # evaluations take nothing that is older
            assignment, refusal = Assignment(scheme=assignment.scheme), error
        with warnings.catch_warnings(action="ignore", category=WeightsWarning):
            trainer = cls.of_description(description, graph=graph,
                                         **{"boards": Sharing(assignment=assignment), **options})
        trainer._refusal = refusal
        trainer._resume(kept)
        trainer._state = trainer._best or trainer._state
        return trainer

    def _resume(self, folder: RunFolder) -> None:
        checkpoint, expected = folder.load_checkpoint(), self._training.identity
        if self._refusal:
            expected["staleness"] = checkpoint.identity["staleness"]
        checkpoint.check(expected, self._training.state, folder.checkpoint_path)
        self.history = History(folder.records_of(checkpoint))
        self._state, self._best = checkpoint.state, checkpoint.best

    # State.

    @property
    def initial(self) -> InitialModel:
        """The model before the first step, with the whole graph or the first sample.

        Raises
        ------
        InputError
            If a process of its own prepared it.
        """
        return self._whole().initial

    @property
    def edges(self) -> CompiledEdges | None:
        """The edges of ``initial``, compiled; of samples, only to choose orders for the chip."""
        return self._whole().edges

    def _whole(self) -> Training:
        if isinstance(self._training, DistributedTraining):
            raise InputError("boards have parts of the graph, and none has all of it; give the "
                             "trainer a Graph instead of where it comes from")
        return self._training

    @property
    def description(self) -> Description:
        """The ``Description`` of this training."""
        return Description(graph=self._source, model=self.model, recipe=self.recipe,
                           sampling=self.sampling, device=self.device, stopping=self.stopping)

    @property
    def facts(self) -> dict[str, Any]:
        """The training's properties, as the report shows them."""
        source = self._source.values() if self._source else {"source": "made in Python"}
        return {"data set": source.pop("source"), **source, "vertices": self.outline.vertices,
                "edges": self.outline.edge_count, "model": self.model.name, "features": self.widths,
                "orders": [layer.order for layer in self.network.layers],
                "dropout": [layer.dropout for layer in self.network.layers],
                "device": self.device.name, **recipe_values(self.recipe),
                **(self.sampling.values() if self.samples else {})}

    @property
    def unit(self) -> str:
        """The name of an epoch, for people: of samples, it has a training step for each of them."""
        return f"epoch of {len(self.samples)} samples" if self.samples else "training step"

    @property
    def epoch(self) -> int:
        """Epochs done."""
        return len(self.history)

    @property
    def finished(self) -> bool:
        """Whether the last epoch has been, or early stopping wants no more."""
        waited = self.epoch - self._best.step if self._best else 0
        return self.epoch >= self.recipe.epochs or (
            self.stopping.patience is not None and waited >= self.stopping.patience)

    @property
    def final(self) -> Record:
        """Record of the epoch whose parameters are kept: with patience the best, else the last."""
        return self.history[self._best.step - 1 if self._best else -1]

    @property
    def saturations(self) -> int:
        """Elements, master weights and momenta that saturated in all training steps."""
        return sum(record["saturations"] for record in self.history)

    @property
    def target(self) -> TrainingDevice:
        """The ``TrainingDevice``, open."""
        if self._target is None:
            self._target = self._deployment.open(
                waves=self._recording.waves, progress=lambda text: self.progress(text),
                hint=lambda: "with resume=True it goes on from the last checkpoint"
                if self._keeper else "nothing was kept; run=FOLDER keeps what resume=True goes "
                                     "on from")
            if self._state is not None:
                self._target.load_state(self._state)
                self._go_on_counting()
        return self._target

    def follow(self) -> None:
        """On all ranks of the group but the leader's: train with it until its trainer is closed."""
        self._deployment.follow()

    @property
    def division(self) -> Division | None:
        """Which board has which vertex, of an open device, if boards share the graph."""
        return self._deployment.division

    @property
    def words(self) -> Comparison:
        """With ``check``, how many words were equal: a ``Comparison``."""
        found: Comparison = getattr(self._target, "words", Comparison())
        return found

    @property
    def job(self) -> Job | None:
        """The ``Job`` of an open chip; None on the reference."""
        chip = self.target.chip
        return chip.job if chip else None

    def _go_on_counting(self) -> None:
        """Let a chip's cycles go on from the recorded ones, if it was a chip."""
        chip = self.target.chip
        last = next((record for record in reversed(self.history) if "train_cycles" in record), None)
        if chip and last:
            chip.go_on_counting(last["train_cycles"], last["evaluate_cycles"])

    # Training.

    def __iter__(self) -> Iterator[Record]:
        while not self.finished:
            yield self.step()
        if self._best:
            self.target.load_state(self._best)

    def fit(self) -> History:
        """Train to the end; returns ``history``. A notebook shows the epoch meanwhile."""
        for record in self:
            show_in_notebook(f"epoch {self.epoch} of {self.recipe.epochs}: {summary(record)}",
                             last=self.finished)
        return self.history

    def step(self) -> Record:
        """Train an epoch; returns its record.

        Raises
        ------
        DescriptionError
            If the run has something older than one chip computes, which evaluates it only.
        """
        if self._refusal:
            raise self._refusal
        with self._keeper.epoch(lambda: (self.epoch, self.finished)) if self._keeper else \
                contextlib.nullcontext():
            return self._epoch()

    def _epoch(self) -> Record:
        target, chip = self.target, self.target.chip
        recorded = self.epoch + 1 == self._recording.step
        trained = target.train_step(record=recorded)
        if chip:
            self.last_step = {"phases": {name: cycles for name, cycles
                                         in chip.phase_cycles.items() if cycles},
                              "counters": chip.counters}
        record: Record = {"epoch": self.epoch, "training_loss": trained.mean_loss(Split.TRAIN),
                  **measures(target.evaluate(), self.outline.multi_label),
                  "saturations": target.saturations}
        if chip:
            record |= {"train_cycles": chip.train_cycles, "evaluate_cycles": chip.evaluate_cycles}
        if self._keeper:
            record["exponents"] = target.exponents()
            # With the orders that were chosen: another version might choose others.
            model = replace(self.model, order=tuple(self.facts["orders"]))
            self._keeper.begin(replace(self.description, model=model), self.facts, self.job,
                               self.history)
        self.history.append(record)
        self._watch(record)
        if self._keeper:
            self._keeper.keep(record, chip.profile if chip and recorded else None,
                              self.device.config)
            if self.finished or self._keeper.wants_checkpoint(self.epoch):
                self._keeper.folder.checkpoint(
                    self._training.identity, target.state(), self._best)
        return record

    def _watch(self, record: Record) -> None:
        """Take in whether the epoch was the best so far."""
        monitor = self.stopping.monitor
        if monitor is None:  # as there is no patience
            return
        if self._best is None or self.stopping.better(
                record[monitor], self.history[self._best.step - 1][monitor]):
            self._best = self.target.state()

    # Use.

    def plot(self) -> "Curves":
        """Draw loss, and accuracy or F1, over the epochs: a ``matplotlib.figure.Figure``.

        Raises
        ------
        InputError
            If no epoch has been trained.
        """
        if not self.history:
            raise InputError("there is nothing to plot before the first epoch; train by fit() or "
                             "step()")
        from hypercast.host.training.curves import Curves  # slow to import, as matplotlib is

        return Curves(self.history)

    def virtual_time(self) -> VirtualTime | None:
        """The time that the cluster's boards would have taken so far; None without a cluster.

        It is kept with the run, for the report.
        """
        target = self.target
        time = target.virtual_time() if isinstance(target, LaunchedDevice | Worker) else None
        if time and self._keeper:
            self._keeper.folder.boards(time)
        return time

    def keep_numbers(self) -> None:
        """Keep ``numbers`` in the run's folder, unless the next step would stop, or is on a sample.
        """
        if self.samples is None and self._keeper:
            with contextlib.suppress(ArithmeticError):
                self._keeper.folder.numbers(self.numbers())

    def close(self) -> None:
        """Release the device, and the run's folder."""
        if self._target is not None:
            self._target.close()
        self._deployment.close()
        if self._keeper:
            self._keeper.close(self.epoch, self.finished)

    def __repr__(self) -> str:
        graph = self._source.source if self._source else "a graph"
        result = f", {summary(self.final)}" if self.history else ""
        return (f"Trainer({self.model.name} on {graph} of {self.outline.vertices} vertices, "
                f"{self.device.name}; epoch {self.epoch} of {self.recipe.epochs}{result})")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
