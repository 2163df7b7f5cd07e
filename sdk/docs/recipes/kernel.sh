# SPDX-License-Identifier: Apache-2.0
# The commands of the block "kernel" in README.md; tests/docs runs them.
omen graph examples/loadbalance/saxpy.cl
omen graph examples/loadbalance/saxpy.cl -o saxpy.svg
