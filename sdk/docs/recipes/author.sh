# SPDX-License-Identifier: Apache-2.0
# The commands of the block "author" in README.md; tests/docs runs them.
omen new mine --kind predictor
cmake -S mine -B mine/build -G Ninja
cmake --build mine/build
omen verify mine/build/plugins/mine
omen train mine --plugin-path mine/build/plugins --data matmul-cpu -o mine.omen
omen predict examples/matmul.csv --plugin-path mine/build/plugins -m mine.omen
