# What ./demo and ./check share: words on the terminal, logs, privileges. Sourced; needs $root and $program.

log_dir=$root/build/logs
mkdir -p "$log_dir"

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "$program" "$*" >&2; }
die() {
  warn "$*"
  exit 2
}

# Processes the build and the tests may use.
jobs_allowed() { nproc 2>/dev/null || echo 2; }

# logged NAME COMMAND…: output goes to build/logs/NAME.log and is shown only when the command fails.
logged() {
  local log=$log_dir/$1.log rc=0
  shift
  "$@" >"$log" 2>&1 || rc=$?
  if [ "$rc" -ne 0 ]; then
    warn "failed ($rc): $*"
    tail -n "${ATONE_LOG_LINES:-60}" "$log" >&2
    warn "the whole log: ${log#"$root"/}"
  fi
  return "$rc"
}

# What runs a command as root: nothing, `sudo -n`, or failure when there is neither.
root_prefix() {
  if [ "$(id -u)" -eq 0 ]; then
    echo ""
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    echo "sudo -n"
  else
    return 1
  fi
}

# What makes a skipped test a failure, in CI only.
skipped_flag() { if [ "${CI:-}" = true ]; then echo --skipped-fail; fi; }
