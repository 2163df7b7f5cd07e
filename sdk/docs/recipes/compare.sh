# SPDX-License-Identifier: Apache-2.0
# The commands of the block "compare" in README.md; tests/docs runs them.
omen compare baseline.ridge baseline.gbt --task matmul-cpu
