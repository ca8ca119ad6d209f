"""Mutants: the source with one place changed, each with the test that must fail then; see ``run.py``.

A mutant that no test kills shows what no test looks at. When the source of one changes, so does its text
here: ``tests/faults/test_mutants.py`` says which.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE = "memtile"


class Mutant(NamedTuple):
    """A change of the source.

    Attributes:
        name: what is wrong then.
        file: path below the package.
        old: text that stands there once.
        new: what stands there instead.
        test: node id of the test that fails then, of one of its parameters where all take long.
    """

    name: str
    file: str
    old: str
    new: str
    test: str

    def applied(self) -> str:
        """The file with the change."""
        text = (SOURCE / PACKAGE / self.file).read_text(encoding="utf-8")
        return text.replace(self.old, self.new)


MUTANTS = (
    # Host sequences
    Mutant(
        "a wait for all tasks waits for none",
        "design/host.py",
        "return all(task.done for task in tasks)",
        "return True",
        "tests/data/test_host_sequence.py::test_a_wait_that_never_ends_is_told_with_its_line",
    ),
    Mutant(
        "BDs of ended tasks stay taken",
        "design/host.py",
        "ended.channel.give_back(ended.bds)",
        "pass",
        "tests/data/test_host_sequence.py::test_more_tasks_than_a_queue_holds_and_more_bds_than_the_tile_has",
    ),
    Mutant(
        "a host sequence that waits is no unfinished work",
        "explain/outcome.py",
        "bool(hosts or found)",
        "bool(found)",
        "tests/data/test_host_sequence.py::test_a_start_without_room_and_a_poll_are_told_too",
    ),
    # The command line, and what results say
    Mutant(
        "a cache that everybody can write is used",
        "jit/cache.py",
        "found.st_mode & stat.S_IWOTH",
        "found.st_mode & 0",
        "tests/faults/test_engine_cache.py::test_a_place_that_others_can_write_is_not_used",
    ),
    Mutant(
        "a cache of another user is used",
        "jit/cache.py",
        "found.st_uid not in (os.getuid(), _ROOT, _PACKAGE.stat().st_uid)",
        "found.st_uid < 0",
        "tests/faults/test_engine_cache.py::test_a_place_of_another_user_is_not_used",
    ),
    Mutant(
        "two processes compile at once",
        "jit/cache.py",
        'with alone(directory / "lock", waiting):',
        "with alone(directory / str(os.getpid()), waiting):",
        "tests/faults/test_engine_cache.py::test_one_process_compiles_and_the_others_wait_and_say_so",
    ),
    Mutant(
        "the first wrong element without its place",
        "explain/checks.py",
        "tuple(map(int, np.unravel_index(number, shape or (1,))))",
        "(number,)",
        "tests/faults/test_checks.py::test_the_first_wrong_element_is_told_by_its_place_and_both_values",
    ),
    Mutant(
        "long integers that lose bits are sent",
        "design/stream_port.py",
        "if np.array_equal(fitting, given):",
        "if len(fitting):",
        "tests/faults/test_checks.py::test_numbers_that_32_bits_do_not_hold_are_refused",
    ),
    Mutant(
        "no word about a difference of types",
        "explain/checks.py",
        'note = note if wrong or missing else ""',
        'note = ""',
        "tests/faults/test_checks.py::test_a_difference_of_types_is_told",
    ),
    Mutant(
        "ends of object FIFOs without their name",
        "design/object_fifo.py",
        "end.channel.named(name)",
        'end.channel.named("")',
        "tests/faults/test_channel_names.py::test_channels_of_object_fifos_have_their_names",
    ),
    Mutant(
        "stuck lines without the names of the design",
        "explain/names.py",
        "if label else channel_name(engine, ch)",
        "if not label else channel_name(engine, ch)",
        "tests/faults/test_channel_names.py::test_stuck_lines_have_the_names",
    ),
    Mutant(
        "an error is text where JSON was asked for",
        "cli/failure.py",
        "        _print(refusal(error))",
        "        pass",
        "tests/clients/test_json_rule.py::test_a_refused_input_is_json_on_stdout_and_a_sentence_on_stderr",
    ),
    Mutant(
        "a file after -- asks for JSON",
        "cli/failure.py",
        'args[: args.index("--")] if "--" in args else args',
        "args",
        "tests/clients/test_json_rule.py::test_without_json_nothing_of_an_error_is_on_stdout",
    ),
    Mutant(
        "prints of a design before the JSON",
        "cli/design_file.py",
        "redirect_stdout(sys.stderr)",
        "redirect_stdout(sys.stdout)",
        "tests/clients/test_json_rule.py::test_what_a_kernel_prints_goes_to_stderr",
    ),
    Mutant(
        "no word after Ctrl-C while the command is loaded",
        "__main__.py",
        "except KeyboardInterrupt:",
        "except EOFError:",
        "tests/clients/test_json_rule.py::test_ctrl_c_while_the_command_is_loaded_has_a_word",
    ),
    Mutant(
        "blanks at the ends of piped lines",
        "sheet.py",
        "line.rstrip()",
        "line",
        "tests/clients/test_cli_run.py::test_piped_text_has_whole_lines_without_blanks_at_their_ends",
    ),
    Mutant(
        "waiting lines broken in pipes",
        "sheet.py",
        "console.print(Text(line), soft_wrap=True)",
        "console.print(Text(line))",
        "tests/clients/test_cli_run.py::test_piped_text_has_whole_lines_without_blanks_at_their_ends",
    ),
    Mutant(
        "a parameter takes values of any type",
        "design/parameters.py",
        "        raise ValueError(value)\n",
        "        return value\n",
        "tests/clients/test_parameters.py::test_run_of_python_refuses_other_values_and_names",
    ),
    Mutant(
        "results do not say which parameters they had",
        "design/run.py",
        "bench.parameters = values",
        "bench.parameters = {}",
        "tests/clients/test_parameters.py::test_run_of_python_sets_parameters_and_records_them",
    ),
    # When a run is finished, and what is said of cores
    Mutant(
        "every endless wait is good",
        "explain/good_waits.py",
        "return lock == _WORDS or (had and not givers.get(lock))",
        "return True",
        "tests/faults/test_endless_kernels.py::test_what_nobody_ever_gave_is_waited_for_in_vain",
    ),
    Mutant(
        "those who wait for each other are hopeful",
        "explain/good_waits.py",
        "hopeful = {party for party in parties if _may_end_there(*waits[party], givers)}",
        "hopeful = {party for party in parties if waits[party][1]}",
        "tests/faults/test_endless_kernels.py::test_those_who_wait_for_each_other_are_stuck",
    ),
    Mutant(
        "a way out of a loop that is not seen",
        "sim/endless.py",
        "if instruction.opname in _RETURNS:",
        "if instruction.opname in _RAISES:",
        "tests/faults/test_endless_kernels.py::test_what_a_generator_can_still_do_says_whether_it_ends",
    ),
    Mutant(
        "a wait counts for what is started after it",
        "io/program/waits.py",
        "return False\n    return False",
        "continue\n    return False",
        "tests/data/test_program_run.py::test_what_is_started_after_the_last_wait_has_to_end_by_itself",
    ),
    Mutant(
        "a core with a kernel is said to have no program",
        "sim/core_control.py",
        "if core not in engine.cores.running]",
        "if core >= 0]",
        "tests/faults/test_cores_without_program.py::test_each_core_has_a_line_and_one_with_a_kernel_has_none",
    ),
    Mutant(
        "files of a build stay as given",
        "io/program/file_order.py",
        "found == sorted(found):",
        "found:",
        "tests/clients/test_cli_run_kernels.py::test_files_of_a_build_are_put_into_order",
    ),
    # What no test saw at first
    Mutant(
        "over-long read without TLAST error",
        "model/streams/control_packets.py",
        "controls.cut[tile] = 1 - last",
        "controls.cut[tile] = 0",
        "tests/data/test_control_packets.py::test_tlast_at_the_wrong_word",
    ),
    Mutant(
        "the pop register takes counts of a token",
        "model/dma/task_end.py",
        "    if reporting or (c.control",
        "    if (c.control",
        "tests/data/test_packet_reception.py::test_the_pop_register_takes_no_count_that_belongs_to_a_token[3]",
    ),
    Mutant(
        "no rotation among channels with tokens",
        "model/streams/control_port.py",
        "controls.turn[tile] = number + 1",
        "controls.turn[tile] = 0",
        "tests/data/test_tokens.py::test_channels_with_tokens_take_turns",
    ),
    Mutant(
        "upper half of a patched pointer",
        "io/program/pointer_patches.py",
        "value >>= msb - lsb + 1",
        "value = 0",
        "tests/words/test_transactions.py::test_a_pointer_patch_sets_all_48_bits_of_an_address",
    ),
    Mutant(
        "S2MM obeys Enable_Packet",
        "model/dma/bd_load.py",
        "fields[ch, f.ENABLE_PACKET] if c.direction[ch] == MM2S else 0",
        "fields[ch, f.ENABLE_PACKET]",
        "tests/data/test_packets.py::test_a_receiving_descriptor_neither_makes_nor_takes_a_header",
    ),
    Mutant(
        "Task_Queue_Size reads 5",
        "model/dma/registers.py",
        "waiting = min(c.queue_count[ch], _DEPTH)",
        "waiting = c.queue_count[ch]",
        "tests/timing/test_boundaries.py::test_the_size_of_the_queue_is_at_most_four",
    ),
    Mutant(
        "circuit multicast looks at its first receiver only",
        "model/streams/switch.py",
        "            return\n        fed = switch.sibling[fed]\n    head",
        "            return\n        break\n    head",
        "tests/timing/test_switch.py::test_multicast_reaches_all_and_the_slowest_receiver_stops_all",
    ),
    Mutant(
        "three slots a slave",
        "model/streams/packet_switch.py",
        "    for n in range(SLOTS_PER_SLAVE):",
        "    for n in range(SLOTS_PER_SLAVE - 1):",
        "tests/data/test_packets.py::test_each_of_the_four_slots_of_a_slave_takes_packets",
    ),
    # Walks and padding
    Mutant(
        "a wrap one too long",
        "model/dma/address_generator.py",
        "if wrap == 0 or walks.position[ch, d] < walks.before[ch, d] + wrap + walks.after[ch, d]:",
        "if wrap == 0 or walks.position[ch, d] <= walks.before[ch, d] + wrap + walks.after[ch, d]:",
        "tests/data/test_engine_moves.py::test_four_dimensions_and_an_iteration_offset",
    ),
    Mutant(
        "padding behind a dimension is data",
        "model/dma/address_generator.py",
        "if inside < 0 or (wrap > 0 and inside >= wrap):",
        "if inside < 0:",
        "tests/data/test_engine_moves.py::test_padding_is_a_box_around_the_lower_three_dimensions",
    ),
    Mutant(
        "padding before moves no address",
        "model/dma/address_generator.py",
        "inside = walks.position[ch, d] - walks.before[ch, d]",
        "inside = walks.position[ch, d]",
        "tests/data/test_engine_moves.py::test_padding_is_a_box_around_the_lower_three_dimensions",
    ),
    Mutant(
        "an access crosses its granule",
        "model/dma/address_generator.py",
        "return bool((address + 1) & (walks.granule_words[ch] - 1) != 0)",
        "return True",
        "tests/timing/test_banks.py::test_one_access_carries_what_is_contiguous_in_16_bytes",
    ),
    Mutant(
        "S2MM pads",
        "model/dma/bd_load.py",
        "padded = 1 if st.channels.direction[ch] == MM2S else 0",
        "padded = 1",
        "tests/data/test_engine_moves.py::test_padding_fields_do_nothing_on_s2mm",
    ),
    Mutant(
        "the iteration never wraps",
        "model/dma/bd_load.py",
        "following = current + 1 if current + 1 < st.fields[ch, f.ITERATION_WRAP] else 0",
        "following = current + 1",
        "tests/data/test_engine_moves.py::test_repeat_count_runs_the_whole_chain",
    ),
    # Descriptors, tasks and queues
    Mutant(
        "a BD of the other half runs",
        "model/dma/bd_load.py",
        "half = st.channels.number[ch] % 2",
        "half = 0",
        "tests/data/test_engine_errors.py::test_a_channel_can_run_the_24_bds_of_its_half",
    ),
    Mutant(
        "BDs run without Valid_BD",
        "model/dma/bd_load.py",
        "if st.fields[ch, f.VALID_BD] == 0:",
        "if False:",
        "tests/data/test_engine_errors.py::test_a_bd_without_its_valid_bit",
    ),
    Mutant(
        "a repeat fewer",
        "model/dma/task_queue.py",
        "if c.runs_left[ch] > 0:",
        "if c.runs_left[ch] > 1:",
        "tests/data/test_engine_moves.py::test_repeat_count_runs_the_whole_chain",
    ),
    Mutant(
        "a fifth task waits beside a running one",
        "model/dma/task_queue.py",
        "room = _DEPTH + 1 if c.phase[ch] == Phase.IDLE or c.phase[ch] == Phase.STARTING else _DEPTH",
        "room = _DEPTH + 1",
        "tests/timing/test_boundaries.py::test_four_tasks_wait_beside_the_running_one",
    ),
    Mutant(
        "a full queue drops without a word",
        "model/dma/task_queue.py",
        "c.errors[ch] |= 1 << ERROR_QUEUE_OVERFLOW",
        "pass",
        "tests/data/test_engine_errors.py::test_a_push_to_a_full_queue_is_dropped_and_flagged_until_cleared",
    ),
    Mutant(
        "a token nobody asked for",
        "model/dma/task_end.py",
        "    if c.task_token[ch] == 0:\n        return\n    tile",
        "    tile",
        "tests/data/test_tokens.py::test_one_token_a_task_and_only_if_asked",
    ),
    Mutant(
        "finish on TLAST misses a full length",
        "model/dma/task_end.py",
        "elif c.moved[ch] == c.length[ch]:",
        "elif False:",
        "tests/data/test_packet_reception.py::test_a_packet_longer_than_the_bd_halts_with_what_fits_in_memory",
    ),
    Mutant(
        "the count does not say last in task",
        "model/dma/task_end.py",
        "word | LAST_IN_TASK if last_of_task(st, ch) else word",
        "word",
        "tests/data/test_packet_reception.py::test_counts_are_popped_from_the_register",
    ),
    Mutant(
        "an out-of-order BD chains",
        "model/dma/out_of_order.py",
        "c.next_bd[ch] = -1  #",
        "pass  #",
        "tests/data/test_packet_reception.py::test_a_chosen_descriptor_takes_its_lock_and_does_not_chain",
    ),
    # Locks and windows
    Mutant(
        "an acquire of V >= 0 takes more",
        "model/memory/locks.py",
        "return bool(value == operand)",
        "return bool(value >= operand)",
        "tests/data/test_engine_locks.py::test_an_acquire_by_software_is_one_attempt",
    ),
    Mutant(
        "an acquire of -V needs one more",
        "model/memory/locks.py",
        "return bool(value >= -operand)",
        "return bool(value > -operand)",
        "tests/data/test_engine_locks.py::test_an_acquire_by_software_is_one_attempt",
    ),
    Mutant(
        "locks do not take turns",
        "model/memory/locks.py",
        "st.locks.turn[lock] = requester + 1",
        "pass",
        "tests/timing/test_locks.py::test_the_channel_after_the_last_winner_comes_first",
    ),
    Mutant(
        "a lock overflows without a flag",
        "model/memory/locks.py",
        "locks.overflow[lock] = 1",
        "pass",
        "tests/data/test_engine_locks.py::test_a_release_by_software_adds_and_flags",
    ),
    Mutant(
        "a lock that goes below 0 wraps",
        "model/memory/locks.py",
        "        value = 0\n    put",
        "        value &= _MAX\n    put",
        "tests/data/test_engine_locks.py::test_a_release_by_software_adds_and_flags",
    ),
    Mutant(
        "channel 4 reaches the neighbours",
        "model/memory/windows.py",
        "number >= st.spec.kinds.neighbour_channels[kind]",
        "number > st.spec.kinds.neighbour_channels[kind]",
        "tests/data/test_engine_errors.py::test_channels_0_to_3_reach_the_neighbours_and_4_and_5_do_not",
    ),
    Mutant(
        "isolation from the west closes the east",
        "model/memory/windows.py",
        "NOWHERE if control & _FROM_WEST else tile",
        "NOWHERE if control & _FROM_EAST else tile",
        "tests/data/test_neighbours.py::test_an_isolated_neighbour_does_not_give_its_memory",
    ),
    # Banks and interfaces to neighbours
    Mutant(
        "banks do not take turns",
        "model/memory/banks.py",
        "st.banks.turn[bank] = requester + 1",
        "pass",
        "tests/timing/test_banks.py::test_a_bank_reads_or_writes_in_a_cycle",
    ),
    Mutant(
        "zeroisation keeps nobody out",
        "model/memory/banks.py",
        "return bool(st.clock.now[0] < st.memories.busy_until[st.banks.tile[bank]])",
        "return False",
        "tests/timing/test_banks.py::test_zeroisation_keeps_channels_from_the_banks",
    ),
    Mutant(
        "interfaces to the neighbours do not take turns",
        "model/memory/neighbours.py",
        "table.turn[interface] = ch + 1",
        "pass",
        "tests/timing/test_neighbours.py::test_readers_of_one_side_take_turns_although_their_banks_differ",
    ),
    Mutant(
        "reading and writing share the interface to a neighbour",
        "model/memory/neighbours.py",
        "+ st.channels.direction[ch] * _PER_DIRECTION + east",
        "+ east",
        "tests/timing/test_neighbours.py::test_each_side_and_direction_has_an_interface_of_its_own",
    ),
    # Packets
    Mutant(
        "slot masks are ignored",
        "model/streams/packet_switch.py",
        " & (slot >> _MASK_LSB) & STREAM_MASK",
        " & STREAM_MASK",
        "tests/data/test_packets.py::test_ids_choose_the_masters_of_a_packet",
    ),
    Mutant(
        "arbiters do not take turns",
        "model/streams/packet_switch.py",
        "st.arbiters.turn[arbiter] = switch.number[port] + 1",
        "pass",
        "tests/data/test_packets.py::test_packets_that_share_a_master_are_not_mixed",
    ),
    Mutant(
        "a packet multicast looks at its first master only",
        "model/streams/packet_switch.py",
        "        if rest & 1 and not has_room(st, port):\n            return False",
        "        if rest & 1:\n            return has_room(st, port)",
        "tests/data/test_packets.py::test_a_packet_for_two_masters_waits_for_the_slower_one",
    ),
    Mutant(
        "headers are never dropped",
        "model/streams/packet_switch.py",
        "    if header == 0:\n        return targets",
        "    if header < 2:\n        return targets",
        "tests/data/test_packets.py::test_ids_choose_the_masters_of_a_packet",
    ),
    Mutant(
        "the merge serves one packet a turn",
        "model/streams/packet_switch.py",
        "if st.arbiters.served[arbiter] >= merge_count(st, arbiter, position):",
        "if True:",
        "tests/data/test_packets.py::test_deterministic_merge_serves_its_positions_in_order",
    ),
    Mutant(
        "headers with even parity pass",
        "model/streams/packets.py",
        "return bool(folded & 1)",
        "return True",
        "tests/data/test_control_packets.py::test_broken_parity_of_the_control_header_discards_the_packet",
    ),
    Mutant(
        "a packet split gives all tilings to its first port",
        "design/packet_bus.py",
        "return [(self.streams[t.packet_port_id], t) for t in tilings]",
        "return [(self.streams[0], t) for t in tilings]",
        "tests/data/test_packet_split.py::test_a_tiling_goes_to_the_target_of_its_port",
    ),
    Mutant(
        "a packet split ignores the ports of its tilings",
        "design/packet_bus.py",
        "return [(self.streams[t.packet_port_id], t) for t in tilings]",
        "return [(self.streams[n], t) for n, t in enumerate(tilings)]",
        "tests/data/test_packet_split.py::test_a_tiling_goes_to_the_target_of_its_port",
    ),
    # Control packets
    Mutant(
        "a refused write sets no error",
        "model/streams/control_packets.py",
        "    if answered == axi.SLAVE_ERROR:\n        st.registers[controls.status[tile]] |= ACCESS\n",
        "    if answered == axi.SLAVE_ERROR:\n",
        "tests/data/test_control_packets.py::test_an_address_that_nothing_answers_sets_the_slave_error",
    ),
    Mutant(
        "the address of a control packet stands still",
        "model/streams/control_packets.py",
        "    controls.left[tile] -= 1\n    done",
        "    controls.address[tile] -= WORD_BYTES\n    controls.left[tile] -= 1\n    done",
        "tests/data/test_control_packets.py::test_writes_go_to_rising_addresses",
    ),
    # Events
    Mutant(
        "edges do not fall",
        "model/events/units.py",
        "falls = level < o.edge_was[unit, n] and o.edge_falling[unit, n] == 1",
        "falls = False",
        "tests/timing/test_event_units.py::test_edges_of_a_level_come_one_cycle_after_it",
    ),
    Mutant(
        "a threshold is reached one late",
        "model/events/units.py",
        "== o.threshold[unit, n]:",
        "> o.threshold[unit, n]:",
        "tests/timing/test_event_units.py::test_a_counter_at_its_threshold_raises_its_event_and_may_reset_itself",
    ),
    Mutant(
        "group enables are ignored",
        "model/events/asserted.py",
        "        if enabled & 1:\n            latest = max(latest, last_single",
        "        if True:\n            latest = max(latest, last_single",
        "tests/timing/test_event_numbers.py::test_each_bit_of_a_group_gates_one_event[pl]",
    ),
    Mutant(
        "broadcast blocks are ignored",
        "model/events/broadcast.py",
        "    channels &= ~st.registers[st.spec.nodes.block[node, side]]\n",
        "",
        "tests/timing/test_broadcast.py::test_a_blocked_side_lets_nothing_out",
    ),
    Mutant(
        "broadcasts from the west go on to the north",
        "model/events/broadcast.py",
        "launch(st, node, NORTH, inside | south)",
        "launch(st, node, NORTH, inside | south | west)",
        "tests/timing/test_broadcast.py::test_a_pulse_is_heard_once_wherever_it_comes_from",
    ),
    Mutant(
        "isolated tiles hear broadcasts",
        "model/events/broadcast.py",
        "return bool((st.registers[st.spec.nodes.isolation[node]] >> _ISOLATION_LSB[side]) & 1)",
        "return False",
        "tests/timing/test_broadcast.py::test_a_tile_hears_nothing_from_a_side_from_which_it_is_isolated",
    ),
    Mutant(
        "interface tiles do not pass broadcasts on",
        "model/build/broadcast.py",
        "if beside is not None and own and of_tile[beside]:",
        "if beside is not None and not _is_interface(p.name) and own and of_tile[beside]:",
        "tests/timing/test_broadcast.py::test_the_interface_row_passes_on_to_its_sides",
    ),
    # Interrupts
    Mutant(
        "first level takes what is not enabled",
        "model/events/interrupts.py",
        "taken = inputs & st.registers[mask]",
        "taken = inputs",
        "tests/data/test_interrupts.py::test_only_what_is_enabled_is_taken_and_a_written_1_clears_it",
    ),
    Mutant(
        "first level takes channels along the row",
        "model/events/broadcast.py",
        "inside = interrupts.raised(st, node, north)",
        "inside = interrupts.raised(st, node, north | west)",
        "tests/data/test_interrupts.py::test_a_channel_along_the_row_is_no_input_of_the_first_level",
    ),
    Mutant(
        "first level blocks nothing",
        "model/events/interrupts.py",
        "return int(channels & ~st.registers[mask + _BLOCKED])",
        "return channels",
        "tests/data/test_interrupts.py::test_what_it_takes_it_raises_as_the_channel_of_its_number",
    ),
    Mutant(
        "events of the tile interrupt through switch A alone",
        "model/events/broadcast.py",
        "raised = interrupts.raised_by_events(st, unit, east)",
        "raised = 0",
        "tests/data/test_interrupts.py::test_events_of_the_tile_are_four_more_inputs",
    ),
    Mutant(
        "second level takes what is not enabled",
        "model/events/interrupts.py",
        "|= channels & st.registers[mask]",
        "|= channels",
        "tests/data/test_interrupts.py::test_the_second_level_holds_an_interrupt_line_of_the_host",
    ),
    Mutant(
        "second level listens at switch A",
        "model/build/broadcast.py",
        'return [NONE, _place(p.name, "Interrupt_controller_2nd_level_mask")] if has_one else []',
        'return [_place(p.name, "Interrupt_controller_2nd_level_mask"), NONE] if has_one else []',
        "tests/data/test_interrupts.py::test_the_driver_finds_an_error_of_each_module_of_each_column",
    ),
    # Resets
    Mutant(
        "memory tiles keep their words over a column reset",
        "model/tile_reset.py",
        "        st.memory[words] = 0\n",
        "        pass\n",
        "tests/data/test_column_clock.py::test_a_memory_tile_is_zero_after_a_column_reset",
    ),
    Mutant(
        "time in reset is made up for",
        "model/column_clock.py",
        "st.gates.held[tile], st.gates.since[tile] = held[tile], st.clock.now[0]",
        "st.gates.held[tile] = held[tile]",
        "tests/data/test_column_clock.py::test_time_begins_with_the_end_of_the_reset",
    ),
    Mutant(
        "multiplexers stay set over the reset of an interface tile",
        "model/tile_reset.py",
        "        interface_mux.configure(st, tile)\n",
        "        pass\n",
        "tests/data/test_npi.py::test_a_reset_interface_tile_is_as_new",
    ),
    Mutant(
        "the reset of interface tiles knows no columns",
        "sim/npi.py",
        "if first <= column[tile] <= last:",
        "if True:",
        "tests/data/test_npi.py::test_only_the_protected_columns_are_reset",
    ),
    # Protection
    Mutant(
        "corrected words are delivered as stored",
        "model/memory/ecc.py",
        "return value ^ (cell & _DATA)",
        "return value",
        "tests/data/test_ecc.py::test_one_flip_is_corrected_for_the_reader_and_reported",
    ),
    Mutant(
        "two flips pass as one",
        "model/memory/ecc.py",
        "return (Verdict.CORRECTABLE if cell else Verdict.BEYOND), cell",
        "return Verdict.CORRECTABLE, cell",
        "tests/data/test_ecc.py::test_two_flips_are_reported_and_delivered_as_they_are",
    ),
    Mutant(
        "a write leaves the flips",
        "model/memory/ecc.py",
        "        clean(st, tile, word, Fate.OVERWRITTEN.value)\n",
        "        pass\n",
        "tests/data/test_ecc.py::test_a_write_makes_the_word_clean",
    ),
    Mutant(
        "the last address of an ECC error is kept",
        "model/memory/ecc.py",
        "if st.registers[at] & valid == 0:",
        "if True:",
        "tests/data/test_ecc.py::test_the_failing_address_is_that_of_the_first_error_until_software_clears_it",
    ),
    # Cores and their memories
    Mutant(
        "vectors ask one bank of a pair",
        "model/cores/core_ports.py",
        "if mode == CoreMode.NONE or (part > 0 and mode != CoreMode.VECTOR):",
        "if mode == CoreMode.NONE or part > 0:",
        "tests/timing/test_core_ports.py::test_a_vector_takes_both_banks_of_a_pair",
    ),
    Mutant(
        "a byte is stored in one access",
        "model/cores/core_ports.py",
        "cores.wanted[core, slot] = 2 if mode == CoreMode.UPDATE else 1",
        "cores.wanted[core, slot] = 1",
        "tests/timing/test_core_ports.py::test_stores_below_32_bit_read_then_write",
    ),
    Mutant(
        "a core reaches the east for the west",
        "arch/core.py",
        '"west": (-1, 0)',
        '"west": (1, 0)',
        "tests/data/test_kernels.py::test_a_core_reads_and_writes_its_own_south_west_and_north_memory_all_of_it",
    ),
    Mutant(
        "program memory a word short",
        "model/cores/program_memory.py",
        "offset >= _END",
        "offset >= _END - 4",
        "tests/data/test_kernels.py::test_program_memory_is_16_kb_of_plain_storage_of_each_core",
    ),
    Mutant(
        "all cores share one program memory",
        "model/cores/program_memory.py",
        "return int(core * _WORDS + (offset",
        "return int((offset",
        "tests/data/test_kernels.py::test_program_memory_is_16_kb_of_plain_storage_of_each_core",
    ),
    Mutant(
        "program memory starts later",
        "arch/core.py",
        "program_base=0x20000",
        "program_base=0x20004",
        "tests/data/test_kernels.py::test_program_memory_is_16_kb_of_plain_storage_of_each_core",
    ),
    Mutant(
        "no zeroisation of program memory",
        "model/cores/program_memory.py",
        "            st.program[word] = 0",
        "            pass",
        "tests/words/test_register_walk.py::test_four_core_registers_beyond_the_tables_answer",
    ),
    Mutant(
        "a computed heap may be larger",
        "design/compute_map.py",
        "if computed is None or computed <= given:",
        "if computed is None or True:",
        "tests/faults/test_allocation.py::test_a_heap_larger_than_the_given_one_is_an_error",
    ),
    Mutant(
        "the stack is 2 KB by default",
        "arch/core.py",
        "DEFAULT_STACK_BYTES = DEFAULT_HEAP_BYTES = 1024",
        "DEFAULT_STACK_BYTES = DEFAULT_HEAP_BYTES = 2048",
        "tests/faults/test_allocation.py::test_stack_and_heap_take_a_kilobyte_each_and_buffers_go_around_them",
    ),
    Mutant(
        "the computed heap is not used",
        "design/compute_map.py",
        "size = max(DEFAULT_HEAP_BYTES, heap_computed or 0) if heap is None else heap",
        "size = DEFAULT_HEAP_BYTES if heap is None else heap",
        "tests/faults/test_allocation.py::test_without_a_given_heap_the_computed_one_counts",
    ),
    Mutant(
        "kernels see big endian words",
        "sim/kernels.py",
        'return data.view(piece.dtype.newbyteorder("<")).reshape(piece.shape)',
        'return data.view(piece.dtype.newbyteorder(">")).reshape(piece.shape)',
        "tests/data/test_kernels.py::test_data_is_little_endian",
    ),
    Mutant(
        "buffers of cores are big endian",
        "sim/kernels.py",
        'return np.frombuffer(memory, piece.dtype.newbyteorder("<"), prod(piece.shape), first)',
        'return np.frombuffer(memory, piece.dtype.newbyteorder(">"), prod(piece.shape), first)',
        "tests/data/test_kernels.py::test_data_is_little_endian",
    ),
    Mutant(
        "compute tiles have 15 BDs",
        "arch/tiles.py",
        "bds=16,\n    bd_base=0x1D000,\n    bd_stride=0x20,\n    bd_words=6,",
        "bds=15,\n    bd_base=0x1D000,\n    bd_stride=0x20,\n    bd_words=6,",
        "tests/data/test_kernels.py::test_the_dma_has_two_channels_each_way_three_dimensions_16_bds_and_16_locks",
    ),
    Mutant(
        "compute tiles interleave all banks",
        "arch/tiles.py",
        "    bank_group=2,\n",
        "    bank_group=8,\n",
        "tests/timing/test_core_ports.py::test_three_vector_ports_run_together_when_their_banks_differ",
    ),
    Mutant(
        "compute tiles have three dimensions in memory tiles' words",
        "arch/tiles.py",
        "    bd_words=6,\n    dimensions=3,",
        "    bd_words=6,\n    dimensions=4,",
        "tests/words/test_bd_words.py::test_the_words_of_every_accepted_case_decode_to_it",
    ),
    # Devices and AIE-ML v2
    Mutant(
        "one row of memory tiles where there are two",
        "arch/devices.py",
        "return range(INTERFACE_ROWS, INTERFACE_ROWS + self.memory_tile_rows)",
        "return range(INTERFACE_ROWS, INTERFACE_ROWS + 1)",
        "tests/words/test_devices.py::test_the_device_of_aie_ml_v2",
    ),
    Mutant(
        "v2 streams are 32 bits wide",
        "arch/tiles.py",
        '_WIDE: dict[str, Any] = {"granule_bytes": 32, "stream_words": 2}',
        '_WIDE: dict[str, Any] = {"granule_bytes": 32, "stream_words": 1}',
        "tests/data/test_v2.py::test_headline_rate_is_words_of_a_beat_per_channel_and_cycle_both_ways",
    ),
    Mutant(
        "v2 banks are 128 bits wide",
        "arch/tiles.py",
        '_WIDE: dict[str, Any] = {"granule_bytes": 32, "stream_words": 2}',
        '_WIDE: dict[str, Any] = {"granule_bytes": 16, "stream_words": 2}',
        "tests/data/test_v2.py::test_a_bank_is_256_bits_wide",
    ),
    Mutant(
        "v2 vectors are 256 bits wide",
        "arch/core.py",
        '"AIE-ML v2": replace(CORE, vector_bits=512)',
        '"AIE-ML v2": replace(CORE, vector_bits=256)',
        "tests/timing/test_v2_cores.py::test_three_512_bit_ports_run_together_when_their_pairs_differ",
    ),
    Mutant(
        "v2 pads with zero",
        "model/dma/mm2s.py",
        "    if register < 0:\n",
        "    if register >= -1:\n",
        "tests/data/test_v2.py::test_padding_has_the_value_of_the_channels_register",
    ),
    Mutant(
        "v2 pads all channels with one register",
        "model/dma/mm2s.py",
        "register + st.channels.number[ch]])",
        "register])",
        "tests/data/test_v2.py::test_padding_has_the_value_of_the_channels_register",
    ),
    Mutant(
        "v2 steps of zero are one",
        "model/dma/bd_load.py",
        "if padded and fields[ch, f.STANDS_STILL]:",
        "if False:",
        "tests/data/test_v2.py::test_a_step_of_zero_sends_the_same_words_again",
    ),
    # npu2
    Mutant(
        "isolation of AIE2P where AIE-ML has it",
        "arch/registers_2p.py",
        'replace(before["Tile_Control"], offset=_TILE_CONTROL[module])',
        'before["Tile_Control"]',
        "tests/words/test_registers_2p.py::test_every_register_is_where_the_driver_has_it",
    ),
    Mutant(
        "AIE2P compresses as AIE-ML",
        "arch/tiles.py",
        '"generation": "AIE2P", "compression_known": False',
        '"generation": "AIE2P"',
        "tests/data/test_aie2p.py::test_a_run_that_would_need_the_compressed_format_is_refused",
    ),
    Mutant(
        "eight words of a granule share four bits of check-bit errors",
        "model/memory/ecc.py",
        "    granule = st.spec.kinds.granule_words[st.spec.tiles.kind[tile]]",
        "    granule = 4",
        "tests/data/test_aie2p.py::test_check_bit_errors_have_a_bit_for_each_of_eight_words",
    ),
    Mutant(
        "headers of five columns are for no device",
        "io/program/headers.py",
        "return columns == device.physical_columns > device.columns",
        "return False",
        "tests/faults/test_program_arrays.py::test_headers_of_npus",
    ),
    Mutant(
        "wide headers of older builds are npu1's",
        "io/program/headers.py",
        "        return [d for d in by_size if d is _NPU2]",
        "        return [_NPU1]",
        "tests/faults/test_program_arrays.py::test_headers_of_npus",
    ),
    Mutant(
        "memory tiles of AIE2P are taken for interface tiles",
        "model/column_clock.py",
        "np.flatnonzero(spec.kinds.external[spec.tiles.kind] == 1)",
        "np.flatnonzero(spec.register_index[spec.tiles.kind, _CLOCK.offset // WORD_BYTES] >= 0)",
        "tests/data/test_aie2p.py::test_row_0_holds_the_clock_and_the_reset_of_its_column",
    ),
    Mutant(
        "Cur_BD of an MM2S channel of AIE-ML v2 one bit too low",
        "model/build/model.py",
        "for at in k.status_base]",
        "for at in k.status_base[:1] * 2]",
        "tests/data/test_v2.py::test_status_of_an_interface_channel_has_the_fields_of_am029",
    ),
    Mutant(
        "the mask of a compressed group from the other end",
        "access/compression.py",
        'np.packbits(present, axis=1, bitorder="little")',
        'np.packbits(present, axis=1, bitorder="big")',
        "tests/silicon/test_compression_goldens.py::test_the_coder_is_phoenix",
    ),
    # Object FIFOs
    Mutant(
        "an object is sent once, however often it was asked for",
        "design/transfers.py",
        "descriptors=whole.descriptors * times",
        "descriptors=whole.descriptors",
        "tests/data/test_object_fifo.py::test_two_readers_get_their_parts_as_often_as_asked",
    ),
    Mutant(
        "a writer that gives one read instead of all",
        "design/protocols.py",
        "full.release(times))",
        "full.release())",
        "tests/data/test_object_fifo.py::test_what_a_memory_tile_holds_is_sent_as_often_as_asked",
    ),
    # External memory
    Mutant(
        "an external buffer without its own first word",
        "model/dma/external.py",
        "(address - st.regions[region, Region.FIRST])",
        "(address - st.regions[0, Region.FIRST])",
        "tests/data/test_interface_dma.py::test_buffers_may_change_between_runs",
    ),
    # What a server tells, and its memory
    Mutant(
        "lost pushes that nobody counts",
        "model/dma/task_queue.py",
        "c.pushes_lost[ch] += 1",
        "c.pushes_lost[ch] += 0",
        "tests/clients/test_serve_notices.py::test_lost_pushes",
    ),
    Mutant(
        "a halt that is told once and never again",
        "hosts/witness.py",
        "new = c.errors & ~self._errors & _STOPPING\n            self._errors = c.errors.copy()",
        "new = c.errors & ~self._errors & _STOPPING\n            self._errors |= c.errors",
        "tests/clients/test_serve_notices.py::test_each_halt_is_told_once_and_again_after_a_reset",
    ),
    Mutant(
        "repeats that use up what is told of a group",
        "hosts/notices.py",
        "if times > 1:\n            self._times[thing] = times",
        "if times > 1:\n            self._told[notice.group] += 1\n            self._times[thing] = times",
        "tests/clients/test_serve_notices.py::test_the_same_is_counted_and_keeps_nothing_new_from_being_told",
    ),
    Mutant(
        "a memory that begins where another one does",
        "hosts/external_memory.py",
        "at += -(-size // _ALIGNED) * _ALIGNED",
        "at += 0",
        "tests/clients/test_serve_memory.py::test_memories_are_read_and_written_over_the_socket_too",
    ),
    Mutant(
        "a file that is written although its load failed",
        "hosts/external_memory.py",
        """        try:
            yield memory
        finally:
            if keep:
                memory.save(log)
    finally:
