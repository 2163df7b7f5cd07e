# SPDX-License-Identifier: Apache-2.0
# Data flow: F1 of the kept models on the test part of the 1,000 modules, and memory of streams.

if(NOT TARGET loadbalance_network OR NOT TARGET Omen::cli OR NOT TARGET loadbalance-llvm)
  return()
endif()

foreach(program check memory)
  add_executable(loadbalance_dataflow_${program} dataflow_${program}.cpp)
  target_link_libraries(loadbalance_dataflow_${program} PRIVATE loadbalance_network Omen::testing
    omen_warnings)
  set_target_properties(loadbalance_dataflow_${program} PROPERTIES JOB_POOL_COMPILE omen_torch
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
endforeach()
omen_add_show_check(NAME dataflow_memory_of_8x_data TRACK loadbalance
  COMMAND $<TARGET_FILE:loadbalance_dataflow_memory> ENVIRONMENT OMP_NUM_THREADS=1)

set(dataflow "${CMAKE_CURRENT_SOURCE_DIR}/dataflow.sh" $<TARGET_FILE:Omen::cli>
  $<TARGET_FILE:loadbalance_dataflow_check> "${CMAKE_BINARY_DIR}/bench/loadbalance/dataflow")
set(models "${CMAKE_CURRENT_SOURCE_DIR}/../models/dataflow")
foreach(task reachability dominance datadep liveness subexpressions)
  omen_add_show_check(NAME dataflow_${task}_f1 TRACK loadbalance SLOW
    COMMAND ${dataflow} score ${task} "${models}/${task}.omen")
endforeach()
omen_add_show_check(NAME dataflow_reachability_f1_fast TRACK loadbalance
  COMMAND ${dataflow} score reachability "${models}/reachability.omen" fast)
