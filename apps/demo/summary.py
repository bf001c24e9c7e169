#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the JSON files of ./dev demo and says in plain words what happened. summary.py FOLDER"""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
failed = False


def load(name):
    """The results of one step, or None where it wrote none."""
    global failed
    try:
        found = json.loads((folder / name).read_text())
    except (OSError, ValueError):
        print(f"  {name[:-5]:5} wrote no results")
        failed = True
        return None
    failed |= not found["verified"]
    return found


def verdict(found):
    return "verified" if found["verified"] else "NOT VERIFIED"


cg = load("cg.json")
if cg:
    r, n = cg["results"], cg["parameters"].get("size")
    rows = f"{n**3:,} equations" if n else "the system"
    print(f"  cg    solved {rows} in {r['iterations']} iterations, to a relative residual of "
          f"{r['relative_residual']:.1e}: {verdict(cg)}")
heat = load("heat.json")
if heat:
    print(f"  heat  spread heat through a cube on {heat['ranks']} processes, against the exact solution: {verdict(heat)}")
gemm = load("gemm.json")
if gemm:
    table = gemm["results"].get("table", [])
    best = max(table, key=lambda row: row["gflop_per_s"], default=None)
    print(f"  gemm  multiplied matrices in {len(table)} ways: {verdict(gemm)}", end="")
    if best:
        print(f"; at best {best['gflop_per_s']:.0f} GFLOP/s ({best['type']}, {best['m']} x {best['n']} x {best['k']})", end="")
    print()
    for row in table:
        if row.get("ratio") and row["op"] == "NN" and row["m"] == row["n"] == row["k"]:
            print(f"        {row['type']} {row['m']:5}^3: {row['ratio']:.2f} of the speed of {row['peer']}")
pictures = sorted(p.relative_to(folder) for p in folder.rglob("*.png"))
if pictures:
    print(f"  pictures in {folder}: {', '.join(map(str, pictures))}")
print("""
  Every kernel you saw is written once. The same sources build for NVIDIA and AMD GPUs:
      ./dev preset cuda-hopper        ./dev preset hip-mi300
  Next: ./dev test runs the tests; ./dev run cg --help shows what an app can do; README.md has a 15-line program.""")
sys.exit(1 if failed else 0)
