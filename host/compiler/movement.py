# SPDX-License-Identifier: BSD-2-Clause
"""How often something can move while a program runs, at most.

A memory word, an operand of an array, a flit at an end or on a link, and the issue of an
instruction move. There are no more cycles in which anything does than there are moves, however slow
memory is and whatever happens at once. A chip stops a program that has more of them.
"""

from typing import TypeAlias

from hypercast.host.compiler.job import Job
from hypercast.host.compiler.memory_map import LABELS, Listing
from hypercast.reference.tensor import FEATURES
from hypercast.rtl.access import Access, Mode, Store
from hypercast.rtl.isa import OPERATIONS, Opcode, decode

__all__ = ["most_moves"]

#: A decoded instruction.
Fields: TypeAlias = dict[str, int]


def most_moves(job: Job, program: str) -> int:
    """A bound of the moves in all cores while a program runs once, with any sample.

    It is twice the sum over the program's instructions, for what a sum like this may forget.

    Parameters
    ----------
    job : Job
        What is loaded.
    program : str
        A name in its ``starts``.
    """
    moves = _Moves(job)
    count = sum(1 + moves.of(decode(word)) for word in job.instructions(program))
    # Edges that the program before still fetches, and what the host may bring beside this one.
    beside = job.brought_early * sum(region.words for region in job.regions.values())
    return 2 * (count + job.config.cores * (moves.ahead + beside))


class _Moves:
    """Counts moves of instructions.

    Attributes
    ----------
    ahead : int
        Words of edges that a core fetches before they are needed.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._config = job.config
        self._lists = {(region.listing, region.address): region.words
                       for region in job.regions.values() if region.listing}
        features = job.regions.get(FEATURES)
        self._sparse = features.words if features else 0  # where they are word-sparse
        self.ahead = job.config.streams * job.config.edge_buffer

    def of(self, fields: Fields) -> int:
        """Moves of a decoded instruction, in all cores."""
        opcode = Opcode(fields["opcode"])
        words = sum(self._words(fields, access) for access in OPERATIONS[opcode].uses(fields))
        return self._config.cores * (words + self._operands(fields)) + self._flits(fields)

    def _rows(self, fields: Fields) -> int:
        """Rows that an instruction names, or else the rows of its vertices, in the largest core."""
        if "row_limit" in fields:
            return fields["row_limit"]
        return len(self._job.plan.rows_of(fields["vertices"] - self._job.row_entries[0]))

    def _words(self, fields: Fields, access: Access) -> int:
        """Words of memory channels that a core reads and writes in one place."""
        config = self._config
        match access.store:
            case Store.MATRIX:
                return self._rows(fields) * self._passes(fields, access)
            case Store.INDEX:
                return self._sparse + self._lists[Listing.INDEX, fields[access.field]]
            case Store.EDGE_SET:
                return self.ahead + (0 if fields["prefetch"] else self._edge_words(fields))
            case Store.SEND_LIST:
                return self._lists[Listing.SEND_LIST, fields[access.field]]
            case Store.MASK:
                return -(-self._rows(fields) // config.mask_rows)
            case Store.RANKS:
                return -(-self._rows(fields) // config.ranks_in_word) * fields.get("panels", 1)
            case Store.LABELS:
                return self._job.regions[LABELS].words
            case Store.STATE:
                values = (3 if fields["adam"] else 2) * (not fields["keep"])
                sums = 2 * (fields["keep"] or fields["kept"])
                both = 2 if access.mode == Mode.CHANGE else 1
                return -(-fields["rows"] // config.cores) * config.state_words * (
                    both * values + sums)
        return 0  # close to engines

    def _passes(self, fields: Fields, access: Access) -> int:
        """How many panels are read or written."""
        return fields["panels"] if access.panels else 1

    def _edge_words(self, fields: Fields) -> int:
        return self._lists[Listing.EDGE_SET, fields["edge_set"]]

    def _operands(self, fields: Fields) -> int:
        """Words that a core feeds into its array."""
        if "panels" not in fields or ("digits" not in fields and "weight_stride" not in fields):
            return 0
        return self._sparse if fields["sparse"] else self._rows(fields) * fields["panels"]

    def _flits(self, fields: Fields) -> int:
        """Moves of the flits of all cores: into the network, over links and out of it."""
        config = self._config
        cores, hops = config.cores, config.dimensions
        match fields["opcode"]:
            case Opcode.AGGREGATE if not fields["prefetch"]:
                rows = self._rows(fields)
                # A flit is ejected where it has edges, after a hop of its own in each dimension.
                arrivals = min(cores * rows, self._edge_words(fields) * config.chunks)
                return cores * (rows + (1 + hops) * arrivals)
            case Opcode.GRADIENT:
                tiles = fields["panels"] * (1 if fields["ones"] else config.lanes)
                return cores * fields["digits"] * (tiles + fields["sums"]) * (2 + hops)
            case Opcode.UPDATE if not fields["keep"]:
                return fields["rows"] * 2 * cores  # to all cores, by a tree of links
        return 0
