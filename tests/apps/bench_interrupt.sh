#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The bench, interrupted: what was done is in the files, and they say that it is not all.
# Usage: bench_interrupt.sh TESSERA-BENCH FOLDER [FILTER]
set -u
bench=$1
folder=$2
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1

# small cases, and so many rounds that they are not done before the signal
"$bench" --set full --filter "${3:-fp32 1e}" --rounds 300 --json part.json --html part.html --csv part.csv >part.txt 2>&1 &
process=$!
waited=0
until [ -s part.json ]; do # written after the first case
  sleep 0.2
  waited=$((waited + 1))
  [ "$waited" -lt 1000 ] || fail "no case was done in 200 s: $(cat part.txt)"
  kill -0 "$process" 2>/dev/null || break
done
grep -q '"interrupted": true' part.json || fail "a file of a run that goes on calls itself whole"
kill -INT "$process" 2>/dev/null
wait "$process"
code=$?
[ "$code" = 130 ] || fail "exit code $code after SIGINT, expected 130: $(cat part.txt)"
grep -q 'interrupted after [0-9]* of [0-9]* cases' part.txt || fail "the interrupted run says nothing: $(cat part.txt)"
grep -q '"interrupted": true' part.json || fail "part.json does not tell that it was interrupted"
grep -q '^ "verified": false' part.json || fail "part.json calls an interrupted run verified"
grep -q 'interrupted</strong> after' part.html || fail "the report does not tell that the run was interrupted"
[ "$(wc -l <part.csv)" -ge 2 ] || fail "no case in part.csv"
"$bench" --from part.json >again.txt 2>&1
[ $? = 1 ] || fail "an interrupted result is not verified as a whole: $(cat again.txt)"
ls -A | grep -q '^\.' && fail "temporary files were left: $(ls -A)"
echo "all as it should be: $(grep 'interrupted after' part.txt)"
