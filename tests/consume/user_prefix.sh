#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs a plugin in C with a library of its own into ~/.local, where omen finds it without being told.
#   user_prefix.sh OMEN WORK PREFIX      PREFIX: where Omen itself was installed
set -euo pipefail
omen=$1 work=$2 prefix=$3
rm -rf "$work"
mkdir -p "$work/home"
cd "$work"
export HOME=$work/home PATH="$(dirname "$omen"):$PATH"
unset XDG_DATA_HOME OMEN_PLUGIN_PATH

omen new mine --kind scorer --lang c
echo 'double half(double x) { return x / 2; }' >half.c
cc -shared -fPIC -Wl,-soname,libhalf.so -o mine/libhalf.so half.c
sed -i 's/LINK m)/LINK m LIBS libhalf.so)/' mine/CMakeLists.txt
sed -i 's/^typedef struct {$/double half(double);\n&/; s/scorer->limit = \(.*\);/scorer->limit = half(2 * \1);/' mine/src/mine.c
grep -q 'half(2' mine/src/mine.c
cmake -S mine -B mine/build -G Ninja -DBUILD_TESTING=OFF
cmake --build mine/build
cmake --install mine/build --prefix "$HOME/.local"
rm -rf mine  # nothing is needed from there any more
omen list --plain | grep -w mine.cheapest
omen verify mine
[ -f "$prefix/share/doc/omen/authoring.md" ] || { echo "error: the pages of the SDK are not installed"; exit 1; }
