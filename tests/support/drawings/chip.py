"""Pictures of the hardware, drawn from the tables of ``memtile.arch``."""

from __future__ import annotations

from memtile import Array
from memtile.arch.bd_layout import BdField
from memtile.arch.devices import DEVICES, device
from memtile.arch.packets import STREAM_HEADER
from memtile.arch.ports import ARBITERS, MSELS, PORTS, circuit_allowed
from memtile.arch.tiles import MEMORY
from support.drawings.sheet import Sheet

KIB = 1024


def array() -> Sheet:
    """The tiles of npu1, by the table of devices."""
    npu1 = device("npu1")
    sheet = Sheet(620, 40 + 62 * npu1.rows + 30, "The array of npu1: four columns of six tiles")
    fills = {"interface": "gold", "memory": "blue", "compute": "green"}
    for column in range(npu1.columns):
        for row in range(npu1.rows):
            kind = npu1.kind("interface" if row == 0 else "memory" if row in npu1.memory_rows else "compute")
            y = 20 + 62 * (npu1.rows - 1 - row)
            sheet.box(90 + 130 * column, y, 110, 44, fills[kind.role], f"{kind.role}\n({column},{row})")
            if row:
                sheet.arrow([(135 + 130 * column, y + 44), (135 + 130 * column, y + 62)])
                sheet.arrow([(155 + 130 * column, y + 62), (155 + 130 * column, y + 44)])
    for row in range(npu1.rows):
        sheet.say(74, 47 + 62 * (npu1.rows - 1 - row), f"row {row}", "end", "soft")
    sheet.say(90, 38 + 62 * npu1.rows, "external memory of the host, below row 0", style="soft")
    return sheet


def memory_tile() -> Sheet:
    """Banks, channels, locks, descriptors and the switch of a memory tile."""
    kind, ports = MEMORY, PORTS["memory"]
    sheet = Sheet(760, 470, "A memory tile: banks, channels, locks, buffer descriptors, stream switch")
    sheet.box(20, 20, 720, 92, "plain")
    sheet.say(32, 40, f"memory: {kind.memory_bytes // KIB} KB in {kind.banks} banks", style="bold")
    wide = 690 / kind.banks
    for n in range(kind.banks):
        sheet.box(36 + n * wide, 52, wide - 4, 46, "blue", f"{n}")
    for n in range(kind.channels):
        for x, name, fill in ((40, "S2MM", "green"), (400, "MM2S", "gold")):
            sheet.box(x + n * 54, 170, 48, 52, fill, f"{name}\n{n}")
            up, down = (x + 24 + n * 54, 170), (x + 24 + n * 54, 112)
            sheet.arrow([up, down] if name == "S2MM" else [down, up])
            inner, outer = (x + 24 + n * 54, 222), (x + 24 + n * 54, 372)
            sheet.arrow([outer, inner] if name == "S2MM" else [inner, outer])
    sheet.box(34, 136, 92, 20, "bg")
    sheet.say(38, 150, f"{kind.granule_bytes * 8}-bit accesses", style="small")
    halves = ", ".join(
        f"{'odd' if n else 'even'} channels: {a} to {b}" for n, (a, b) in enumerate(kind.bd_banks)
    )
    sheet.box(28, 246, 342, 44, "violet", f"{kind.bds} buffer descriptors\n{halves}")
    sheet.box(400, 246, 318, 44, "red", f"{kind.locks} locks, each 0 to {kind.lock_value_max}")
    sheet.box(34, 316, 86, 20, "bg")
    sheet.say(38, 330, f"{kind.stream_words * 32}-bit streams", style="small")
    out, into = (
        ", ".join(
            f"{sum(port.startswith(side) for port in names)} {side}" for side in ("NORTH", "SOUTH", "DMA")
        )
        for names in (ports.masters, ports.slaves)
    )
    sheet.box(20, 374, 720, 62, "plain", f"stream switch\nout: {out};  in: {into}")
    sheet.say(380, 458, "to the compute tiles above and the interface tile below", "middle", "soft")
    return sheet


