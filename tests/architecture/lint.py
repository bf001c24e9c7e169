#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The architecture test: what the folders of Tessera promise each other, checked on the text of the sources.

    python3 lint.py [ROOT]        prints "file:line: [rule] what is wrong; what to do"; exit 1 where anything is wrong

Each rule is a function below, registered with @rule; docs are its first line. Code is looked at with comments and
strings blanked out, so that a word in a comment is only a word. selftest.py plants one fault a rule and expects it
to be found.
"""
import os
import re
import sys

SKIPPED_FOLDERS = {"build", "install", "local", "__pycache__", "corpus", "LICENSES"}  # and hidden ones, but for .ci
CODE = (".hpp", ".cpp", ".h", ".cu", ".cuh")

# One regular expression for each word of an identifier (split at underscores and capitals).
VENDOR_WORD = re.compile(
    r"^(cuda.*|cudacc|cu(blas|sparse|solver|fft|rand|dnn|tensor|pti|file)\w*|cutlass|cub|thrust|nccl\w*|nvml|nvtx\d*|nvrtc|nvcc|"
    r"hip|hipcc|hip(blas|sparse|cub|rand|fft|solver|blaslt)|"
    r"rccl\w*|rocm|roc(blas|sparse|prim|solver|fft|rand|tx|thrust)\w*|miopen|amdsmi|rsmi|"
    r"cblas|openblas|lapacke|mkl|onemkl|wgmma|mfma|ptx)$")
# Names of the vendors' device languages that hold no vendor's name.
DEVICE_LANGUAGE = re.compile(
    r"^(threadIdx|blockIdx|blockDim|gridDim|warpSize|__syncthreads\w*|__syncwarp|__shfl\w*|__ballot\w*|__ldg|"
    r"__global__|__shared__|__device__|__host__|__launch_bounds__|_mm\d*_\w+|__m(128|256|512)[di]?|asm|__asm__)$")
VENDOR_INCLUDE = re.compile(
    r"^(cuda|cublas|cusparse|cusolver|cufft|curand|cudnn|cutensor|cupti|cutlass|cute|cub|thrust|nccl|nvml|nvtx|nvrtc|"
    r"hip|rocblas|rocsparse|rocprim|rocfft|rccl|miopen|rocm|roctracer|amd|cblas|lapacke|mkl|mma\.h|"
    r"immintrin\.h|arm_neon\.h|arm_sve\.h|x86intrin\.h)")
SPACES = r"(OpenMP|Cuda|HIP|Serial|Threads|SYCL|HPX|OpenACC|CudaSpace|HIPSpace|CudaUVMSpace|CudaHostPinnedSpace)"
NESTED_POLICY = re.compile(
    r"^\s*(Kokkos\s*::\s*)?(TeamThread|TeamVector|ThreadVector)(MD)?Range\b|^\s*Single|^\s*(\w*_)?range\s*(\(|$)|^\s*\w+_range\b")


class File:
    """One source: path from the root with '/', its text, and the text with comments and strings blanked."""

    def __init__(self, root, path):
        self.path = path
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
            self.text = f.read()
        self.name = path.rsplit("/", 1)[-1]
        self.top = path.split("/", 1)[0] if "/" in path else ""
        self.is_code = path.endswith(CODE)
        self.is_cmake = self.name == "CMakeLists.txt" or path.endswith(".cmake")
        self.code = blank(self.text) if self.is_code else (re.sub(r"#[^\n]*", "", self.text) if self.is_cmake else "")

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def includes(self):
        """(offset, header) of each include."""
        for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', self.text, re.M):
            yield m.start(), m.group(1)

    def identifiers(self):
        for m in re.finditer(r"[A-Za-z_]\w*", self.code):
            yield m.start(), m.group(0)


def blank(text):
    """C++ with comments, strings and includes replaced by spaces; offsets and newlines stay."""
    out = []
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
        r'|^[ \t]*#[ \t]*include[^\n]*', re.S | re.M)
    at = 0
    for m in pattern.finditer(text):
        out.append(text[at:m.start()])
        piece = m.group(0)
        spaces = re.sub(r"[^\n]", " ", piece)
        if piece[0] in "\"R":  # a string stays a string, without its contents
            spaces = '"' + spaces[1:-1] + '"'
        out.append(spaces)
        at = m.end()
    out.append(text[at:])
    return "".join(out)


def words(identifier):
    return [w.lower() for w in re.findall(r"[A-Z]+\d*(?=[A-Z][a-z]|_|\d|$)|[A-Z]?[a-z]+\d*|[A-Z]+|\d+", identifier)]


def closing(code, start, opening, closer):
    """Offset of the bracket that closes the one at `start`; None where there is none."""
    depth = 0
    for i in range(start, len(code)):
        if code[i] == opening:
            depth += 1
        elif code[i] == closer:
            depth -= 1
            if depth == 0:
                return i
    return None


def arguments(code, start):
    """(begin, end) of each top-level argument of the call whose '(' is at `start`; angle brackets are followed only
    round template arguments, which is enough for policies."""
    end = closing(code, start, "(", ")")
    if end is None:
        return []
    depth, angle, begin, found = 0, 0, start + 1, []
    for i in range(start + 1, end):
        c = code[i]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "<" and i > 0 and re.match(r"\w", code[i - 1]):
            angle += 1
        elif c == ">" and angle > 0 and code[i - 1] != "-":
            angle -= 1
        elif c == "," and depth == 0 and angle == 0:
            found.append((begin, i))
            begin = i + 1
    found.append((begin, end))
    return found


RULES = []


def rule(function):
    RULES.append(function)
    return function


def house(f):
    """core, algorithms and apps: what is written once, whatever the backend."""
    return f.top in ("core", "algorithms", "apps")


@rule
def spdx(f):
    """Every source, script and build file names its licence in its first lines."""
    wanted = f.is_code or f.is_cmake or f.path.endswith((".py", ".sh", ".in")) or f.path in ("dev", ".ci/run")
    if wanted and f.text.strip() and "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in "\n".join(f.text.split("\n")[:4]):
        yield 0, "no SPDX line in the first four; add 'SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception'"


@rule
def vendor(f):
    """No vendor name as code in core, algorithms and apps (core/portability.hpp is the documented exemption)."""
    if not house(f) or f.path == "core/include/tessera/core/portability.hpp":
        return
    if f.is_code:
        for at, name in f.identifiers():
            if name in ("TESSERA_HAVE_CBLAS", "TESSERA_ENABLE_CBLAS") and f.path.startswith("core/"):
                continue
            if any(VENDOR_WORD.match(w) for w in words(name)) or DEVICE_LANGUAGE.match(name):
                yield at, f"'{name}' is vendor code; put it behind a provider or a service in backends/"
        for at, header in f.includes():
            if VENDOR_INCLUDE.match(header):
                yield at, f"<{header}> is a vendor's header; only backends/ may include it"
    elif f.is_cmake:
        for m in re.finditer(r"\b(CUDA|hip|roc|NCCL|RCCL)::\w+|\b(CUDAToolkit|enable_language\(\s*(CUDA|HIP))", f.code):
            yield m.start(), f"'{m.group(0)}' is a vendor's target; link it in backends/"


@rule
def space_name(f):
    """No execution space is named in core's headers, algorithms and apps."""
    if f.is_code and (f.path.startswith("core/include/") or f.top in ("algorithms", "apps")):
        for m in re.finditer(r"\bKokkos\s*::\s*(Experimental\s*::\s*)?" + SPACES + r"\b", f.code):
            yield m.start(), f"'{m.group(0)}' names an execution space; take it as a template parameter, or ask machine<Space>"


