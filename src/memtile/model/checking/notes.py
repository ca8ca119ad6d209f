"""Notes of a run: accesses to memory, and what orders them, one after another, as they happen.

Nobody in the model reads them, and nothing is noted before somebody asks for it: then ``Guards.inspected`` of
all tiles counts one more, so that accesses to data memory have no test of their own for it. Each note is a
row ``[what | site << 8 | agent << 32, subject, extra, cycle]``. Agents are the host, the channels, the cores.

A word in a stream switch has a label behind its flags, which says how many accesses the MM2S channel had made
when it left, and so which of them come before whatever the receiver does with the word.
"""

from __future__ import annotations

from enum import IntEnum

from memtile.jit.decorators import inlined, jit
from memtile.model.checking import history_log
from memtile.model.state.columns import FIFO_SLOTS
from memtile.model.state.state import State

NOTE_FIELDS = 4
NOTES = 1 << 15  # rows
_ENOUGH = NOTES // 2  # rows with which the clock loop returns; a cycle adds some for each channel at most
ON, COUNT, MISSED = range(3)  # entries of State.noting
NOTING = MISSED + 1

HOST, FIRST_CHANNEL = 0, 1  # agents; the cores come after the channels
SITE_LSB, AGENT_LSB = 8, 32
EXTERNAL = 1 << 48  # added to word addresses of external memory; others are places in State.memory

_FLAGS = 7  # of an entry of a switch port, see state.streams
LABEL_LSB = 8
LABEL = 1 << LABEL_LSB  # entries from here on have one
SENDER_LSB = 40  # of a label: the agent that sent the word; below it the accesses it had made
_ENTERED, _JOINED, _READS, FIRST_SLOT = range(4)  # entries of State.labels, and the first of its ring
_SLOTS = 2 * FIFO_SLOTS
LABEL_FIELDS = FIRST_SLOT + _SLOTS


class NoteKind(IntEnum):
    """What a note is about, and what its ``subject`` and ``extra`` are then."""

    READ = 0  # first word, words
    WRITE = 1  # first word, words
    JOIN = 2  # label of a word that came
    ACQUIRE = 3  # lock, operand
    RELEASE = 4  # lock, change
    SET = 5  # lock, value: by its register
    LOOK = 6  # agent that the host sees the state of
    LOOK_AT_LOCK = 7  # lock
    START = 8  # agent that the host gives work to
    BARRIER = 9  # 1 for a pause, tile of a control packet's act: all of before comes before all of after
    FILL = 10  # first word, words: written by nobody who can be in anybody's way
    SEND = 11  # label of a word that a core sends


@jit
def note(st: State, what: int, agent: int, site: int, subject: int, extra: int) -> None:
    """Append a note; the clock loop returns when there are enough of them."""
    at = st.noting[COUNT]
    if at >= st.notes.shape[0]:
        st.noting[MISSED] += 1
        return
    st.notes[at, 0] = what | (site << SITE_LSB) | (agent << AGENT_LSB)
    st.notes[at, 1] = subject
    st.notes[at, 2] = extra
    st.notes[at, 3] = st.clock.now[0]
    st.noting[COUNT] = at + 1
    if at >= _ENOUGH:
        st.clock.full[0] = 1


@inlined
def noting(st: State) -> bool:
    """Whether anything is noted."""
    return bool(st.noting[ON] > 0)


@inlined
def core_agent(st: State, core: int) -> int:
    """The agent that a core is."""
    return int(FIRST_CHANNEL + st.channels.phase.shape[0] + core)


@jit
def channel_reads(st: State, ch: int, first: int, words: int) -> None:
    """A channel reads words; those that it sends from now on say so."""
    if st.noting[ON] == 0:
        return
    note(st, NoteKind.READ, FIRST_CHANNEL + ch, st.channels.bd[ch], first, words)
    st.labels[ch, _READS] += 1
    port = st.channels.switch_port[ch]
    if port >= 0:
        label = ((FIRST_CHANNEL + ch) << SENDER_LSB) | (st.labels[ch, _READS] << LABEL_LSB)
        st.switch.parity[port] = (st.switch.parity[port] & _FLAGS) | label


@jit
def enters(st: State, ch: int, flags: int, words: int) -> None:
    """Words with a label come to the ingress buffer of a channel."""
    for _ in range(words):
        st.labels[ch, FIRST_SLOT + st.labels[ch, _ENTERED] % _SLOTS] = flags >> LABEL_LSB << LABEL_LSB
        st.labels[ch, _ENTERED] += 1


@jit
def join_words(st: State, ch: int, later: int) -> None:
    """Order the channel after what came before the words that it took, but for the ``later`` last ones."""
    labels = st.labels
    behind = labels[ch, _ENTERED] - later
    for n in range(max(labels[ch, _JOINED], labels[ch, _ENTERED] - _SLOTS), behind):
        label = labels[ch, FIRST_SLOT + n % _SLOTS]
        following = labels[ch, FIRST_SLOT + (n + 1) % _SLOTS] if n + 1 < behind else 0
        if label >> SENDER_LSB != following >> SENDER_LSB:
            note(st, NoteKind.JOIN, FIRST_CHANNEL + ch, 0, label, 0)
    labels[ch, _JOINED] = max(labels[ch, _JOINED], behind)


