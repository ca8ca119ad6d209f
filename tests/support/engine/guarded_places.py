"""Where the model compares what a period moves with what it does not, and the guard of jumps that sees to it.

The names of the guards are those of ``docs/speed.md``. ``shifted`` fails at any other place.
"""

from __future__ import annotations

from collections.abc import Iterator

_PLACES = {
    # channels: places of walks, and what their BDs count
    "length": """
        model/dma/address_generator.py form_access writes granules.formed
        model/dma/address_generator.py in_a_row compares
        model/dma/address_generator.py joins compares
        model/dma/executions.py order compares
        model/dma/external_read.py receive compares
        model/dma/external_write.py consume compares
        model/dma/fifo.py _satisfied compares
        model/dma/mm2s.py drain compares
        model/dma/mm2s.py emit compares
        model/dma/mm2s.py emitted compares
        model/dma/mm2s.py ends_with_tlast compares
        model/dma/mm2s.py form compares
        model/dma/mm2s.py starve compares
        model/dma/s2mm.py collect_rest compares
        model/dma/s2mm.py complete compares
        model/dma/s2mm.py consume compares
        model/streams/beats.py more_follow compares
    """,
    "counter": """
        model/dma/address_generator.py advance compares
        model/dma/address_generator.py locate compares
        model/dma/address_generator.py turn compares
    """,
    "granule": """
        model/dma/address_generator.py in_a_row takes bits
        model/dma/address_generator.py joins takes bits
    """,
    "bank, group, window": """
        model/dma/address_generator.py aim takes bits
        model/memory/neighbours.py memory_owner compares
        model/memory/neighbours.py memory_owner takes bits
    """,
    "runs": """
        model/dma/task_queue.py last_of_task compares
        model/dma/task_queue.py following compares
    """,
    "burst, buffer": """
        model/dma/access_log.py outside takes bits
        model/dma/external.py granted compares
        model/dma/external.py granted takes bits
        model/dma/external.py inside compares
    """,
    # the test bench
    "source": """
        model/roster.py backed_up compares
        model/roster.py offered compares
        model/streams/host_ports.py offer compares
        model/streams/host_ports.py offer_rest compares
        model/streams/host_ports.py take_one compares
    """,
    "sink": """
        model/streams/host_ports.py full compares
        model/streams/host_ports.py put_into_sink compares
    """,
    "fill": """
        model/dma/executions.py supplied compares
        model/dma/external_read.py no_room compares
        model/dma/external_read.py stage compares
        model/dma/fifo.py put takes bits
        model/dma/mm2s.py ask compares
        model/dma/mm2s.py send_header compares
        model/roster.py starving compares
        model/dma/fifo.py empty compares
        model/memory/lock_port.py granted compares
        model/streams/beats.py ready_words compares
    """,
    "pattern": """
        model/streams/host_ports.py ready takes bits
    """,
    "ends": """
        model/streams/beats.py pop_word compares
        model/streams/beats.py put_beat compares
        model/streams/switch.py enter compares
        model/streams/switch.py enter_channel compares
        model/streams/switch_ports.py pop compares
    """,
    # time
    "due": """
        model/cores/core_step.py ask_locks compares
        model/cores/core_step.py next_timer compares
        model/cores/core_step.py receive_lock compares
        model/cores/core_step.py release_locks compares
        model/cores/core_step.py use_memory compares
        model/dma/external.py ask compares
        model/dma/external_read.py arrive compares
        model/dma/external_write.py next_response compares
        model/dma/external_write.py write compares
        model/dma/task_queue.py wake compares
        model/memory/lock_port.py hear compares
        model/memory/banks.py busy compares
    """,
    "over": """
        model/events/asserted.py asserted compares
        model/events/asserted.py fold compares
        model/events/asserted.py last_group compares
        model/events/asserted.py last_raised compares
        model/events/asserted.py last_single compares
        model/events/asserted.py raise_later compares
        model/events/selectors.py last_channel compares
        model/events/selectors.py last_crossing compares
        model/events/selectors.py last_port compares
        model/events/units.py next_finished compares
        model/events/units.py hold compares
        model/events/units.py hold_port compares
        model/events/units.py hold_signal compares
        model/memory/banks.py bid compares
        model/memory/locks.py bid compares
        model/memory/neighbours.py ask compares
        model/streams/switch.py serve compares
        model/streams/switch_ports.py has_room compares
    """,
    "account": """
        model/cores/core_step.py account writes core_spent
        model/cores/core_step.py book writes core_spent
        model/roster.py book_rest writes spent
        model/roster.py note_rest compares
        sim/loop/clock.py account writes spent
        sim/loop/clock.py skip writes clock.idle
    """,
    "limit": """
        sim/loop/clock.py advance_with_pipes compares
        sim/loop/clock.py look_for_pipes compares
        sim/doors/passing_time.py pass_time compares
    """,
    "pipe": """
        model/streams/pipes.py begin takes bits
        model/streams/pipes.py begin writes pipes
        model/streams/pipes.py bring_on compares
        model/streams/pipes.py bring_on takes bits
        model/streams/pipes.py end compares
        model/streams/pipes.py follow writes pipes
        model/streams/switch.py goes_on compares
        model/streams/switch.py goes_on takes bits
        model/streams/switch_ports.py gone_in_a_row compares
        model/streams/switch_ports.py gone_in_a_row takes bits
        model/streams/switch_ports.py push takes bits
        model/streams/switch_ports.py push writes pipes
    """,
    "units": """
        model/events/trace_unit.py next_record compares
        model/events/trace_unit.py put_event takes bits
        model/events/trace_unit.py put_repeats compares
        model/events/trace_unit.py put_repeats takes bits
        model/events/trace_unit.py record compares
        model/events/trace_unit.py record writes traces.delta
        model/events/trace_unit.py skip writes traces.gap
        model/events/units.py limit compares
        model/events/units.py next_in compares
        model/events/units.py skip takes bits
    """,
    # what keeps time from being jumped over
    "steps": """
        model/events/broadcast.py arrive takes bits
        model/events/broadcast.py launch takes bits
        model/axi.py read takes bits
        model/dma/task_queue.py count takes bits
        model/dma/task_queue.py finish_on_tlast compares
        model/dma/task_queue.py finish_on_tlast writes channels.length
        model/memory/axi_port.py busy compares
        model/memory/memory_control.py finish_zeroisation compares
        model/streams/host_ports.py crossed compares
        model/streams/host_ports.py host_takes compares
        model/streams/packet_switch.py bid compares
        model/streams/packet_switch.py matching_slot compares
        model/streams/packet_switch.py serve compares
    """,
}


def _listed() -> Iterator[tuple[str, str]]:
    for guard, places in _PLACES.items():
        for place in filter(None, map(str.strip, places.splitlines())):
            yield place, guard


PLACES = dict(_listed())
"""Place -> its guard; a place is ``file function what``, and stands for all that the function does so."""
