# SPDX-License-Identifier: Apache-2.0
# Configures and builds a preset, doing nothing where nothing changed.

# Paths below the clone are hashed relative to it, so that a second clone compiles nothing anew.
export CCACHE_BASEDIR="$OMEN_ROOT" CCACHE_NOHASHDIR=1

# What a configuration depends on besides its arguments.
configuration_inputs() { printf 'torch=%s extras=%s' "${OMEN_TORCH_DIR:-}" "${OMEN_EXTRAS_DIR:-}"; }

# configured PRESET: true where the preset is configured with today's inputs, whatever its options.
configured() {
  local dir="$OMEN_ROOT/build/$1"
  [ -f "$dir/build.ninja" ] && grep -qsxF "$(configuration_inputs)" "$dir/.configured"
}

# configure PRESET [CMAKE_ARGUMENT...]: runs cmake only when its inputs differ from the last time.
configure() {
  local preset=$1 dir="$OMEN_ROOT/build/$1"
  shift
  if configured "$preset" && grep -qxF "arguments: $*" "$dir/.configured"; then return 0; fi
  local log="$dir/configure.log"
  mkdir -p "$dir"
  rm -f "$dir/.configured"
  (cd "$OMEN_ROOT" && cmake --preset "$preset" ${OMEN_TORCH_DIR:+"-DOMEN_TORCH_DIR=$OMEN_TORCH_DIR"} \
    ${OMEN_EXTRAS_DIR:+"-DOMEN_EXTRAS_DIR=$OMEN_EXTRAS_DIR"} "$@") >"$log" 2>&1 || {
    cat "$log" >&2
    die "cmake could not configure the '$preset' preset"
  }
  sed -n '/optional parts:/,/^$/p' "$log" >&2
  printf '%s\narguments: %s\n' "$(configuration_inputs)" "$*" >"$dir/.configured"
}

# build PRESET TARGET...: prints what is compiled, and nothing when all is up to date.
build() {
  local dir="$OMEN_ROOT/build/$1" begin=$SECONDS start cpu
  shift
  start=$(date +%s%N) cpu=$(child_seconds)
  ninja -C "$dir" "$@" 2>&1 |
    sed -u -e '/Entering directory/d' -e '/Re-checking globbed/d' -e '/no work to do/d' >&2 ||
    die "the build in ${dir#"$OMEN_ROOT"/} failed" "the first error is above"
  [ $((SECONDS - begin)) -le 60 ] ||
    report_cost "$dir" "$start" $(($(child_seconds) - cpu)) $((SECONDS - begin))
}

# Whole CPU seconds of all processes that this shell has waited for.
child_seconds() {
  awk -v ticks="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print int(($14 + $15) / ticks) }' "/proc/$$/stat"
}

# report_cost DIRECTORY START_NS CPU_SECONDS WALL_SECONDS: where the time of a long build went.
report_cost() {
  awk -v cpu="$3" -v wall="$4" 'BEGIN {
    printf "built in %.1f CPU minutes, %.1f minutes by the clock; most expensive:\n", cpu / 60, wall / 60 }' >&2
  awk -F'\t' -v start="$2" '$3 + 0 >= start && $4 ~ /\.o$/ {
      name = $4
      sub(/.*CMakeFiles\//, "", name); sub(/\.dir\//, " ", name); sub(/\.o$/, "", name)
      sub(/Unity\/unity_/, "joined files ", name); sub(/_cxx\.cxx$/, "", name)
      seconds[name] = ($2 - $1) / 1000 }
    END { for (name in seconds) printf "%8.1f s  %s\n", seconds[name], name }' "$1/.ninja_log" |
    sort -rn | sed -n 1,10p >&2
}
