"""Adds a number to each element of a vector."""

import argparse

import aie.iron as iron
import numpy as np
from aie.iron import CompileTime, In, ObjectFifo, Out, Program, Runtime, Worker
from aie.iron.controlflow import range_
from aie.utils.verify import assert_pass


@iron.jit
def add(_a: In, _c: Out, *, size: CompileTime[int], tile: CompileTime[int] = 16, plus: CompileTime[int] = 1):
    vector = np.ndarray[(size,), np.dtype[np.int32]]
    part = np.ndarray[(tile,), np.dtype[np.int32]]
    of_in, of_out = ObjectFifo(part, name="in"), ObjectFifo(part, name="out")

    def core(fin, fout):
        for _ in range_(size // tile):
            x, y = fin.acquire(1), fout.acquire(1)
            for i in range_(tile):
                y[i] = x[i] + plus
            fin.release(1)
            fout.release(1)

    worker = Worker(core, [of_in.cons(), of_out.prod()])

    def sequence(a_in, c_out, fin, fout):
        fin.fill(a_in)
        fout.drain(c_out, wait=True)

    rt = Runtime(sequence, [vector, vector, of_in.prod(), of_out.cons()])
    return Program(iron.get_current_device(), rt, workers=[worker]).resolve_program()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=64)
    p.add_argument("--tile", type=int, default=16, choices=[8, 16, 32, 64])
    p.add_argument("--quiet", action="store_true")
    opts = p.parse_args()
    a = iron.arange(opts.size, dtype=np.int32)
    c = iron.zeros(opts.size, dtype=np.int32)
    add(a, c, size=opts.size, tile=opts.tile)
    assert_pass(c.numpy(), a.numpy() + 1, print_pass=not opts.quiet)


if __name__ == "__main__":
    main()
