# SPDX-License-Identifier: Apache-2.0
# The commands of the block "setup" in README.md; tests/docs runs them.
./run.sh list
