#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# heat, interrupted and resumed, must give the bits of an unbroken run; so must a run from the checkpoint before one
# that was cut off. Usage: interrupt.sh HEAT FOLDER [MPIRUN...]   (the resumed run starts under MPIRUN where given)
set -u
heat=$1
folder=$2
shift 2
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
hash_of() { sed -n 's/.*"field_hash": "\([0-9a-f]*\)".*/\1/p' "$1"; }

rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
# it must still be going when the signal comes
attempt=0
steps=20000
while :; do
  "$heat" --size 60 --steps "$steps" --no-order-check --json part.json >part.txt 2>&1 &
  process=$!
  sleep 1
  kill -INT "$process" 2>/dev/null
  wait "$process"
  code=$?
  [ "$code" = 130 ] && break
  attempt=$((attempt + 1))
  [ "$code" = 0 ] && [ "$attempt" -lt 4 ] || fail "exit code $code after SIGINT, expected 130: $(cat part.txt)"
  steps=$((steps * 4)) # a fast machine: it was done already
done
grep -q 'interrupted after step' part.txt || fail "the interrupted run says nothing: $(cat part.txt)"
grep -q '"interrupted": true' part.json || fail "part.json does not tell that it was interrupted"
grep -q '"verified": false' part.json || fail "part.json calls an interrupted run verified"
[ -f heat.checkpoint ] || fail "no checkpoint after SIGINT"
done_steps=$(sed -n 's/.*"steps_done": \([0-9]*\).*/\1/p' part.json)
total=$((done_steps + 40))

"$heat" --size 60 --steps "$total" --no-order-check --json full.json >full.txt || fail "unbroken run: $(cat full.txt)"
"$@" "$heat" --resume heat.checkpoint --steps "$total" --no-order-check --json resumed.json >resumed.txt ||
  fail "resumed run: $(cat resumed.txt)"
[ "$(hash_of full.json)" = "$(hash_of resumed.json)" ] || fail "the resumed field differs: $(cat full.json resumed.json)"
[ -n "$(hash_of full.json)" ] || fail "no hash"

# checkpoints at two steps; the later one cut off at several lengths: the earlier is used, to the same end
"$heat" --size 20 --steps 40 --no-order-check --checkpoint small --checkpoint-every 15 --json small.json >/dev/null ||
  fail "run with checkpoints"
[ -f small.previous ] || fail "the checkpoint before the last was not kept"
cp small whole
length=$(wc -c <whole)
for keep in 0 1 47 48 100 $((length / 2)) $((length - 8)) $((length - 1)); do
  head -c "$keep" whole >small
  "$heat" --resume small --steps 40 --no-order-check --json again.json >again.txt 2>&1 || fail "cut at $keep: $(cat again.txt)"
  grep -q 'going on from the one before it' again.txt || fail "cut at $keep was not noticed: $(cat again.txt)"
  grep -q 'going on from step 15' again.txt || fail "cut at $keep: $(cat again.txt)"
  [ "$(hash_of small.json)" = "$(hash_of again.json)" ] || fail "cut at $keep: another field"
done
# one flipped bit
cp whole small
printf '\001' | dd of=small bs=1 seek=1000 conv=notrunc 2>/dev/null
"$heat" --resume small --steps 40 --no-order-check >again.txt 2>&1 || fail "flipped: $(cat again.txt)"
grep -q 'checksum does not match' again.txt || fail "a damaged checkpoint was taken: $(cat again.txt)"
# both gone
rm small.previous
"$heat" --resume small --steps 40 >again.txt 2>&1
[ $? = 2 ] || fail "no whole checkpoint must be exit code 2: $(cat again.txt)"
# a whole one, of another size than asked for, and of a later step
"$heat" --resume whole --size 21 >again.txt 2>&1
[ $? = 2 ] && grep -q '20^3 points' again.txt || fail "another size: $(cat again.txt)"
"$heat" --resume whole --steps 3 >again.txt 2>&1
[ $? = 2 ] && grep -q 'Give --steps 30 or more' again.txt || fail "fewer steps: $(cat again.txt)"
ls -A | grep -q '^\.' && fail "temporary files were left: $(ls -A)"
echo "all as it should be; interrupted after step $done_steps"
