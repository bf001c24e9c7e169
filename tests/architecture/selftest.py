#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proves that lint.py finds what it promises to find: plants one fault at a time into a small clean tree."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree may be read-only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lint  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"

# What may be written. Words in comments and strings are only words.
CLEAN = {
    "core/include/tessera/core/portability.hpp": SPDX + "#pragma once\n#if defined(__CUDACC__)\n#define F __host__\n#endif\n",
    "core/include/tessera/core/execution.hpp": SPDX + "#pragma once\n#include <Kokkos_Core.hpp>\n"
    "// Kokkos::Cuda, Kokkos::Impl and cublasSgemm are words here\n"
    "template <class S> using Range = Kokkos::RangePolicy<S, Kokkos::IndexType<long>>;\n"
    "inline const char* text = \"cuda is not code: Kokkos::Impl\"; /* nccl\n hipMalloc */\n"
    "inline const char* raw = R\"(cudaMalloc)\"; constexpr long big = 1'000'000;\n",
    "algorithms/include/tessera/x/problem.hpp": SPDX + "#pragma once\n#include <tessera/core/refs.hpp>\n",
    "algorithms/include/tessera/x/any_type.hpp": SPDX + "#pragma once\n#include <tessera/backends/enabled.hpp>\n"
    "void f() {\n  Kokkos::parallel_for(\"tessera::x::a\", Range<S>(exec, 0, n), g);\n"
    "  Kokkos::parallel_reduce(label(\"x\", \"b\"), Teams<S>(exec, n, 1), g, r);\n"
    "  const Range<S> all(exec, 0, n); Kokkos::parallel_for(c ? \"tessera::x::a\" : \"tessera::x::b\", all, g);\n"
    "  Kokkos::parallel_for(Kokkos::TeamThreadRange(t, 4), [&](int) {});\n"
    "  Kokkos::MDRangePolicy<S, Kokkos::Rank<3>, Kokkos::IndexType<long>> policy(exec, a, b);\n"
    "  Kokkos::View<double*, S> scratch(Kokkos::view_alloc(exec, \"tessera::x::scratch\"), n);\n"
    "  exec.fence(\"tessera::x\"); relationship(chip, cubic, cute);\n}\n",
    "backends/include/tessera/backends/enabled.hpp": SPDX + "#pragma once\n#ifdef KOKKOS_ENABLE_CUDA\n#endif\n",
    "backends/cuda/x.cpp": SPDX + "#include <cuda_runtime.h>\n#include <tessera/x/problem.hpp>\nint i = cudaMalloc;\n",
    "apps/a/main.cpp": SPDX + "#include <tessera/backends/inventory.hpp>\n#include <tessera/x.hpp>\n",
    "README.md": "Text about CUDA and ~/work/ and build/work/x.\n",
}

