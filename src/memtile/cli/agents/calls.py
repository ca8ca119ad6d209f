"""A call of a tool in a thread of its own, which ends when nobody waits for its answer any more."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(call: Callable[[], T]) -> T:
    """What ``call`` returns; if the client takes the call back, or leaves, it is told as Ctrl-C tells it.

    The process does not wait for its end: a design may be anywhere, also where nothing reaches it.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def give(set_it: Callable[[], None]) -> None:
        if not answer.done():
            set_it()

    def work() -> None:
        try:
            result = call()
        except KeyboardInterrupt:
            return  # nobody waits
        except Exception as error:  # whose it is the awaiting side knows
            loop.call_soon_threadsafe(give, lambda error=error: answer.set_exception(error))
        else:
            loop.call_soon_threadsafe(give, lambda: answer.set_result(result))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        return await answer
    except asyncio.CancelledError:
        interrupt(thread)
        raise


def interrupt(thread: threading.Thread) -> None:
    """Raise KeyboardInterrupt in a thread, when it next is in Python."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt)
        )
