# SPDX-License-Identifier: Apache-2.0
# Configures and builds a preset, doing nothing where nothing changed.

# configure PRESET [CMAKE_ARGUMENT...]: runs cmake only when its inputs differ from the last time.
configure() {
  local preset=$1 dir="$OMEN_ROOT/build/$1" key
  shift
  key="$* torch=${OMEN_TORCH_DIR:-} extras=${OMEN_EXTRAS_DIR:-}"
  [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/.configured" 2>/dev/null)" = "$key" ] && return 0
  local log="$dir/configure.log"
  mkdir -p "$dir"
  rm -f "$dir/.configured"
  (cd "$OMEN_ROOT" && cmake --preset "$preset" ${OMEN_TORCH_DIR:+"-DOMEN_TORCH_DIR=$OMEN_TORCH_DIR"} \
    ${OMEN_EXTRAS_DIR:+"-DOMEN_EXTRAS_DIR=$OMEN_EXTRAS_DIR"} "$@") >"$log" 2>&1 || {
    cat "$log" >&2
    die "cmake could not configure the '$preset' preset"
  }
  sed -n '/optional parts:/,/^$/p' "$log" >&2
  printf '%s\n' "$key" >"$dir/.configured"
}

# build PRESET TARGET...: prints what is compiled, and nothing when all is up to date.
build() {
  local dir="$OMEN_ROOT/build/$1"
  shift
  ninja -C "$dir" "$@" 2>&1 |
    sed -u -e '/Entering directory/d' -e '/Re-checking globbed/d' -e '/no work to do/d' >&2 ||
    die "the build in ${dir#"$OMEN_ROOT"/} failed" "the first error is above"
}
