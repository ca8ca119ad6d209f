"""A matrix product on one core, written with IRON: C = A B, in tiles of m x k and k x n.

``memtile run examples/iron/gemm.py --M 128`` runs it as it is; ``memtile sweep examples/iron/gemm.py --vary
m=16,32,64`` looks for the best tiles.
"""

import argparse

import aie.iron as iron
import numpy as np
from aie.helpers.taplib import TensorAccessPattern
from aie.iron import CompileTime, In, ObjectFifo, Out, Program, Runtime, TaskGroup, Worker, kernels
from aie.iron.controlflow import range_
from aie.utils.verify import assert_pass


@iron.jit
def gemm(
    a: In,
    b: In,
    c: Out,
    *,
    M: CompileTime[int],
    K: CompileTime[int],
    N: CompileTime[int],
    m: CompileTime[int] = 32,
    k: CompileTime[int] = 32,
    n: CompileTime[int] = 32,
    depth: CompileTime[int] = 2,
):
    """The design: a worker between memory tiles, which bring tiles into the order of the kernel and back."""
    multiply = kernels.mm(dim_m=m, dim_k=k, dim_n=n, input_dtype=np.int16, output_dtype=np.int32)
    r, s, t = multiply.mac_dims
    if M % m or K % k or N % n or m % r or k % s or n % t:
        raise ValueError(f"tiles of {m} x {k} x {n} do not fit {M} x {K} x {N} and blocks of {r} x {s} x {t}")

    part_a, part_b = (np.ndarray[shape, np.dtype[np.int16]] for shape in ((m, k), (k, n)))
    part_c = np.ndarray[(m, n), np.dtype[np.int32]]
    a_far, b_far = ObjectFifo(part_a, name="a", depth=depth), ObjectFifo(part_b, name="b", depth=depth)
    c_near = ObjectFifo(part_c, name="c_core", depth=depth)
    a_near = a_far.cons().forward(
        name="a_core", dims_to_stream=[(m // r, r * k), (k // s, s), (r, k), (s, 1)]
    )
    b_near = b_far.cons().forward(
        name="b_core", dims_to_stream=[(k // s, s * n), (n // t, t), (s, n), (t, 1)]
    )
    c_far = c_near.cons().forward(name="c", dims_to_stream=[(m // r, r * n), (r, t), (n // t, r * t), (t, 1)])

    def core(in_a, in_b, out_c, clear, product):
        for _ in range_(M // m * (N // n)):
            part = out_c.acquire(1)
            clear(part)
            for _ in range_(K // k):
                product(in_a.acquire(1), in_b.acquire(1), part)
                in_a.release(1)
                in_b.release(1)
            out_c.release(1)

    worker = Worker(core, [a_near.cons(), b_near.cons(), c_near.prod(), multiply.zero, multiply])

    def sequence(a_in, b_in, c_out, to_a, to_b, from_c):
        for row in range(M // m):
            group = TaskGroup()
            of_a = TensorAccessPattern((M, K), row * m * K, [N // n, K // k, m, k], [0, k, K, 1])
            of_b = TensorAccessPattern((K, N), 0, [N // n, K // k, k, n], [n, k * N, N, 1])
            of_c = TensorAccessPattern((M, N), row * m * N, [1, N // n, m, n], [0, n, N, 1])
            to_a.fill(a_in, tap=of_a, group=group)
            to_b.fill(b_in, tap=of_b, group=group)
            from_c.drain(c_out, tap=of_c, group=group, wait=True)
            group.finish()

    matrices = [np.ndarray[(size,), np.dtype[np.int16]] for size in (M * K, K * N)]
    result = np.ndarray[(M * N,), np.dtype[np.int32]]
    host = Runtime(sequence, [*matrices, result, a_far.prod(), b_far.prod(), c_far.cons()])
    return Program(iron.get_current_device(), host, workers=[worker]).resolve_program()


def main():
    """Run it with random numbers, and compare with NumPy."""
    parser = argparse.ArgumentParser()
    for name, usual in (("M", 64), ("K", 64), ("N", 64), ("m", 32), ("k", 32), ("n", 32)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    opts = parser.parse_args()

    chance = np.random.default_rng(0)
    a = chance.integers(-99, 99, (opts.M, opts.K), dtype=np.int16)
    b = chance.integers(-99, 99, (opts.K, opts.N), dtype=np.int16)
    c = iron.zeros(opts.M * opts.N, dtype=np.int32)
    gemm(iron.tensor(a.reshape(-1)), iron.tensor(b.reshape(-1)), c, **vars(opts))
    product = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int32)  # exact below 2**53
    assert_pass(c.numpy().reshape(opts.M, opts.N), product)


if __name__ == "__main__":
    main()
