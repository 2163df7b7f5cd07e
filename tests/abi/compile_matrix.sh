#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles what authors include the way that they may compile it.
#   compile_matrix.sh abi|headers|refused|layout COMPILER_C COMPILER_CXX SOURCE_DIR
set -u
mode=$1 cc=$2 cxx=$3 source=$4
strict="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I$source/sdk/include -I$source/sdk/container/include"
here=$source/tests/abi
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try LABEL COMMAND...: shows the compiler's words only where it fails.
try() {
  label=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    echo "ok      $label"
  else
    echo "FAILED  $label"
    cat "$work/log"
    failed=1
  fi
}

# refuse LABEL TEXT COMMAND...: the compiler must fail, and say TEXT.
refuse() {
  label=$1 text=$2
  shift 2
  if "$@" >"$work/log" 2>&1; then
    echo "FAILED  $label: it compiles"
    failed=1
  elif ! grep -qE "$text" "$work/log"; then
    echo "FAILED  $label: refused for another reason than '$text'"
    cat "$work/log"
    failed=1
  else
    echo "ok      $label: refused"
  fi
}

abi() {
  for standard in c11 c17; do
    try "$cc -std=$standard layout.h" $cc -x c -std=$standard $strict "$here/layout.h"
  done
  for standard in c++11 c++14 c++17 c++20; do
    try "$cxx -std=$standard layout.h" $cxx -x c++ -std=$standard $strict "$here/layout.h"
    try "$cxx -std=$standard -fno-exceptions layout.h" $cxx -x c++ -std=$standard -fno-exceptions $strict "$here/layout.h"
  done
  try "$cc frozen header" $cc -x c -std=c11 -I"$here/frozen_0_1" $strict "$here/layout.h"
}

headers() {
  for header in "$source"/sdk/include/omen/*.h "$source"/sdk/include/omen/*.hpp \
                "$source"/sdk/include/omen/draft/*.h "$source"/sdk/include/omen/ext/*.h \
                "$source"/sdk/container/include/omen/*.hpp; do
    name=omen/${header##*/include/omen/}
    if LC_ALL=C grep -qP '[^\x00-\x7F]' "$header"; then
      echo "FAILED  $name is not ASCII"
      failed=1
    fi
    echo "#include \"$name\"" >"$work/alone.cpp"
    try "$cxx -std=c++17 $name alone" $cxx -std=c++17 $strict "$work/alone.cpp"
  done
}

refused() {
  for file in "$here"/must_not_compile/*.cpp; do
    name=${file##*/}
    text=$(sed -n 's|^// expect: ||p' "$file")
    flags="-std=c++20 $strict -I$source/host/src"
    try "$name, the good twin" $cxx $flags -DOMEN_MUST_FAIL=0 "$file"
    refuse "$name" "$text" $cxx $flags -DOMEN_MUST_FAIL=1 "$file"
  done
}

# The layout assertions themselves: a field in the middle, a reordered slot and a changed value must each be caught.
layout() {
  mkdir -p "$work/omen"
  cp "$source/sdk/include/omen/arrow_c.h" "$work/omen/"
  mutate() {
    sed "$2" "$source/sdk/include/omen/abi.h" >"$work/omen/abi.h"
    if cmp -s "$work/omen/abi.h" "$source/sdk/include/omen/abi.h"; then
      echo "FAILED  $1: the mutation changes nothing"
      failed=1
      return
    fi
    refuse "$1" "$3" $cc -x c -std=c11 -I"$work" $strict "$here/layout.h"
  }
  mutate "field in the middle of omen_run" 's|^  uint64_t seed;|  uint64_t extra; uint64_t seed;|' "has moved"
  mutate "slot before destroy" 's|^  void (\*destroy)(omen_object \*)|  void (*extra)(omen_object *); void (*destroy)(omen_object *)|' "has moved"
  mutate "changed status" 's|OMEN_IO = 10|OMEN_IO = 12|' "has changed"
  mutate "field gone from omen_plugin" 's|^  void (\*deinit)(void);||' "deinit|has moved"
}

$mode
exit $failed
