# SPDX-License-Identifier: Apache-2.0
# Accuracy of the cost model under the splits of the tasks.

if(NOT TARGET loadbalance_cost OR NOT TARGET Omen::cli OR NOT TARGET loadbalance-llvm)
  return()
endif()

add_executable(loadbalance_cost_folds cost_folds.cpp)
target_link_libraries(loadbalance_cost_folds PRIVATE loadbalance_cost Omen::container
  Omen::testing omen_warnings)
add_executable(loadbalance_cost_knowledge cost_knowledge.cpp)
target_link_libraries(loadbalance_cost_knowledge PRIVATE loadbalance_cost Omen::container
  Omen::testing omen_warnings)
add_executable(loadbalance_cost_verdicts cost_verdicts.cpp)
target_link_libraries(loadbalance_cost_verdicts PRIVATE nlohmann_json::nlohmann_json
  Omen::testing omen_warnings)
set_target_properties(loadbalance_cost_folds loadbalance_cost_knowledge
  loadbalance_cost_verdicts PROPERTIES CXX_STANDARD 20 RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")

set(folds $<TARGET_FILE:loadbalance_cost_folds>)
set(splits "${CMAKE_CURRENT_SOURCE_DIR}/../tasks")
set(with_dataset "${CMAKE_CURRENT_SOURCE_DIR}/with_dataset.sh" $<TARGET_FILE:Omen::cli>)
omen_add_show_check(NAME cost_gpu_out TRACK loadbalance SLOW
  COMMAND ${with_dataset} devmap-gpus ${folds} TABLES "${splits}/devmap-gpu-out.split.csv" both
          gpu-out)
omen_add_show_check(NAME cost_observe_task TRACK loadbalance SLOW
  COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/cost_observe_task.sh" $<TARGET_FILE:Omen::cli> "${splits}")
# Verdicts come from compare. Its 40 folds of the shuffled tasks, with references and intervals,
# would take up to half an hour a platform, so accuracy alone is measured there.
foreach(platform nvidia amd)
  omen_add_show_check(NAME cost_shuffled_${platform} TRACK loadbalance SLOW
    COMMAND ${with_dataset} devmap-${platform}-graphs ${folds} TABLES
            "${splits}/devmap-${platform}-shuffled.split.csv" ${platform} shuffled)
  omen_add_show_check(NAME cost_grouped_${platform} TRACK loadbalance SLOW
    COMMAND ${with_dataset} devmap-${platform}-graphs $<TARGET_FILE:loadbalance_cost_verdicts>
            $<TARGET_FILE:Omen::cli> ${platform})
  foreach(check novelty:suite intervals:grouped twins:grouped observe:suite)
    string(REPLACE ":" ";" parts ${check})
    list(GET parts 0 mode)
    list(GET parts 1 task)
    omen_add_show_check(NAME cost_${mode}_${platform} TRACK loadbalance SLOW
      COMMAND ${with_dataset} devmap-${platform}-graphs $<TARGET_FILE:loadbalance_cost_knowledge>
              TABLES "${splits}/devmap-${platform}-${task}.split.csv" ${platform} ${mode})
  endforeach()
endforeach()
