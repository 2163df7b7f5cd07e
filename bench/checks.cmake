# SPDX-License-Identifier: Apache-2.0
# Acceptance figures that the benchmark programs measure.

if(TARGET torch_message_passing_bench)
  omen_add_show_check(NAME torch_aggregation_speedup TRACK kernel
    COMMAND $<TARGET_FILE:torch_message_passing_bench> --show)
endif()
