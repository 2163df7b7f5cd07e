# SPDX-License-Identifier: Apache-2.0
# The commands of the block "train" in README.md; tests/docs runs them.
omen train baseline.ridge --data matmul-cpu -o mine.omen
omen predict -m mine.omen --m 512 --n 512 --k 64 --dtype f32 -O threads=2
printf '{"m": 64, "n": 64, "k": 8, "threads": 1, "dtype": "f64"}\n' | omen predict - -m mine.omen --csv