@rule
def enabled_only(f):
    """Which backends a build has is tested in enabled.hpp and the inventory alone, which chip also in machine.hpp."""
    exempt = ("backends/include/tessera/backends/enabled.hpp", "backends/src/inventory.cpp",
              "backends/include/tessera/backends/inventory.hpp")
    if f.is_code and (house(f) or f.top == "backends") and f.path not in exempt:
        for at, name in f.identifiers():
            chip = re.match(r"KOKKOS_ARCH_|KOKKOS_ARCHITECTURE", name)
            if chip and f.top == "backends" and f.name == "machine.hpp":
                continue  # what a kernel may ask of a chip is said there, and nowhere asked
            if name.startswith("KOKKOS_ENABLE_") or chip:
                yield at, f"'{name}' is tested here; only tessera/backends/enabled.hpp and the inventory may"


@rule
def arrows(f):
    """core <- problems <- backends <- algorithms <- apps."""
    if not f.is_code:
        return
    for at, header in f.includes():
        if not header.startswith("tessera/"):
            continue
        part = header[len("tessera/"):]
        in_core = part.startswith("core/")
        in_backends = part.startswith("backends/")
        # declarations without a vendor header: what this build has, its devices, and peers to measure against
        declared = part in ("backends/enabled.hpp", "backends/inventory.hpp")
        measures = f.top == "apps" or re.fullmatch(r"bench(_\w+)?\.cpp", f.name) is not None
        declared = declared or (part == "backends/peers.hpp" and measures)
        if f.top == "core" and not in_core:
            yield at, f"core includes <{header}>; core stands on Kokkos alone"
        elif f.top == "backends" and not (in_core or in_backends or part.endswith("/problem.hpp")):
            yield at, f"a backend includes <{header}>; of an algorithm it may know problem.hpp alone"
        elif f.top == "algorithms" and f.name == "problem.hpp" and not (
                in_core or part.endswith(("/problem.hpp", "/results.hpp"))):
            yield at, f"a problem description includes <{header}>; it stands on core alone"
        elif f.top == "algorithms" and in_backends and not declared:
            yield at, f"an algorithm includes <{header}>; it may include tessera/backends/enabled.hpp alone"
        elif f.top == "apps" and in_backends and not declared:
            yield at, f"an app includes <{header}>; of backends it may include enabled.hpp, inventory.hpp, peers.hpp"
        elif f.top == "algorithms" and part.startswith(("app/", "apps/")):
            yield at, f"an algorithm includes <{header}> of the apps"
    for at, header in f.includes():
        if header.startswith("../") or "/../" in header:
            yield at, f'"{header}" climbs out of its folder; include by the public path'


