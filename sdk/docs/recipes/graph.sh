# SPDX-License-Identifier: Apache-2.0
# The commands of the block "graph" in README.md; tests/docs runs them.
omen graph examples/mlp.json
omen graph examples/mlp.json -o mlp.dot
omen info baseline.nodelink