HEADER = SPDX + "#pragma once\n"
# (rule, path, text): each must be found, at its rule, in its file
FAULTS = [
    ("spdx", "core/src/a.cpp", "int i;\n"),
    ("spdx", "cmake/A.cmake", "set(a b)\n"),
    ("vendor", "core/src/a.cpp", SPDX + "int i = cudaMalloc(0);\n"),
    ("vendor", "algorithms/include/tessera/x/a.hpp", HEADER + "#if defined(__CUDA_ARCH__)\n#endif\n"),
    ("vendor", "algorithms/src/x/a.cpp", SPDX + "auto c = cublasSgemm;\n"),
    ("vendor", "algorithms/src/x/a.cpp", SPDX + "hipStream_t s;\n"),
    ("vendor", "apps/a/b.cpp", SPDX + "auto c = ncclAllReduce;\n"),
    ("vendor", "apps/a/b.cpp", SPDX + "auto c = rocblas_sgemm;\n"),
    ("vendor", "apps/a/b.cpp", SPDX + "#include <cblas.h>\n"),
    ("vendor", "apps/a/b.cpp", SPDX + "void f() { cblas_dgemm(); }\n"),
    ("vendor", "core/src/a.cpp", SPDX + "#include <cuda_runtime.h>\n"),
    ("vendor", "algorithms/src/x/a.cpp", SPDX + "int i = threadIdx.x;\n"),
    ("vendor", "algorithms/src/x/a.cpp", SPDX + "#include <immintrin.h>\n"),
    ("vendor", "core/CMakeLists.txt", "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\nlink(a CUDA::cudart)\n"),
    ("vendor", "core/src/a.cpp", SPDX + "const char* a = \"//\"; auto b = cudaFree; // \"\n"),
    ("space_name", "algorithms/src/x/a.cpp", SPDX + "std::is_same_v<S, Kokkos::OpenMP>;\n"),
    ("space_name", "apps/a/b.cpp", SPDX + "Kokkos::Serial s;\n"),
    ("enabled_only", "core/src/a.cpp", SPDX + "#ifdef KOKKOS_ENABLE_OPENMP\n#endif\n"),
    ("enabled_only", "backends/cuda/a.cpp", SPDX + "#if defined(KOKKOS_ENABLE_CUDA)\n#endif\n"),
    ("enabled_only", "backends/cuda/a.cpp", SPDX + "#if defined(KOKKOS_ARCH_HOPPER90)\n#endif\n"),
    ("enabled_only", "backends/include/tessera/backends/hip/machine.hpp",
     HEADER + "#if defined(KOKKOS_ENABLE_HIP)\n#endif\n"),
    ("arrows", "core/src/a.cpp", SPDX + "#include <tessera/axpby.hpp>\n"),
    ("arrows", "core/src/a.cpp", SPDX + "#include <tessera/backends/inventory.hpp>\n"),
    ("arrows", "backends/cuda/a.cpp", SPDX + "#include <tessera/gemm.hpp>\n"),
    ("arrows", "backends/cuda/a.cpp", SPDX + "#include <tessera/gemm/any_type.hpp>\n"),
    ("arrows", "algorithms/include/tessera/x/problem.hpp", HEADER + "#include <tessera/backends/enabled.hpp>\n"),
    ("arrows", "algorithms/src/x/a.cpp", SPDX + "#include <tessera/backends/cuda/device.hpp>\n"),
    ("arrows", "apps/a/b.cpp", SPDX + "#include <tessera/backends/cuda/device.hpp>\n"),
    ("arrows", "core/src/a.cpp", SPDX + "#include \"../../algorithms/src/x/a.hpp\"\n"),
    ("plain_declarations", "backends/include/tessera/backends/cuda/gemm.hpp", HEADER + "#include <cublas_v2.h>\n"),
    ("plain_declarations", "backends/include/tessera/backends/enabled.hpp", HEADER + "#include <nccl.h>\n"),
    ("kokkos_impl", "tests/a.cpp", SPDX + "Kokkos::Impl::Timer t;\n"),
    ("kokkos_impl", "apps/a/b.cpp", SPDX + "using namespace Kokkos :: Impl;\n"),
    ("kokkos_impl", "core/src/a.cpp", SPDX + "#include <impl/Kokkos_Error.hpp>\n"),
    ("index_type", "algorithms/src/x/a.cpp", SPDX + "Kokkos::RangePolicy<S> p(exec, 0, n);\n"),
    ("index_type", "algorithms/src/x/a.cpp", SPDX + "Kokkos::TeamPolicy p(exec, 0, n);\n"),
    ("index_type", "apps/a/b.cpp", SPDX + "Kokkos::MDRangePolicy<S, Kokkos::Rank<2>> p(a, b);\n"),
    ("labels", "algorithms/src/x/a.cpp", SPDX + "Kokkos::parallel_for(\"copy\", Range<S>(e, 0, n), f);\n"),
    ("labels", "algorithms/src/x/a.cpp", SPDX + "Kokkos::parallel_for(Range<S>(e, 0, n), f);\n"),
    ("labels", "algorithms/src/x/a.cpp", SPDX + "Kokkos::parallel_reduce(\"tessera::x::sum\", n, f, r);\n"),
    ("labels", "algorithms/src/x/a.cpp", SPDX + "Kokkos::parallel_for(c ? \"tessera::x::a\" : \"b\", Range<S>(e, 0, n), f);\n"),
    ("labels", "algorithms/src/x/a.cpp", SPDX + "int all; Kokkos::parallel_for(\"tessera::x::a\", all, f);\n"),
    ("labels", "algorithms/src/x/a.cpp", SPDX + "Kokkos::View<T*, S> v(\"tmp\", n);\n"),
    ("labels", "apps/a/b.cpp", SPDX + "auto v = f(Kokkos::view_alloc(exec, \"tmp\"));\n"),
    ("global_fence", "algorithms/src/x/a.cpp", SPDX + "Kokkos::fence();\n"),
    ("machine_paths", "docs/a.md", "Look into /home/ann/tessera.\n"),
    ("machine_paths", "cmake/A.cmake", "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\nset(a \"/" "root/kokkos\")\n"),
    ("machine_paths", "dev", "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\ncurl http://deb." "debian" ".org/x\n"),
    ("once", "core/include/tessera/core/a.hpp", SPDX + "int i;\n"),
]


def complaints(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
        return lint.check(root)


def main():
    failed = 0
    for path, line, name, text in complaints(CLEAN):
        failed += 1
        print(f"a clean tree was refused: {path}:{line}: [{name}] {text}")
    for name, path, text in FAULTS:
        found = complaints({**CLEAN, path: text})
        if not any(c[0] == path and c[2] == name for c in found):
            failed += 1
            print(f"not found: [{name}] in {path}: {text[len(SPDX):]!r}")
    planted = {f[0] for f in FAULTS}
    for r in lint.RULES:
        if r.__name__ not in planted:
            failed += 1
            print(f"no fault is planted for rule [{r.__name__}]")
    print(f"architecture self-test: {len(FAULTS)} planted faults, {failed} failure(s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