@rule
def plain_declarations(f):
    """enabled.hpp and the providers' declarations contain no vendor header: a user's file may include them."""
    if f.path.startswith("backends/include/"):
        for at, header in f.includes():
            if VENDOR_INCLUDE.match(header):
                yield at, f"a public backend header includes <{header}>; move what needs it into the .cpp"


@rule
def kokkos_impl(f):
    """Nothing of Kokkos's internals is named."""
    if not f.is_code:
        return
    for m in re.finditer(r"\bKokkos\s*::\s*Impl\b|\bKokkos\s*::\s*(\w+\s*::\s*)?Impl\s*::", f.code):
        yield m.start(), "'Kokkos::Impl' is Kokkos's own; use its public interface"
    for at, header in f.includes():
        if re.match(r"impl/Kokkos|Kokkos_.*_?[Ii]mpl", header):
            yield at, f"<{header}> is an internal header of Kokkos"


@rule
def index_type(f):
    """Every policy names a 64-bit IndexType: Range and Teams of core/execution.hpp do."""
    if not f.is_code or not (house(f) or f.top == "backends"):
        return
    for m in re.finditer(r"\b(RangePolicy|TeamPolicy|MDRangePolicy)\b", f.code):
        rest = f.code[m.end():]
        opening = re.match(r"\s*<", rest)
        named = False
        if opening:
            start = m.end() + opening.end() - 1
            end = closing(f.code, start, "<", ">")
            named = end is not None and "IndexType" in f.code[start:end]
        if not named:
            yield m.start(), f"{m.group(1)} without a named 64-bit IndexType; use tessera::Range or tessera::Teams"


