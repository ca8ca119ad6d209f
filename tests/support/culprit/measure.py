"""Scores of ``memtile`` on planted mistakes: does the first finding name the culprit?

By hand, from the folder of the checkout::

    PYTHONPATH=src:tests .venv/bin/python tests/support/culprit/measure.py --sample 300 --log FILE DESIGN ...

Designs are MLIR texts or folders of them; of each kind of mistake the same number is drawn, by seed. The log
has a line for each mutant; those that it has already are not run again, but judged again. ``--worst FOLDER``
writes the texts of the mutants that are not answered in full, and a list of them by who has to answer.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from memtile.errors import MemtileError
from memtile.explain.findings import Finding
from support.culprit.judge import Verdict, added, judged
from support.culprit.kinds import KINDS, SEED, Mutant, mutants, order
from support.culprit.runs import Repaired, checked, differs_otherwise, original, repaired, run, same
from support.culprit.scene import Scene
from support.culprit.texts import content, designs, own
from support.culprit.truth import latent
from support.mutated.mutated_runs import BAD, run_all

SECONDS = 240.0  # that one mutant may take
_SHORT = 3.0  # seconds of a run that is tried in other schedules too
_ROOM = 20_000  # cycles beyond four times those of the original


class Chosen(NamedTuple):
    """A mutant by the place that it comes from."""

    path: str
    kind: str
    number: int

    @property
    def key(self) -> str:
        """Its name in the log."""
        return f"{self.path} {self.kind} {self.number}"


def drawn(paths: Sequence[str], kinds: Sequence[str], sample: int, seed: int) -> list[Chosen]:
    """Mutants of all kinds in equal parts, by seed; ``sample`` of 0 = all."""
    by_kind = defaultdict[str, list[tuple[float, Chosen]]](list)
    for path in paths:
        for each in mutants(_scene(path), kinds):
            place = order(each.kind, _design(path), each.number, seed)
            by_kind[each.kind].append((place, Chosen(path, each.kind, each.number)))
    part = math.ceil(sample / len(by_kind)) if sample and by_kind else None
    found = [each for kind in by_kind.values() for _, each in sorted(kind)[:part]]
    return sorted(found)


def _design(path: str) -> str:
    """The name of a design, wherever its folder is."""
    return "/".join(Path(path).parts[-2:])


def mutant(scene: Scene, chosen: Chosen) -> Mutant:
    """A mutant of a design."""
    return next(each for each in mutants(scene, [chosen.kind]) if each.number == chosen.number)


def scored(chosen: Chosen, *, repairs: bool = False) -> dict[str, Any]:
    """What a run and a check say of a mutant."""
    try:
        of = original(chosen.path)
    except MemtileError as error:
        return {"effect": "", "skipped": f"the original is refused: {str(error).splitlines()[0][:120]}"}
    if of.outcome.status != "finished" or not of.outcome.good:
        return {"effect": "", "skipped": f"the original is {of.outcome.status}"}
    made = mutant(of.scene, chosen)
    text = made.text(of.scene.content)
    limit = 4 * of.outcome.cycles + _ROOM
    began = time.perf_counter()
    done = run(text, of.device, of.functions, of.facts, max_cycles=limit, expected=of.outcome.arrays)
    seconds = time.perf_counter() - began
    effect = done.status
    if done.status == "finished":
        effect = "" if same(done.arrays, of.outcome.arrays) else "words"
        if not effect and latent(of.scene, Scene("design.mlir", text)):
            effect = "latent"
        elif not effect and seconds < _SHORT and differs_otherwise(text, of, limit):
            effect = "luck"
        elif not effect and abs(done.cycles - of.outcome.cycles) > of.outcome.cycles / 50:
            effect = "time"
    before = checked(text, of.device, of.facts)
    tried = repaired(text, of, limit) if repairs and effect not in (*LEFT_OUT, "latent") else None
    return {
        "effect": effect,
        "good": done.good,
        "run": [each.as_json() for each in added(done.findings, of.outcome.findings)],
        "check": [each.as_json() for each in added(before, of.checked)],
        "seconds": round(seconds, 2),
        **({"repair": tried._asdict()} if tried is not None else {}),
    }


class Answer(NamedTuple):
    """What was said of a mutant, and what it is worth.

    Attributes:
        chosen: which mutant.
        made: it.
        effect: how it ends, or why it is left out.
        good: a run says that all is well.
        run: the verdict on the findings of a run.
        check: that on what a check finds before.
        why: what ``memtile`` did not survive.
        repair: what became of a repair; None = none was asked for.
    """

    chosen: Chosen
    made: Mutant
    effect: str
    good: bool
    run: Verdict
    check: Verdict
    why: str = ""
    repair: Repaired | None = None

    @property
    def counts(self) -> bool:
        """Whether something has to be said about it."""
        return self.effect not in LEFT_OUT and self.effect not in BAD

    @property
    def lost(self) -> bool:
        """Whether ``memtile`` came to no answer."""
        return self.effect in BAD


@lru_cache(maxsize=64)
def _scene(path: str) -> Scene:
    return Scene("design.mlir", content(path))


def answer(chosen: Chosen, score: Mapping[str, Any]) -> Answer:
    """The verdicts on what was said of a mutant."""
    scene = _scene(chosen.path)
    made = mutant(scene, chosen)
    words = KINDS[chosen.kind].words
    ran, before = (
        judged([Finding.from_json(each) for each in score.get(key, ())], made.changed, words, scene)
        for key in ("run", "check")
    )
    why = f"{score.get('skipped', '')}{score.get('says', '')}"
    repair = Repaired(**score["repair"]) if "repair" in score else None
    return Answer(chosen, made, score["effect"], bool(score.get("good")), ran, before, why, repair)


def work(chosen: Sequence[Chosen], repairs: bool, number: int) -> Callable[[], str]:
    """What a process does for a number."""

    def answered() -> str:
        gc.collect()  # models refer to themselves, and each has some hundred megabytes of addresses
        return json.dumps(scored(chosen[number], repairs=repairs))

    return answered


def measured(
    chosen: Sequence[Chosen], log: Path | None, processes: int, *, repairs: bool = False
) -> Iterator[tuple[Chosen, dict[str, Any]]]:
    """The scores of mutants, those of the log first; with no process these alone."""
    known = _read(log) if log is not None else {}
    for each in chosen:
        if each.key in known:
            yield each, known[each.key]
    left = [each for each in chosen if each.key not in known] if processes else []
    for found in run_all(range(len(left)), partial(work, left, repairs), processes, SECONDS) if left else ():
        ended = found.kind == "result"
        score = (
            json.loads(found.says)
            if ended
            else {"effect": found.kind, "says": found.says, "text": found.text}
        )
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps({'key': left[found.number].key, **score})}\n")
        yield left[found.number], score


def _read(log: Path) -> dict[str, dict[str, Any]]:
    if not log.exists():
        return {}
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return {line.pop("key"): line for line in lines}


LEFT_OUT = ("", "time")
"""Effects about which nothing has to be said: none, and more time alone."""


class Row(NamedTuple):
    """The scores of a kind, as counts."""

    broken: int
    found: int
    culprit: int
    names: int
    innocents: int
    good: int
    before: int
    culprit_before: int
    innocents_before: int


def row(answers: Iterable[Answer]) -> Row:
    """The counts of some answers."""
    broken = [each for each in answers if each.counts]
    return Row(
        len(broken),
        sum(each.run.found for each in broken),
        sum(each.run.culprit for each in broken),
        sum(each.run.names for each in broken),
        sum(bool(each.run.innocents) for each in broken),
        sum(each.good for each in broken),
        sum(each.check.found for each in broken),
        sum(each.check.culprit for each in broken),
        sum(bool(each.check.innocents) for each in broken),
    )


def table(answers: Sequence[Answer]) -> str:
    """The counts of all kinds, and the parts of the broken that are answered by the culprit."""
    titles = ("broken", "found", "culprit", "named", "innocent", "good", "check", "culprit", "innocent")
    lines = [f"{'kind':<26}{''.join(f'{title:>9}' for title in titles)}     run names check"]
    for name in KINDS:
        of_kind = [each for each in answers if each.chosen.kind == name]
        if of_kind:
            lines.append(_line(name, row(of_kind)))
    return "\n".join([*lines, _line("all", row(answers))])


def _line(name: str, counts: Row) -> str:
    shown = "".join(f"{count:>9}" for count in counts)
    many = max(1, counts.broken)
    parts = f"{counts.culprit / many:>8.0%}{counts.names / many:>6.0%}{counts.culprit_before / many:>6.0%}"
    return f"{name:<26}{shown}{parts}"


def repairs_line(answers: Iterable[Answer]) -> str:
    """How many repairs were offered and right."""
    tried = [each.repair for each in answers if each.counts and each.repair is not None]
    offered, right = sum(each.offered for each in tried), sum(each.right for each in tried)
    most = max((each.seconds for each in tried), default=0.0)
    return (
        f"repairs: offered for {offered} of {len(tried)}, {right} right; a search takes {most:.1f} s at most"
    )


def numbers(answers: Sequence[Answer]) -> str:
    """Three numbers of each kind: the culprit is first in a run, in a check, and what is wrong is said."""
    lines = [f"{'planted mistake':<26}{'broken':>8}{'run':>7}{'check':>7}{'said':>7}"]
    for name in (*KINDS, "all"):
        counts = row([each for each in answers if name in (each.chosen.kind, "all")])
        if counts.broken:
            parts = (counts.culprit, counts.culprit_before, counts.names)
            shown = "".join(f"{part / counts.broken:>7.0%}" for part in parts)
            lines.append(f"{name:<26}{counts.broken:>8}{shown}")
    total = row(answers)
    lines.append(
        f"an innocent is blamed by {total.innocents} of {total.broken}, before a run {total.innocents_before}"
    )
    lines.append(f"without a finding {total.broken - total.found}, good {total.good}")
    return "\n".join(lines)


def answers_of(
    paths: Sequence[str],
    kinds: Sequence[str] = tuple(KINDS),
    *,
    sample: int = 0,
    seed: int = SEED,
    log: Path | None = None,
    processes: int = 2,
    repairs: bool = False,
) -> list[Answer]:
    """What is said of the mutants of some designs."""
    chosen = drawn(paths, kinds, sample, seed)
    return [answer(each, score) for each, score in measured(chosen, log, processes, repairs=repairs)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("designs", nargs="*", type=Path, help="files and folders; our own if omitted")
    parser.add_argument("--sample", type=int, default=0, help="mutants, of all kinds in equal parts; 0 = all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kinds", nargs="*", default=[], help="names of kinds, or parts of them")
    parser.add_argument("--log", type=Path)
    parser.add_argument("--worst", type=Path, help="folder for the mutants that are not answered in full")
    parser.add_argument("--processes", type=int, default=2, help="0 = only judge what the log has")
    parser.add_argument(
        "--numbers", action="store_true", help="three numbers of each kind instead of all counts"
    )
    parser.add_argument("--repairs", action="store_true", help="try repairs of them too")
    given = parser.parse_args()
    kinds = [name for name in KINDS if not given.kinds or any(part in name for part in given.kinds)]
    paths = designs(given.designs) if given.designs else own()
    more = {"sample": given.sample, "seed": given.seed, "log": given.log, "processes": given.processes}
    more["repairs"] = given.repairs
    answers = answers_of(paths, kinds, **more)
    print(numbers(answers) if given.numbers else table(answers))
    if given.repairs:
        print(repairs_line(answers))
    if not given.numbers:
        left = Counter(
            each.why or f"left out: {each.effect or 'no effect'}" for each in answers if not each.counts
        )
        print("\n".join(f"{many:5} {why}" for why, many in left.most_common()))
    if given.worst is not None:
        write_worst(answers, given.worst)
    return 0


_ASPECTS: Sequence[tuple[str, Callable[[Answer], bool]]] = (
    ("NO FINDING", lambda each: not each.run.found),
    ("GOOD", lambda each: each.good),
    ("NOT THE CULPRIT", lambda each: each.run.found and not each.run.culprit),
    ("NOT WHAT IS WRONG", lambda each: each.run.culprit and not each.run.names),
    ("BLAMES AN INNOCENT", lambda each: bool(each.run.innocents)),
    ("CHECK BLAMES AN INNOCENT", lambda each: bool(each.check.innocents)),
    ("CHECK NOT THE CULPRIT", lambda each: each.check.found and not each.check.culprit),
    ("CHECK SILENT", lambda each: not each.check.found),
)


def write_worst(answers: Iterable[Answer], folder: Path) -> None:
    """Write the texts of mutants that are not answered in full, and in ``FAILS.md`` a list by owner."""
    folder.mkdir(parents=True, exist_ok=True)
    by_owner = defaultdict[str, list[str]](list)
    for each in answers:
        why = [name for name, fails in _ASPECTS if each.counts and fails(each)]
        if why and why != ["CHECK SILENT"]:
            by_owner[KINDS[each.chosen.kind].owner].append(_written(each, why, folder))
    parts = [f"# {owner}: {len(each)}\n\n{chr(10).join(each)}" for owner, each in sorted(by_owner.items())]
    (folder / "FAILS.md").write_text("\n".join(parts), encoding="utf-8")


def _written(each: Answer, why: Sequence[str], folder: Path) -> str:
    """Write the text of a mutant; returns what is listed of it."""
    before = _scene(each.chosen.path).content
    text = each.made.text(before)
    design = _design(each.chosen.path).replace("/", "-").rpartition(".")[0]
    file = folder / f"{each.chosen.kind}-{design}-{each.chosen.number}.mlir"
    file.write_text(text, encoding="utf-8")
    lines = difflib.unified_diff(before.splitlines(), text.splitlines(), lineterm="", n=0)
    rows = [
        f"    {line[:1]} {line[1:].strip()}"
        for line in list(lines)[2:]
        if line[0] != "@" and line[1:].strip()
    ]
    shown = [
        f"### {each.chosen.kind}: {', '.join(why)}",
        f"{file} (line {each.made.changed.lines[0]}; {each.effect})",
        f"- changed: {each.made.about}",
        *rows[:6],
        f"- run: {each.run.first or 'nothing'}",
        f"- check: {each.check.first or 'nothing'}",
        *(f"- innocent: {said}" for verdict in (each.run, each.check) for said in verdict.innocents),
    ]
    return "\n".join([*shown, ""])


if __name__ == "__main__":
    raise SystemExit(main())
