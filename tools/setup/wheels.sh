# SPDX-License-Identifier: Apache-2.0
# Brings LibTorch and a few headers from pinned PyPI wheels into the per-user cache.

OMEN_TORCH_VERSION=2.15.0

# An NVIDIA driver is what makes the large CUDA libraries worth their download.
have_nvidia_driver() {
  case "${OMEN_CUDA_LIBRARIES:-auto}" in
    on) return 0 ;;
    off) return 1 ;;
  esac
  [ -e /proc/driver/nvidia/version ] || [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]
}

# download_wheels LOCK DIRECTORY: pip refuses every file whose digest is not the pinned one.
download_wheels() {
  local python=python3
  [ -x /usr/bin/python3 ] && /usr/bin/python3 -m pip --version >/dev/null 2>&1 &&
    python=/usr/bin/python3
  local platforms=() tag
  for tag in manylinux_2_28 manylinux_2_27 manylinux_2_25 manylinux_2_18 manylinux_2_17 \
    manylinux2014 manylinux_2_12 manylinux2010 manylinux_2_5 manylinux1; do
    platforms+=(--platform "${tag}_x86_64")
  done
  "$python" -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps \
    --only-binary=:all: "${platforms[@]}" --python-version 311 --implementation cp --abi cp311 \
    --abi none --require-hashes -r "$1" -d "$2" >&2
}

# install_wheels NAME LOCK PATTERN...: unpacks members matching the patterns into <cache>/NAME.
# The directory appears by one rename when it is complete; anything earlier is removed.
install_wheels() {
  local name=$1 lock="$OMEN_ROOT/tools/setup/$2" cache work wheel member
  shift 2
  cache=$(omen_cache_dir)
  [ ! -d "$cache/$name" ] || return 0
  mkdir -p "$cache"
  (
    exec 9>"$cache/.lock"
    flock 9
    [ ! -d "$cache/$name" ] || exit 0
    rm -rf "$cache"/.partial-*
    work=$(mktemp -d "$cache/.partial-XXXXXX") || exit 1
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    mkdir "$work/wheels" "$work/tree"
    say "fetching $(grep -v '^#' "$lock" | cut -d' ' -f1 | paste -sd' ') into $cache/$name"
    download_wheels "$lock" "$work/wheels" || exit 1
    for wheel in "$work"/wheels/*.whl; do
      # Exit 11 means that this wheel holds no member of that pattern.
      unzip -q -o "$wheel" "$@" -x 'torch/lib/libgomp*' 'torch/lib/libtorch_python*' \
        -d "$work/tree" 2>/dev/null || [ $? -eq 11 ] || exit 1
    done
    for member in "$@"; do
      case $member in *'*'*) continue ;; esac
      [ -e "$work/tree/$member" ] || die "no wheel holds $member"
    done
    mv -T "$work/tree" "$cache/$name"
  ) || die "could not fetch the wheels of tools/setup/$(basename "$lock")" \
    "check the network and try again; nothing was left half-installed"
}

# Sets OMEN_TORCH_DIR unless the user already points it at a LibTorch of their own.
setup_torch() {
  if [ -n "${OMEN_TORCH_DIR:-}" ]; then
    [ -e "$OMEN_TORCH_DIR/lib/libtorch_cpu.so" ] ||
      die "OMEN_TORCH_DIR is '$OMEN_TORCH_DIR', which has no lib/libtorch_cpu.so" \
        "point it at a LibTorch directory from 2.9 on, or unset it"
    export OMEN_TORCH_DIR
    return
  fi
  [ "$(uname -m)" = x86_64 ] || {
    say "no pinned LibTorch for $(uname -m): the parts that need it are left out"
    return
  }
  local name="torch-$OMEN_TORCH_VERSION-cpu"
  if have_nvidia_driver; then
    name="torch-$OMEN_TORCH_VERSION-cuda"
    install_wheels "$name" torch-cuda.lock 'torch/include/*' 'torch/lib/*' 'nvidia/*.so*'
  else
    install_wheels "$name" torch-cpu.lock 'torch/include/*' torch/lib/libtorch_cpu.so \
      torch/lib/libc10.so nvidia/cu13/lib/libcudart.so.13 nvidia/cu13/lib/libcupti.so.13
  fi
  OMEN_TORCH_DIR="$(omen_cache_dir)/$name/torch"
  export OMEN_TORCH_DIR
}

setup_extras() {
  install_wheels extras-1 extras.lock nvidia/cu13/include/nvml.h plotly/package_data/plotly.min.js
  OMEN_EXTRAS_DIR="$(omen_cache_dir)/extras-1"
  export OMEN_EXTRAS_DIR
}