@jit
def channel_writes(st: State, ch: int, first: int, words: int) -> None:
    """A channel writes words that came to it."""
    if st.noting[ON] == 0:
        return
    join_words(st, ch, st.fifos.held[ch] + st.granules.formed[ch])
    note(st, NoteKind.WRITE, FIRST_CHANNEL + ch, st.channels.bd[ch], first, words)


@jit
def core_sends(st: State, core: int, port: int) -> None:
    """A core puts a word into its stream; the word says how many it was."""
    if st.noting[ON] == 0:
        return
    row = st.channels.phase.shape[0] + core
    st.labels[row, _READS] += 1
    label = (core_agent(st, core) << SENDER_LSB) | (st.labels[row, _READS] << LABEL_LSB)
    note(st, NoteKind.SEND, core_agent(st, core), 0, label, 0)
    st.switch.parity[port] = (st.switch.parity[port] & _FLAGS) | label


@jit
def core_receives(st: State, core: int, flags: int) -> None:
    """A core gets a word from its stream."""
    if st.noting[ON] > 0 and flags >= LABEL:
        note(st, NoteKind.JOIN, core_agent(st, core), 0, flags >> LABEL_LSB << LABEL_LSB, 0)


@jit
def cascade_put(st: State, core: int) -> None:
    """A core puts a value on its cascade: a unit of a lock of its own, numbered behind those of the tiles."""
    if st.noting[ON] > 0:
        note(st, NoteKind.RELEASE, core_agent(st, core), 0, st.locks.value.shape[0] + core, 1)


@jit
def cascade_got(st: State, core: int, sender: int) -> None:
    """A core gets a value from its cascade: the oldest that the sender has put."""
    if st.noting[ON] > 0 and sender >= 0:
        note(st, NoteKind.ACQUIRE, core_agent(st, core), 0, st.locks.value.shape[0] + sender, -1)


@jit
def host_accesses(st: State, first: int, words: int, writes: bool) -> None:
    """A memory-mapped access to words of ``State.memory``."""
    if st.noting[ON] > 0:
        note(st, NoteKind.WRITE if writes else NoteKind.READ, HOST, 0, first, words)


@jit
def acquired(st: State, agent: int, lock: int, operand: int) -> None:
    """An acquire was granted."""
    history_log.lock_act(st, history_log.LockAct.ACQUIRE, agent, lock)
    if st.noting[ON] > 0:
        note(st, NoteKind.ACQUIRE, agent, 0, lock, operand)


@jit
def released(st: State, agent: int, lock: int, change: int) -> None:
    """A release was made."""
    history_log.lock_act(st, history_log.LockAct.RELEASE, agent, lock)
    if st.noting[ON] > 0:
        note(st, NoteKind.RELEASE, agent, 0, lock, change)


@jit
def lock_set(st: State, lock: int, value: int) -> None:
    """The host gives a lock a value."""
    history_log.lock_act(st, history_log.LockAct.SET, HOST, lock)
    if st.noting[ON] > 0:
        note(st, NoteKind.SET, HOST, 0, lock, value)


@jit
def lock_seen(st: State, lock: int) -> None:
    """The host sees the value of a lock."""
    if st.noting[ON] > 0:
        note(st, NoteKind.LOOK_AT_LOCK, HOST, 0, lock, 0)


@jit
def started(st: State, ch: int) -> None:
    """A channel is given a task."""
    if st.noting[ON] > 0:
        note(st, NoteKind.START, HOST, 0, FIRST_CHANNEL + ch, 0)


@jit
def channel_seen(st: State, ch: int) -> None:
    """The host sees that a channel has ended, or ends it."""
    if st.noting[ON] > 0:
        note(st, NoteKind.LOOK, HOST, 0, FIRST_CHANNEL + ch, 0)


@jit
def tile_seen(st: State, tile: int) -> None:
    """The host reads a register of a tile that tells of its state: of any of its channels, or its core."""
    if st.noting[ON] == 0:
        return
    first = st.spec.tiles.channel_base[tile]
    for ch in range(first, first + st.spec.tiles.channels[tile]):
        note(st, NoteKind.LOOK, HOST, 0, FIRST_CHANNEL + ch, 0)
    if st.spec.tiles.core[tile] >= 0:
        note(st, NoteKind.LOOK, HOST, 0, core_agent(st, st.spec.tiles.core[tile]), 0)


@jit
def filled(st: State, first: int, words: int) -> None:
    """Words of ``State.memory`` are given values by nobody whom an order could keep away."""
    if st.noting[ON] > 0:
        note(st, NoteKind.FILL, HOST, 0, first, words)


@jit
def barrier(st: State, tile: int) -> None:
    """A control packet acts on a tile: all of before comes before it, it before the rest."""
    if st.noting[ON] > 0:
        note(st, NoteKind.BARRIER, HOST, 0, 0, tile)
