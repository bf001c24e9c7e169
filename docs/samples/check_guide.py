#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code that README.md and the guide show is the code that is compiled, and their tables of counts are what was kept.

    check_guide.py ROOT [--write]

A page names a piece of a sample in a comment before a code block:
    <!-- sample: first_program.cpp [sample] -->
The block must hold exactly what stands between the two `// [sample]` lines of docs/samples/first_program.cpp, less its
common indentation. A name with a folder is a source of the project itself, from its root. --write copies the samples
into the pages.

A table below `<!-- table: docs/results/counts.csv -->` must hold exactly the rows of that file.
"""
import csv
import os
import re
import sys
import textwrap

MARK = re.compile(r"<!-- sample: (\S+) \[([^\]]+)\] -->\n```cpp\n(.*?)```\n", re.S)

TABLE = re.compile(r"<!-- table: (\S+\.csv) -->\n((?:\|[^\n]*\n)+)")


def rows_of(root, file):
    with open(os.path.join(root, file), encoding="utf-8", newline="") as f:
        rows = list(csv.reader(f))
    lines = ["| " + " | ".join(row).replace("_", "\\_") + " |\n" for row in rows]
    return lines[0] + "|---" * len(rows[0]) + "|\n" + "".join(lines[1:])


def piece(root, file, name):
    folder = root if "/" in file else os.path.join(root, "docs", "samples")
    with open(os.path.join(folder, file), encoding="utf-8") as f:
        parts = re.split(rf"^ *// \[{re.escape(name)}\]\n", f.read(), flags=re.M)
    if len(parts) != 3:
        raise SystemExit(f"{file}: [{name}] must be marked exactly twice")
    return textwrap.dedent(parts[1])


def main():
    root, write = sys.argv[1], "--write" in sys.argv
    pages = [os.path.join(root, "README.md")]
    for folder, _, files in os.walk(os.path.join(root, "docs")):
        pages += [os.path.join(folder, f) for f in files if f.endswith(".md")]
    wrong = shown = 0
    for page in pages:
        if not os.path.exists(page):
            continue
        with open(page, encoding="utf-8") as f:
            text = f.read()

        def right(m):
            return f"<!-- sample: {m.group(1)} [{m.group(2)}] -->\n```cpp\n{piece(root, m.group(1), m.group(2))}```\n"

        def right_table(m):
            return f"<!-- table: {m.group(1)} -->\n{rows_of(root, m.group(1))}"

        for m in TABLE.finditer(text):
            shown += 1
            if m.group(0) != right_table(m) and not write:
                wrong += 1
                print(f"{os.path.relpath(page, root)}: the table of {m.group(1)} is not what that file holds; "
                      "run docs/samples/check_guide.py ROOT --write")
        for m in MARK.finditer(text):
            shown += 1
            if m.group(0) != right(m) and not write:
                wrong += 1
                print(f"{os.path.relpath(page, root)}: the code of {m.group(1)} [{m.group(2)}] is not what is compiled; "
                      "run docs/samples/check_guide.py ROOT --write")
        if write:
            with open(page, "w", encoding="utf-8") as f:
                f.write(TABLE.sub(right_table, MARK.sub(right, text)))
    print(f"samples: {shown} pieces shown, {wrong} wrong")
    return 1 if wrong or not shown else 0


if __name__ == "__main__":
    sys.exit(main())
