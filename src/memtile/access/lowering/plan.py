"""The plan of a transfer: the chains that a channel gets as its tasks, with the fewest descriptors."""

from __future__ import annotations

from memtile.access.lowering.chain import Chain, best_chain
from memtile.access.lowering.fit import Fields
from memtile.access.lowering.nest import Item
from memtile.access.lowering.search import fewest, fewest_in_tasks
from memtile.access.lowering.tasks import Limits, cost, fewest_tasks
from memtile.access.walk import Addresses

SEARCHED_WORDS = 256  # streams up to here are searched exhaustively for one chain, in milliseconds
SEARCHED_IN_TASKS = 16  # and up to here for several tasks
_COUNTED = 1 << 12  # how far descriptors of one chain are counted for a message
_FACTOR = 4  # times what there is, how far those of several tasks are


def best_plan(
    items: tuple[Item, ...] | None, asked: Addresses, fields: Fields, limits: Limits
) -> tuple[Chain, ...] | None:
    """The fewest descriptors: by rewriting loops, and for a short stream never more than a search finds.

    Args:
        items: what to move, in words; None when it cannot be said in whole words.
        asked: the same word by word.
        fields: of the tile kind.
        limits: of one channel.

    Returns:
        Chains to run one after the other, each as a task; None when there are none within the limits.
    """
    chain = None if items is None else best_chain(items, fields, limits.bds, limits.runs)
    enough = limits.bds if chain is None else len(chain.shapes) - 1
    if enough and len(asked) <= SEARCHED_WORDS:
        chain = fewest(asked, fields, enough, limits.runs) or chain
    plan: tuple[Chain, ...] | None = None if chain is None else (chain,)
    if limits.tasks > 1 and (plan is None or cost(plan)[0] > 1):
        plans = (plan, None if items is None else fewest_tasks(items, fields, limits))
        plan = min((found for found in plans if found is not None), key=cost, default=None)
        bds, tasks = (limits.bds, 1) if plan is None else cost(plan)[:2]
        if len(asked) <= SEARCHED_IN_TASKS:
            fewer = limits._replace(bds=bds if plan is None or tasks > 1 else bds - 1)
            plans = (plan, fewest_in_tasks(asked, fields, fewer))
            plan = min((found for found in plans if found is not None), key=cost, default=None)
    return plan


def bds_needed(items: tuple[Item, ...], fields: Fields, limits: Limits) -> int | None:
    """Descriptors that there would have to be; None for too many to count."""
    more = limits._replace(bds=_FACTOR * limits.bds)
    chain = best_chain(items, fields, _COUNTED, limits.runs)
    plan = fewest_tasks(items, fields, more) if limits.tasks > 1 else None
    return min((cost(found)[0] for found in ((chain,) if chain else None, plan) if found), default=None)
