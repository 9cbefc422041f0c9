# Timed parts with a table at the end. Sourced after common.sh. A part is a function part_NAME; it says what it found by
# `count PASSED FAILED` or by its exit status alone.

counts=$log_dir/counts
part_rows=()
passed_total=0
failed_total=0

count() { echo "$1 $2" >>"$counts"; }

# Adds up what the part counted. A part that failed has at least one failure, whatever it counted.
tally() {
  local rc=$1 one_passed one_failed passed=0 failed=0
  while read -r one_passed one_failed; do
    passed=$((passed + one_passed))
    failed=$((failed + one_failed))
  done <"$counts"
  [ "$rc" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
  passed_total=$((passed_total + passed))
  failed_total=$((failed_total + failed))
  part_result="$passed passed, $failed failed"
}

# run_part NAME: sets part_rc. Call it plainly, never in a condition: there bash would ignore errexit inside the part.
run_part() {
  local name=$1 begun=$SECONDS
  : >"$counts"
  say "== $name"
  set +e
  (set -e; "part_$name")
  part_rc=$?
  set -e
  tally "$part_rc"
  local took=$((SECONDS - begun))
  part_rows+=("$(printf '%-10s %4d:%02d   %s' "$name" $((took / 60)) $((took % 60)) "$part_result")")
}

# Table of times, then the closing line; the exit status of the whole.
finish() {
  say ""
  printf '%-10s %7s   %s\n' part time result
  printf '%s\n' "${part_rows[@]}"
  printf '%-10s %4d:%02d\n\n' total $((SECONDS / 60)) $((SECONDS % 60))
  say "$passed_total passed, $failed_total failed"
  [ "$failed_total" -eq 0 ]
}
