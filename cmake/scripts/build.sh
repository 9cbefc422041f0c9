# Configure, build, test. Sourced after common.sh.

# Settings under which ccache finds objects again in another checkout folder and with precompiled headers.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root}
export CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}

# configure PRESET [CMAKE ARGUMENT…]
configure() {
  local preset=$1
  shift
  (cd "$root" && logged "configure-$preset" cmake --preset "$preset" "$@")
}

# left_out PRESET: what the configure summary says was not built, and why.
left_out() {
  sed -n 's/^--   left out: /  left out: /p' "$log_dir/configure-$1.log"
}

# build PRESET [TARGET…]: without targets, everything.
build() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  logged "build-$preset" cmake --build "$root/build/$preset" -j "$(jobs_allowed)" "${targets[@]}"
}

# has_target PRESET TARGET
has_target() {
  cmake --build "$root/build/$1" --target help 2>/dev/null | grep -q "^$2: "
}

# run_tests PART PRESET [CTEST ARGUMENT…]: runs ctest, then counts and explains what it reported. Skipped tests are failures in CI.
run_tests() {
  local part=$1 preset=$2 report=$log_dir/$1.xml
  shift 2
  rm -f "$report"
  ctest --test-dir "$root/build/$preset" -j "$(jobs_allowed)" --no-tests=error --output-junit "$report" "$@" \
    >"$log_dir/test-$part.log" 2>&1 || true # the report tells more than the exit status
  if [ ! -s "$report" ]; then
    tail -n 20 "$log_dir/test-$part.log" >&2
    return 1
  fi
  python3 "$root/cmake/scripts/ctest_report.py" $(skipped_flag) --counts "$counts" "$report"
}