def windows() -> Sheet:
    """What the DMA of a memory tile can address: itself and its two neighbours."""
    sheet = Sheet(700, 200, "Address and lock windows of a memory tile's DMA")
    for n, (name, first) in enumerate(MEMORY.memory_windows.items()):
        words, lock = first // 4, MEMORY.lock_windows[name]
        title = {"own": "own memory", "west": "western neighbour", "east": "eastern neighbour"}[name]
        sheet.box(20 + 222 * n, 40, 214, 96, "blue" if name == "own" else "plain")
        sheet.say(127 + 222 * n, 64, title, "middle", "bold")
        last = words + MEMORY.memory_words - 1
        sheet.say(127 + 222 * n, 90, f"words {words:,} to {last:,}", "middle")
        sheet.say(127 + 222 * n, 112, f"locks {lock} to {lock + MEMORY.locks - 1}", "middle")
    reach = ", ".join(map(str, MEMORY.neighbour_channels))
    sheet.say(20, 24, "addresses in descriptors and lock ids, as the DMA counts them")
    sheet.say(20, 168, f"Only channels {reach} of each direction reach the neighbours.", style="soft")
    return sheet


def descriptor_words() -> Sheet:
    """Where the fields of a memory tile's descriptor are, by the table of its layout."""
    sheet = Sheet(900, 90 + 38 * MEMORY.bd_words, "The eight words of a buffer descriptor of a memory tile")
    for bit in (31, 24, 16, 8, 0):
        sheet.say(84 + (31 - bit) * 25, 34, str(bit), "middle", "soft")
    sheet.say(20, 18, "fields of DMA_BDn of the memory tile; blank bits are reserved", style="soft")
    colours = {"Lock": "red", "D0": "blue", "D1": "green", "D2": "gold", "D3": "violet", "Iter": "violet"}
    for word in range(MEMORY.bd_words):
        sheet.say(60, 62 + 38 * word, f"word {word}", "end", "soft")
        sheet.box(72, 44 + 38 * word, 800, 30, "bg")
    for field in MEMORY.bd_fields.values():
        for word, high, low in field.parts:
            wide, x = (high - low + 1) * 25, 72 + (31 - high) * 25
            fill = next((c for start, c in colours.items() if field.name.startswith(start)), "plain")
            sheet.box(x, 44 + 38 * word, wide, 30, fill)
            sheet.say(x + wide / 2, 63 + 38 * word, _short(field, wide), "middle", "small")
    return sheet


def _short(field: BdField, wide: float) -> str:
    """The name of a field as far as it fits."""
    name = field.name.replace("Stepsize", "Step").replace("Iteration", "Iter").replace("_", " ")
    room = int(wide / 6)
    return name if len(name) <= room else "".join(w[0] for w in name.split()) if room < 6 else name[:room]


def queue() -> Sheet:
    """How a channel gets its work: queue, task, chain of descriptors."""
    sheet = Sheet(760, 210, "A channel's task queue, its running task and the chain of descriptors")
    sheet.say(20, 30, "task queue", style="bold")
    for n in range(MEMORY.queue_depth):
        sheet.box(20 + 74 * n, 44, 68, 50, "plain", f"task {MEMORY.queue_depth - n + 1}")
    sheet.arrow([(20 + 74 * MEMORY.queue_depth, 69), (352, 69)])
    sheet.box(356, 44, 150, 50, "gold", f"running: task 1\nruns 1 to {MEMORY.max_repeat}")
    sheet.arrow([(431, 94), (431, 122), (60, 122), (60, 142)], "starts at")
    for n, bd in enumerate((4, 5, 6)):
        sheet.box(20 + 190 * n, 144, 120, 44, "violet", f"BD {bd}")
        if n < 2:
            sheet.arrow([(140 + 190 * n, 166), (208 + 190 * n, 166)], "next")
    sheet.say(546, 60, "a push to a full queue is lost", style="soft")
    sheet.say(546, 78, "and sets a status bit", style="soft")
    sheet.say(546, 170, "Use_Next_BD 0: end", style="soft")
    return sheet