@rule
def labels(f):
    """Every kernel, team loop excepted, is labelled tessera::<algorithm>::<what> and runs on a policy of ours."""
    if not f.is_code or not (house(f) or f.top == "backends"):
        return
    for m in re.finditer(r"\b(?:Kokkos\s*::\s*)?parallel_(for|reduce|scan)\s*(<[^<>;(]*>)?\s*\(", f.code):
        args = arguments(f.code, m.end() - 1)
        if not args:
            continue
        first_code = f.code[args[0][0]:args[0][1]].strip()
        first_text = f.text[args[0][0]:args[0][1]].strip()
        if NESTED_POLICY.match(first_code):
            continue
        call = f"parallel_{m.group(1)}"
        strings = re.findall(r'"([^"]*)"', first_text)  # two where a condition chooses
        if strings and not re.search(r"\blabel\s*\(", first_code):
            if not all(re.fullmatch(r"tessera::\w+::.+", s) for s in strings):
                yield m.start(), f"{call} is labelled {first_text}; labels read \"tessera::<algorithm>::<what>\""
        elif not re.search(r"\blabel\b|\w*label\w*|\bname\b", first_code):
            yield m.start(), f"{call} has no label; the first argument is \"tessera::<algorithm>::<what>\""
            continue
        policy = f.code[args[1][0]:args[1][1]] if len(args) > 1 else ""
        named = re.fullmatch(r"\s*(\w+)\s*", policy)
        declared = named and re.search(
            rf"\b(Range|Teams)\s*<[^;]*>\s+{named.group(1)}\b|\bauto\s+{named.group(1)}\s*=[^;]*\b(Range|Teams)\s*<", f.code)
        if not declared and not re.search(r"Range\s*<|Teams\s*<|[Pp]olicy", policy):
            yield m.start(), f"{call} runs on '{policy.strip()}'; pass a tessera::Range or tessera::Teams on the instance given"
    for m in re.finditer(r'\bview_alloc\s*\(', f.code):
        for begin, end in arguments(f.code, m.end() - 1):
            text = f.text[begin:end].strip()
            if text.startswith('"') and not text.startswith('"tessera::'):
                yield m.start(), f"an allocation is labelled {text}; labels read \"tessera::<algorithm>::<what>\""
    if f.top in ("core", "algorithms", "backends"):
        for m in re.finditer(r'\bView<[^;{}()]*>\s+\w+\s*[({]\s*"', f.code):
            if not f.text[m.end():].startswith("tessera::"):
                yield m.start(), "an allocation's label does not begin with \"tessera::\""


@rule
def global_fence(f):
    """Algorithms wait for their own instance only."""
    if f.is_code and f.top in ("core", "algorithms", "backends"):
        for m in re.finditer(r"\bKokkos\s*::\s*fence\s*\(", f.code):
            yield m.start(), "Kokkos::fence waits for every instance; use exec.fence(\"tessera::...\")"


@rule
def machine_paths(f):
    """No absolute path of a developer's machine, no name of a package registry."""
    if f.path.startswith("tests/architecture/"):
        return
    for m in re.finditer(r"(?<![\w.$}/*~-])/(work|root|home/\w+|Users/\w+)/", f.text):
        yield m.start(), f"'{m.group(0)}' is a path of one machine; make it relative, or ask the environment"
    for m in re.finditer(r"\b(deb|security|snapshot|ftp)\.debian\.org|archive\.ubuntu\.com|\bpypi\.org|registry\.npmjs", f.text):
        yield m.start(), f"'{m.group(0)}' names a package registry; read it from the machine's own configuration"


@rule
def once(f):
    """Every header is read once."""
    if f.path.endswith((".hpp", ".cuh", ".h")) and "#pragma once" not in f.text:
        yield 0, "a header without '#pragma once'"


def sources(root):
    for folder, names, files in os.walk(root):
        relative = os.path.relpath(folder, root).replace(os.sep, "/")
        names[:] = sorted(n for n in names if n not in SKIPPED_FOLDERS and (n[0] != "." or n == ".ci")
                          and not os.path.islink(os.path.join(folder, n)))
        for name in sorted(files):
            path = name if relative == "." else f"{relative}/{name}"
            if path.endswith(CODE + (".cmake", ".py", ".sh", ".in", ".md", ".json", ".txt")) or path in ("dev", ".ci/run"):
                yield path


def check(root):
    """All complaints about a tree: (path, line, rule, text)."""
    found = []
    for path in sources(root):
        f = File(root, path)
        for r in RULES:
            found += [(path, f.line(at), r.__name__, text) for at, text in r(f)]
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    complaints = check(os.path.abspath(root))
    for path, line, name, text in complaints:
        print(f"{path}:{line}: [{name}] {text}")
    print(f"architecture: {len(RULES)} rules, {sum(1 for _ in sources(os.path.abspath(root)))} files, "
          f"{len(complaints)} complaint(s)")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
