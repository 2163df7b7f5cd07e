# SPDX-License-Identifier: Apache-2.0
# The commands of the block "session" in README.md; tests/docs runs them.
omen predict examples/matmul.csv