def circuit() -> Sheet:
    """A stream switch with circuits: one slave port drives its masters."""
    sheet = Sheet(560, 240, "Circuit switching: a slave port drives one master port, or several at once")
    sheet.box(180, 30, 200, 180, "plain")
    sheet.say(280, 50, "stream switch", "middle", "bold")
    slaves, masters = ("SOUTH0", "DMA1", "DMA2"), ("DMA0", "NORTH0", "NORTH1")
    ways = ((0, 0), (1, 1), (1, 2))
    for n, name in enumerate(slaves):
        sheet.box(70, 66 + 46 * n, 90, 30, "green", name)
        sheet.arrow([(160, 81 + 46 * n), (180, 81 + 46 * n)])
    for n, name in enumerate(masters):
        sheet.box(400, 66 + 46 * n, 90, 30, "gold", name)
    assert all(circuit_allowed("memory", slaves[a], masters[b]) for a, b in ways)
    for a, b in ways:
        sheet.arrow([(180, 81 + 46 * a), (240, 81 + 46 * a), (320, 81 + 46 * b), (400, 81 + 46 * b)])
    sheet.say(115, 228, "slave ports", "middle", "soft")
    sheet.say(445, 228, "master ports", "middle", "soft")
    return sheet


def packets() -> Sheet:
    """Packets of several senders over one port: ids, arbiter, header."""
    sheet = Sheet(780, 260, "Packet switching: several senders share a port, the header names the way")
    for n, name in enumerate(("MM2S 0, id 1", "MM2S 1, id 2", "MM2S 2, id 3")):
        sheet.box(20, 24 + 44 * n, 130, 34, "green", name)
        sheet.arrow([(150, 41 + 44 * n), (230, 41 + 44 * n), (260, 85)])
    sheet.box(262, 60, 130, 50, "plain", f"one of {ARBITERS} arbiters\nround robin")
    sheet.arrow([(392, 85), (470, 85)], "one port")
    for n, fill in enumerate(("green", "gold", "green")):
        sheet.box(472 + 92 * n, 68, 26, 34, "red", "H")
        sheet.box(498 + 92 * n, 68, 60, 34, fill, f"id {(1, 2, 3)[n]}")
    sheet.say(472, 126, "each packet ends with TLAST", style="soft")
    sheet.say(20, 176, f"header word (each arbiter has {MSELS} sets of master ports)", style="soft")
    for name, bits in ((field.name, field) for field in STREAM_HEADER):
        wide = (bits.msb - bits.lsb + 1) * 22
        x = 20 + (31 - bits.msb) * 22
        sheet.box(x, 186, wide, 34, "blue" if name == "Stream_ID" else "plain")
        words = name.replace("_", " ") if wide > 60 else name[0]
        sheet.say(x + wide / 2, 208, words.replace("Out Of Order ", "OOO "), "middle", "small")
    return sheet


def banks() -> Sheet:
    """Which bank a word is in, with and without interleaving."""
    sheet = Sheet(720, 210, "Words and banks: interleaved and linear")
    words, shown = MEMORY.granule_words, 8
    for row, (title, step) in enumerate((("linear: 32 KB blocks", 0), ("interleaved: 16 bytes each", 1))):
        sheet.say(20, 40 + 84 * row, title, style="bold")
        for n in range(shown):
            fill = ("blue", "green", "gold", "violet", "red")[(step * n % MEMORY.banks) % 5]
            first = n * words
            sheet.box(
                20 + 85 * n,
                50 + 84 * row,
                82,
                40,
                fill,
                f"bank {(step * n % MEMORY.banks)}\nwords {first}-{first + words - 1}",
            )
    sheet.say(20, 200, f"A bank serves one access of {MEMORY.granule_bytes} bytes in a cycle.", style="soft")
    return sheet


def doors() -> Sheet:
    """Everything that becomes register writes, and what comes of a run."""
    ways = (
        "ADF graph in C++",
        "IRON program",
        "MLIR of a compiler",
        "transaction, CDO, xclbin",
        "tiling, Python design",
    )
    sheet = Sheet(
        760, 270, "Every design becomes register writes of one model; every run is explained by causes"
    )
    for n, way in enumerate(ways):
        sheet.box(20, 20 + 46 * n, 200, 36, "green", way)
        sheet.arrow([(220, 38 + 46 * n), (270, 38 + 46 * n), (300, 130)])
    sheet.box(302, 90, 190, 80, "blue", f"register-accurate model\nof {len(DEVICES)} devices")
    for n, answer in enumerate(
        ("outputs, bit-exact", "cycles and their causes", "findings with repairs", "report, trace, dump")
    ):
        sheet.arrow([(492, 130), (530, 130), (530, 48 + 56 * n), (552, 48 + 56 * n)])
        sheet.box(554, 28 + 56 * n, 186, 40, "gold", answer)
    return sheet


