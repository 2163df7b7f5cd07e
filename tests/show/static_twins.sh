#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Loads two plugins with different versions of one static library into one process.
#   static_twins.sh TEST_PROGRAM
# With OMEN_SHOW_BREAK=1 the program loads the first plugin twice, so the versions do not differ.
set -u
failed=0
"$1" || failed=1
echo "SHOW static_twins_mixed_up $failed plugins goal == 0"
exit $failed
