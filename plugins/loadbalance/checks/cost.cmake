# SPDX-License-Identifier: Apache-2.0
# Accuracy of the cost model under the splits of the tasks.

if(NOT TARGET loadbalance_cost OR NOT TARGET Omen::cli OR NOT TARGET loadbalance-llvm)
  return()
endif()

add_executable(loadbalance_cost_folds cost_folds.cpp)
target_link_libraries(loadbalance_cost_folds PRIVATE loadbalance_cost Omen::container omen_warnings)
add_executable(loadbalance_cost_verdicts cost_verdicts.cpp)
target_link_libraries(loadbalance_cost_verdicts PRIVATE nlohmann_json::nlohmann_json omen_warnings)
set_target_properties(loadbalance_cost_folds loadbalance_cost_verdicts PROPERTIES
  CXX_STANDARD 20 RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")

set(with_dataset "${CMAKE_CURRENT_SOURCE_DIR}/with_dataset.sh" $<TARGET_FILE:Omen::cli>)
omen_add_show_check(NAME cost_gpu_out TRACK loadbalance SLOW
  COMMAND ${with_dataset} devmap-gpus $<TARGET_FILE:loadbalance_cost_folds> TABLES
          "${PROJECT_SOURCE_DIR}/tasks/loadbalance/devmap-gpu-out.split.csv" gpu-out)
# The reference of boosted trees chooses its knobs for programs that were not seen, so trees that
# suit twins on both sides stand beside it.
foreach(platform nvidia amd)
  foreach(protocol shuffled grouped)
    omen_add_show_check(NAME cost_${protocol}_${platform} TRACK loadbalance SLOW
      COMMAND ${with_dataset} devmap-${platform}-graphs $<TARGET_FILE:loadbalance_cost_verdicts>
              $<TARGET_FILE:Omen::cli> ${platform} ${protocol}
              baseline.gbt@rounds=200,depth=6,eta=0.1)
  endforeach()
endforeach()
