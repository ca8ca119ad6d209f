"""What the factories of kernels have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import ml_dtypes
import numpy as np

from memtile.iron.helpers.util import array_type
from memtile.iron.kernel import ExternalFunction
from memtile.iron.utils import config, get_current_device
from memtile.iron.utils.compile import resolve_target_arch

bfloat16 = ml_dtypes.bfloat16
_EXTERN_CACHE: dict[Any, ExternalFunction] = {}


def arch() -> str:
    """``aie2`` or ``aie2p``, of the device that is chosen; ``aie2`` if none is."""
    device = get_current_device(probe_runtime=False)
    return "aie2" if device is None else resolve_target_arch(device)


def array(size: Any, dtype: Any) -> Any:
    """NumPy's type of an array of one dimension, or of several."""
    shape = size if isinstance(size, tuple) else (size,)
    return array_type(shape, dtype)


def source(file: str, folder: str | None = None) -> Path:
    """Where the source of a kernel is, or would be."""
    root = config.checkout()
    places = [folder or arch(), "aie2", "generic"]
    if root is None:
        return Path("aie_kernels") / places[0] / file
    found = [root / "aie_kernels" / place / file for place in places]
    return next((path for path in found if path.exists()), found[0])


def includes() -> list[str]:
    """Where headers are looked for."""
    root = config.checkout()
    return [] if root is None else [str(root)]


def kernel(
    name: str,
    file: str,
    arg_types: Sequence[Any],
    flags: Sequence[str] = (),
    *,
    folder: str | None = None,
    use_chess: bool = False,
    object_file_name: str | None = None,
) -> ExternalFunction:
    """A kernel of the library; the same one for the same arguments."""
    path = source(file, folder)
    key = (name, str(path), tuple(map(_type_key, arg_types)), tuple(flags), use_chess)
    found = _EXTERN_CACHE.get(key)
    if found is not None:
        ExternalFunction._instances.add(found)
        return found
    digest = hashlib.sha256(repr(key).encode()).hexdigest()[:8]
    made = ExternalFunction(
        name,
        object_file_name=object_file_name or f"{name}_{digest}.o",
        source_file=str(path),
        arg_types=list(arg_types),
        include_dirs=includes(),
        compile_flags=list(flags),
        symbol_prefix=None if object_file_name or use_chess else digest,
        use_chess=use_chess,
    )
    _EXTERN_CACHE[key] = made
    return made


def _type_key(type: Any) -> Any:
    inner = get_args(type)
    return (tuple(inner[0]), str(get_args(inner[1])[0])) if inner else repr(type)


def bits(dtype: Any, who: str) -> int:
    """8, 16 or 32 bits of an element.

    Raises:
        ValueError: of another type.
    """
    found = {np.dtype(np.uint8): 8, np.dtype(np.int16): 16, np.dtype(np.int32): 32}.get(np.dtype(dtype))
    if found is None:
        raise ValueError(f"{who}() has elements of uint8, int16 or int32, not {np.dtype(dtype)}")
    return found


def fixed(who: str, tile_size: int, size: int = 1024) -> None:
    """Refuse another size than the C++ has.

    Raises:
        ValueError: it is another.
    """
    if tile_size != size:
        raise ValueError(f"{who}() has {size} elements in its C++, not {tile_size}")


def one_of(who: str, what: str, given: Any, allowed: Sequence[Any]) -> Any:
    """One of the types that a kernel has.

    Raises:
        ValueError: another one.
    """
    if given not in allowed:
        names = ", ".join(np.dtype(each).name for each in allowed)
        raise ValueError(f"{who}(): {what} is {names}, not {given}")
    return given


def whole_words(dtype: Any) -> int:
    """The least number of elements that fill words of 32 bits."""
    return max(1, -(-4 // int(np.dtype(dtype).itemsize)))
