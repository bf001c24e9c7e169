#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The constants of tests/portable_bits.cpp, by the tree that level1/fixed_tree.hpp describes.

One IEEE operation at a time (Python's floats are fp64; math.fma needs Python 3.13), on values made as the test makes
them. Prints, for each element type, the bits of sum, dot, asum and nrm2.

    fixed_tree.py [n]        100003, or another n: minutes for ten million
"""
import math
import struct
import sys

MASK = (1 << 64) - 1


def scramble(z):
    z = ((z + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def spread(z, bits, toward_zero):
    """A value of magnitude 2^-66 to 2^66; the next one towards zero where asked."""
    exponent, sign = (z >> 52) % 133 - 66, z & 1
    if bits == 64:
        pattern = ((1023 + exponent) << 52 | ((z >> 1) & 0xFFFFFFFFFFFFF)) - toward_zero
        return struct.unpack("<d", struct.pack("<Q", pattern | sign << 63))[0]
    pattern = ((127 + exponent) << 23 | ((z >> 1) & 0x7FFFFF)) - toward_zero
    return struct.unpack("<f", struct.pack("<I", pattern | sign << 31))[0]


def x_part(i, p, n, bits):
    return spread(scramble(2 * (i % (n // 2)) + p), bits, i >= n // 2)


def y_part(i, p, n, bits):
    v = spread(scramble((2 * (i % (n // 2)) + p) ^ 0xABCDEF), bits, False)
    return v if i < n // 2 else -v


def halves(values):
    w = len(values) // 2
    while w > 0:
        for j in range(w):
            values[j] = values[j] + values[j + w]
        w //= 2
    return values[0]


def follow(n, width, take):
    row = 32 * width
    whole = -(-n // row)
    rows = max(-(-whole // 32768), 1024 // row)
    length = rows * row
    slots = [0.0] * 256
    for group in range(-(-n // (8 * length))):
        strands = []
        for s in range(8):
            begin = (group * 8 + s) * length
            lanes = []
            for j in range(row):
                lane = 0.0
                for i in range(begin + j, min(begin + length, n), row):
                    lane = take(lane, i)
                lanes.append(lane)
            strands.append(halves(lanes))
        slots[group % 256] = slots[group % 256] + halves(strands)
    return halves(slots)


def pattern(value, bits):
    return struct.unpack("<Q", struct.pack("<d", value))[0] if bits == 64 else struct.unpack(
        "<I", struct.pack("<f", value))[0]


def mixed(re, im, bits):
    a, b = pattern(re, bits), pattern(im, bits)
    # a 32-bit pattern is turned within 64 bits as the test does
    return a ^ ((b << 17 | b >> 47) & MASK)


def results(n, bits, parts):
    width = 128 // (bits * parts)
    x = [[x_part(i, p, n, bits) for i in range(n)] for p in range(parts)]
    y = [[y_part(i, p, n, bits) for i in range(n)] for p in range(parts)]

    def total(term):
        return follow(n, width, term)

    sums = [total(lambda s, i, v=v: s + v[i]) for v in x]
    magnitudes = [total(lambda s, i, v=v: s + abs(v[i])) for v in x]
    squares = [total(lambda s, i, v=v: math.fma(v[i], v[i], s)) for v in x]

    def products(p, q):
        return total(lambda s, i: math.fma(x[p][i], y[q][i], s))

    if parts == 1:
        return [pattern(v, bits) for v in (sums[0], products(0, 0), magnitudes[0], math.sqrt(squares[0]))]
    return [mixed(sums[0], sums[1], bits),
            mixed(products(0, 0) - products(1, 1), products(0, 1) + products(1, 0), bits),
            pattern(magnitudes[0] + magnitudes[1], bits), pattern(math.sqrt(squares[0] + squares[1]), bits)]


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100003
    for name, bits, parts in (("float", 32, 1), ("double", 64, 1), ("complex<float>", 32, 2), ("complex<double>", 64, 2)):
        print(name, ", ".join(f"0x{v:x}u" for v in results(n, bits, parts)))


main()
