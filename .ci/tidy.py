#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
""".ci/tidy.py BUILD FILE...: clang-tidy on those of the files that BUILD compiles. Ends with N passed, N failed.

A file that passed is not looked at again while it, the project's headers that it includes, its command line,
.clang-tidy and the tool are the same (marks in BUILD/tidy)."""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time

build, files = sys.argv[1], sys.argv[2:]
marks = os.path.join(build, "tidy")
os.makedirs(marks, exist_ok=True)
with open(os.path.join(build, "compile_commands.json")) as f:
    commands = {e["file"]: e for e in json.load(f)}
with open(".clang-tidy") as f:
    settings = f.read() + subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True).stdout
# of processors with AVX10, clang 19 reads -march=native as two vector lengths at once, and warns of that
extra = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-invalid-feature-combination"]


def key(entry):
    """A hash of all that decides the verdict, or None where the compiler does not say what the file includes."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    words[at:at + 2] = ["-MM"]  # what it includes, systems' headers aside
    words.remove("-c")
    ran = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
    if ran.returncode != 0:
        return None
    total = hashlib.sha256((settings + entry["command"]).encode())
    for name in shlex.split(ran.stdout.split(":", 1)[1].replace("\\\n", " ")):
        with open(os.path.join(entry["directory"], name), "rb") as f:
            total.update(f.read())
    return total.hexdigest()


def check(file):
    begin = time.monotonic()
    entry = commands[os.path.abspath(file)]
    found = key(entry)
    mark = found and os.path.join(marks, found)
    if mark and os.path.exists(mark):
        return True, f"passed  {file} (as before)"
    ran = subprocess.run(["clang-tidy", "--quiet", *extra, "-p", build, file], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    if ran.returncode != 0:
        return False, f"{ran.stdout}FAILED  {file}"
    if mark:
        open(mark, "w").close()
    return True, f"passed  {file}, {time.monotonic() - begin:.0f} s"


with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
    results = []
    for job in concurrent.futures.as_completed(
            [pool.submit(check, f) for f in files if os.path.abspath(f) in commands]):
        results.append(job.result())
        print(results[-1][1], flush=True)
failed = sum(not ok for ok, _ in results)
print(f"{len(results) - failed} passed, {failed} failed")
sys.exit(failed != 0)