def object_fifo() -> Sheet:
    """The buffers and locks that an object FIFO of depth 2 gets at both ends, from an array that has one."""
    built = Array("npu1", 1)
    fifo = built.object_fifo("in", built.compute_tile(0, 2), built.compute_tile(0, 5), shape=64, depth=2)
    sheet = Sheet(760, 250, "An object FIFO: a pool of buffers and a lock pair at each end, a stream between")
    ends = ((20, "producer: core (0,2)", fifo.producer), (500, "consumer: core (0,5)", fifo.consumers[0]))
    for x, title, end in ends:
        sheet.box(x, 40, 240, 170, "plain")
        sheet.say(x + 120, 60, title, "middle", "bold")
        for n in range(2):
            buffer = end.buffer(n)
            sheet.box(x + 12 + 110 * n, 74, 104, 48, "blue", f"buffer {n}\nat {buffer.offset:#x}")
        for n, (name, lock, value) in enumerate((("free", end.free, 2), ("full", end.full, 0))):
            sheet.box(x + 12 + 110 * n, 136, 104, 56, "red", f"lock {lock.id} '{name}'\nstarts at {value}")
    sheet.arrow([(260, 98), (500, 98)], "MM2S, stream switches, S2MM")
    sheet.say(20, 236, "acquire takes a free or full object, release gives it away", style="soft")
    return sheet


def compilers() -> Sheet:
    """Which text of a compiler to take."""
    sheet = Sheet(760, 230, "Compilers and the text that memtile takes from each")
    rows = (
        ("mlir-air: aircc", "npu.NAME.mlir", "gold"),
        ("Triton-XDNA", "npu.asm_air_output.mlir", "gold"),
        ("IREE: iree-compile", "*.aiecc.mlir", "gold"),
        ("mlir-aie: aiecc", "input_with_addresses.mlir", "blue"),
    )
    for n, (compiler, text, fill) in enumerate(rows):
        sheet.box(20, 16 + 50 * n, 170, 38, "green", compiler)
        sheet.arrow([(190, 35 + 50 * n), (246, 35 + 50 * n)])
        sheet.box(250, 16 + 50 * n, 230, 38, fill, text)
        sheet.arrow([(480, 35 + 50 * n), (530, 35 + 50 * n), (556, 112)])
    sheet.box(560, 84, 180, 56, "plain", "memtile run, check,\nsweep, diff, explain")
    sheet.say(560, 164, "no Peano, no XRT, no NPU", style="soft")
    return sheet


def graph() -> Sheet:
    """What the parts of an ADF graph become in the array."""
    sheet = Sheet(760, 220, "The parts of an ADF graph and what they become in the array")
    parts = (
        ("input_plio", "South port of an\ninterface tile", "gold"),
        ("shared_buffer", "buffers of a\nmemory tile", "blue"),
        ("kernel", "core, buffers\nand locks", "green"),
        ("output_plio", "South port of an\ninterface tile", "gold"),
    )
    for n, (part, tile, fill) in enumerate(parts):
        sheet.box(20 + 186 * n, 24, 150, 44, "violet", part)
        sheet.box(20 + 186 * n, 126, 150, 56, fill, tile)
        sheet.arrow([(95 + 186 * n, 68), (95 + 186 * n, 126)])
        if n:
            sheet.arrow([(170 + 186 * (n - 1), 46), (206 + 186 * (n - 1), 46)])
            sheet.arrow([(170 + 186 * (n - 1), 154), (206 + 186 * (n - 1), 154)])
    sheet.say(20, 208, "tilings become descriptors, connections become streams and locks", style="soft")
    return sheet
