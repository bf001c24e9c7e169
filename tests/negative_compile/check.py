#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles wrong_calls.cpp with one compiler and reads what it says.

    check.py COMPILER SOURCE FLAGS_FILE...

Passes where the right calls compile, every marked line is an error, each names the promised concept as unsatisfied,
and no other line is an error.
"""
import re
import subprocess
import sys


def compile_(compiler, source, flags, extra):
    command = [compiler, "-fsyntax-only", "-std=c++20", "-w", *flags, *extra, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    return done.returncode, done.stderr


def names(concept, text):
    """g++ says "required for the satisfaction of 'View<V>'", clang "because 'int' does not satisfy 'View'" or "because
    'View<int>' evaluated to false"."""
    return re.search(rf"required for the satisfaction of '{concept}<|does not satisfy '{concept}'|"
                     rf"because '(?:tessera::)?{concept}<[^\n]*evaluated to false", text) is not None


def main():
    compiler, source, *flag_files = sys.argv[1:]
    flags = []
    for path in flag_files:
        with open(path, encoding="utf-8") as f:
            flags += [line for line in f.read().split("\n") if line.strip()]
    status, said = compile_(compiler, source, flags, ["-DTESSERA_RIGHT_CALLS"])
    if status != 0:
        print(f"the right calls do not compile:\n{said}")
        return 1

    clang = "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    status, said = compile_(compiler, source, flags, ["-ferror-limit=0"] if clang else ["-fmax-errors=0"])
    # an error's block runs to the next error; what comes before it ("In function ...") belongs to no line
    blocks, line = {}, None
    for text in said.split("\n"):
        m = re.match(rf"{re.escape(source)}:(\d+):\d+: error: ", text)
        if m:
            line = int(m.group(1))
        if line is not None:
            blocks[line] = blocks.get(line, "") + text + "\n"

    failures = []
    marked = {}
    with open(source, encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            m = re.search(r"// refused by: (\w+)", text)
            if m and "`" not in text:
                marked[number] = (m.group(1), text.strip())
    for number, (concept, text) in marked.items():
        if number not in blocks:
            failures.append(f"line {number} compiles: {text}")
        elif not names(concept, blocks[number]):
            failures.append(f"line {number}: {concept} is not named: {text}\n{blocks[number]}")
    failures += [f"line {n} is an error that is not marked:\n{b}" for n, b in blocks.items() if n not in marked]
    for concept in {c for c, _ in marked.values()}:
        if sum(1 for c, _ in marked.values() if c == concept) < 2:
            failures.append(f"{concept} has fewer than two wrong calls")
    print("\n".join(failures))
    print(f"negative compile, {compiler}: {len(marked)} wrong calls, {len(failures)} failure(s)")
    return 1 if failures or not marked else 0


if __name__ == "__main__":
    sys.exit(main())
