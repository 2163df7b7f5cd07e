# SPDX-License-Identifier: Apache-2.0
# The commands of the block "kernel" in README.md; tests/docs runs them.
omen graph plugins/loadbalance/examples/saxpy.cl
omen graph plugins/loadbalance/examples/saxpy.cl -o saxpy.svg
