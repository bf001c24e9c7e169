#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes wgmma.cuh: one inline function for each width N of wgmma m64nNk16 with fp32 accumulators.

The instruction takes its N/2 accumulator registers by name, so that each width needs its own text.
Usage: python3 generate_wgmma.py | clang-format > wgmma.cuh
"""

WIDTHS = [16, 32, 64, 128, 192, 256]

print("""// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Written by generate_wgmma.py: change that.
#pragma once

#include <cstdint>

namespace tessera::cuda::sm90a {

/// d (64 x N, fp32, this warpgroup) += or = A (64 x 16) * B (16 x N) from shared memory; IsBf16 or fp16 operands,
/// each K-major or, transposed, MN-major. `accumulate` = 0 overwrites d.
template <int N, bool IsBf16, int TransposeA, int TransposeB>
struct Wgmma;
""")
for n in WIDTHS:
    regs = n // 2
    lines = []
    for start in range(0, regs, 8):
        lines.append('"' + ", ".join(f"%{i}" for i in range(start, start + 8)) + (', "' if start + 8 < regs else '}, "'))
    operand = "\n        ".join(lines)
    outputs = ",\n          ".join(", ".join(f'"+f"(d[{i}])' for i in range(s, s + 4)) for s in range(0, regs, 4))
    print(f"template <bool IsBf16, int TransposeA, int TransposeB>\nstruct Wgmma<{n}, IsBf16, TransposeA, TransposeB> {{")
    print(f"  static __device__ __forceinline__ void run(float (&d)[{regs}], std::uint64_t a, std::uint64_t b, int accumulate) {{")
    for branch, types in (("if constexpr (IsBf16)", "bf16.bf16"), ("else", "f16.f16")):
        print(f"    {branch}")
        print(f"""      asm volatile(
        "{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{regs + 2}, 0;\\n"
        "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{types} {{"
        {operand}
        "%{regs}, %{regs + 1}, p, 1, 1, %{regs + 3}, %{regs + 4};\\n}}\\n"
        : {outputs}
        : "l"(a), "l"(b), "r"(accumulate), "n"(TransposeA), "n"(TransposeB));""")
    print("  }\n};\n")
print("}  // namespace tessera::cuda::sm90a")
