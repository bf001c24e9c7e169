#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes wgmma_tf32.cuh: for each width N of wgmma m64nNk8 in tf32 with fp32 accumulators, a function that takes A from
shared memory and one that takes it from registers.

The instruction takes its N/2 accumulator registers by name, so that each width needs its own text.
Usage: python3 generate_wgmma.py | clang-format > wgmma_tf32.cuh
"""

WIDTHS = [16, 32, 64, 128, 192, 256]

print("""// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Written by generate_wgmma.py: change that.
#pragma once

#include <cstdint>

namespace tessera::cuda::sm90a {

/// d (64 x N, fp32, this warpgroup) += or = A (64 x 8) * B (8 x N), both tf32, K-major; B from shared memory, A from
/// there too or from registers, of which a thread holds rows lane / 4 and that + 8, columns lane % 4 and that + 4.
/// `accumulate` = 0 overwrites d.
template <int N>
struct WgmmaTf32;
""")
for n in WIDTHS:
    regs = n // 2
    lines = []
    for start in range(0, regs, 8):
        lines.append('"' + ", ".join(f"%{i}" for i in range(start, start + 8)) + (', "' if start + 8 < regs else '}, "'))
    operand = "\n        ".join(lines)
    outputs = ",\n          ".join(", ".join(f'"+f"(d[{i}])' for i in range(s, s + 4)) for s in range(0, regs, 4))
    print(f"template <>\nstruct WgmmaTf32<{n}> {{")
    print(f"  static __device__ __forceinline__ void run(float (&d)[{regs}], std::uint64_t a, std::uint64_t b, int accumulate) {{")
    print(f"""      asm volatile(
        "{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{regs + 2}, 0;\\n"
        "wgmma.mma_async.sync.aligned.m64n{n}k8.f32.tf32.tf32 {{"
        {operand}
        "%{regs}, %{regs + 1}, p, 1, 1;\\n}}\\n"
        : {outputs}
        : "l"(a), "l"(b), "r"(accumulate));""")
    print("  }")
    print(f"  static __device__ __forceinline__ void run(float (&d)[{regs}], const std::uint32_t (&a)[4], std::uint64_t b, int accumulate) {{")
    print(f"""      asm volatile(
        "{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{regs + 5}, 0;\\n"
        "wgmma.mma_async.sync.aligned.m64n{n}k8.f32.tf32.tf32 {{"
        {operand}
        "{{%{regs}, %{regs + 1}, %{regs + 2}, %{regs + 3}}}, %{regs + 4}, p, 1, 1;\\n}}\\n"
        : {outputs}
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));""")
    print("  }\n};\n")
print("}  // namespace tessera::cuda::sm90a")
