# Installs what is missing on Debian 12; on any other system names what is missing and stops. Sourced after common.sh.

packages_build="g++ cmake ninja-build ccache pkg-config ca-certificates libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev
  libpqxx-dev libyaml-cpp-dev libsqlite3-dev libssl-dev libspdlog-dev libcli11-dev prometheus-cpp-dev libre2-dev
  python3-venv python3-pip"
packages_check="postgresql-15 libgtest-dev libgmock-dev libbenchmark-dev librdkafka-dev graphviz clang-19 libclang-rt-19-dev
  clang-format-19 json-schema-test-suite faketime"

# What a system without dpkg must have: commands, then pkg-config modules.
commands_build="g++ cmake ninja pkg-config python3"
commands_check="clang++-19 clang-format-19 dot"
modules_build="libpqxx yaml-cpp sqlite3 openssl spdlog re2"
modules_check="gtest gmock benchmark rdkafka"

# nvcc and what it needs, as wheels that unpack into one folder. Pinned together: they fit each other.
cuda_wheels="nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-runtime==13.5.37"
cuda_folder=$root/build/cuda

is_debian_12() {
  [ -r /etc/os-release ] || return 1
  (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

system_name() {
  if [ -r /etc/os-release ]; then
    (. /etc/os-release && echo "${PRETTY_NAME:-unknown}")
  else
    uname -s
  fi
}

# missing_packages PACKAGE…: those dpkg does not hold as installed.
missing_packages() {
  local package
  for package in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) echo "$package" ;;
    esac
  done
}

# The tests start clusters of their own: Debian's default one is not wanted, and would be started at once.
without_main_cluster() {
  local as_root=$1 folder=/etc/postgresql-common/createcluster.d
  shift
  $as_root mkdir -p "$folder"
  echo "create_main_cluster = false" | $as_root tee "$folder/atone.conf" >/dev/null
  local rc=0
  "$@" || rc=$?
  $as_root rm -f "$folder/atone.conf"
  return "$rc"
}

apt_install() {
  local as_root=$1
  shift
  logged apt-update $as_root apt-get -q update || return
  logged apt-install $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@"
}

install_on_debian() {
  local missing as_root
  missing=$(missing_packages "$@" | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  if ! as_root=$(root_prefix); then
    warn "these packages are missing: $missing"
    die "run it as root or with password-less sudo, or install them first: apt-get install --no-install-recommends $missing"
  fi
  say "installing $(echo "$missing" | wc -w) packages: $missing"
  local install=(apt_install "$as_root" $missing)
  case " $missing " in
    *" postgresql-15 "*) without_main_cluster "$as_root" "${install[@]}" ;;
    *) "${install[@]}" ;;
  esac
}

# name_missing COMMANDS MODULES: on a system we do not install on.
name_missing() {
  local word missing=""
  for word in $1; do
    command -v "$word" >/dev/null || missing="$missing $word"
  done
  for word in $2; do
    pkg-config --exists "$word" 2>/dev/null || missing="$missing $word(pkg-config)"
  done
  if [ -n "$missing" ]; then
    warn "this is $(system_name); only on Debian 12 are missing packages installed for you. Missing here:"
    printf '  %s\n' $missing >&2
    die "also needed: Boost 1.81 (headers, json, url), CLI11, prometheus-cpp core, all with their CMake or pkg-config files"
  fi
  warn "this is $(system_name), not Debian 12: nothing is installed, the build may stop at a library it lacks"
}

# ensure_packages build|check
ensure_packages() {
  if is_debian_12; then
    case $1 in
      build) install_on_debian $packages_build ;;
      check) install_on_debian $packages_build $packages_check ;;
    esac
    return
  fi
  case $1 in
    build) name_missing "$commands_build" "$modules_build" ;;
    check) name_missing "$commands_build $commands_check" "$modules_build $modules_check" ;;
  esac
}

# The toolkit for the GPU plug-in, in continuous integration: there the kernels are always compiled.
ensure_cuda() {
  [ "${CI:-}" = true ] || return 0
  [ "$(cat "$cuda_folder/wheels" 2>/dev/null)" != "$cuda_wheels" ] || return 0
  say "installing $(echo "$cuda_wheels" | wc -w) wheels: $cuda_wheels"
  rm -rf "$cuda_folder"
  logged pip-cuda python3 -m pip install --quiet --no-deps --no-compile --target "$cuda_folder" $cuda_wheels || return
  echo "$cuda_wheels" >"$cuda_folder/wheels"
}

# What configures the plug-in: required in continuous integration, and wherever the wheels have been installed.
cuda_arguments() {
  if [ "${CI:-}" = true ] || [ -f "$cuda_folder/wheels" ]; then
    echo "-DATONE_CUDA=ON -DATONE_CUDA_ROOT=$cuda_folder/nvidia/cu13"
  fi
}