""",
        """        yield memory
    finally:
        if keep:
            memory.save(log)
""",
        "tests/clients/test_serve_memory.py::test_a_file_that_is_no_array_is_not_overwritten",
    ),
    Mutant(
        "external memory without waiting for what was sent before",
        "hosts/linked/memtile_ess.c",
        "get(in->address); /*",
        "/*",
        "tests/clients/test_linked_host.py::test_a_linked_host_moves_data_through_the_array",
    ),
    # Tasks, packet ports, tilings
    Mutant(
        "iteration positions beyond their field",
        "access/lowering/tasks.py",
        "wraps[start] = wrap = min(turns, self.fields.iteration_wrap)",
        "wraps[start] = wrap = turns",
        "tests/data/test_lowering_tasks.py::test_writes_take_tasks_too",
    ),
    Mutant(
        "runs beyond a repeat count",
        "access/lowering/tasks.py",
        "runs[start], wraps[start] = min(turns, self.limits.runs), 1",
        "runs[start], wraps[start] = turns, 1",
        "tests/data/test_lowering_tasks.py::test_more_repetitions_than_a_repeat_count_are_more_tasks",
    ),
    Mutant(
        "one task alone, however many descriptors",
        "access/lowering/plan.py",
        "    if limits.tasks > 1 and (plan is None",
        "    if False and (plan is None",
        "tests/data/test_lowering_tasks.py::test_im2col_in_row_order_is_four_descriptors_in_two_tasks",
    ),
    Mutant(
        "zeros are not peeled off a loop",
        "access/lowering/chain.py",
        "    return peeled if pieces is None or len(peeled) < len(pieces) else pieces",
        "    return pieces",
        "tests/faults/test_lower_cli.py::test_a_tile_larger_than_padding_can_fill_takes_tasks_of_zeros",
    ),
    Mutant(
        "a guard on a transfer of several tasks",
        "design/transfers.py",
        "whole = self.in_one_run()\n        raise_if(list(whole._unguardable",
        "whole = self\n        raise_if(list(whole._unguardable",
        "tests/data/test_lowering_tasks.py::test_a_guarded_transfer_is_one_chain_of_one_run",
    ),
    Mutant(
        "several tasks are not repeated",
        "design/channels.py",
        "strict=True)] * plan.times",
        "strict=True)]",
        "tests/data/test_lowering_tasks.py::test_several_tasks_are_repeated_with_the_same_descriptors",
    ),
    Mutant(
        "a token after every task",
        "design/channels.py",
        "token and n == len(pushed)",
        "token",
        "tests/data/test_lowering_tasks.py::test_one_token_comes_after_the_last_task",
    ),
    Mutant(
        "any value as iteration",
        "design/lowered.py",
        "if iteration is None or isinstance(iteration, bool | np.bool_):",
        "if True:",
        "tests/data/test_lowering_tasks.py::test_iteration_is_a_truth_value_or_nothing",
    ),
    Mutant(
        "packet_port_id dropped by a channel",
        "design/packet_ports.py",
        "if transfer.port == NO_PORT:",
        "if True:",
        "tests/data/test_packet_ports.py::test_a_read_of_a_port_is_for_the_target_of_that_port_alone",
    ),
    Mutant(
        "a merge takes all packets for one stream",
        "design/packet_bus.py",
        "tuple(MergePlace(stream, bd, write.words)",
        "tuple(MergePlace(self.streams[0], bd, write.words)",
        "tests/data/test_packet_ports.py::test_a_merge_stores_each_packet_where_the_tiling_of_its_port_says",
    ),
    Mutant(
        "the default of buffer_dimension is the wrong way round",
        "access/tiling.py",
        "buffer_dimension=tuple(reversed(shape))",
        "buffer_dimension=tuple(shape)",
        "tests/data/test_packet_ports.py::test_a_tiling_without_buffer_dimension_is_of_the_memory_object",
    ),
)
