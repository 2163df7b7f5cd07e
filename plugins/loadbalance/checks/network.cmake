# SPDX-License-Identifier: Apache-2.0
# The networks: accuracy from kept fold models, and speed against index operations and PyTorch
# Geometric.

if(NOT TARGET loadbalance_network OR NOT TARGET Omen::cli OR NOT TARGET loadbalance-llvm)
  return()
endif()

add_executable(loadbalance_network_folds network_folds.cpp fold_data.cpp)
add_executable(loadbalance_network_speed network_speed.cpp)
foreach(program loadbalance_network_folds loadbalance_network_speed)
  target_link_libraries(${program} PRIVATE loadbalance_network Omen::testing omen_warnings)
  set_target_properties(${program} PROPERTIES JOB_POOL_COMPILE omen_torch
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
endforeach()

set(with_dataset "${CMAKE_CURRENT_SOURCE_DIR}/with_dataset.sh" $<TARGET_FILE:Omen::cli>
  devmap-nvidia-graphs)
set(speed $<TARGET_FILE:loadbalance_network_speed>)
set(places TABLES "${PROJECT_SOURCE_DIR}/build/python" "${CMAKE_BINARY_DIR}/bench/loadbalance")
omen_add_show_check(NAME message_aggregate_over_index_ops TRACK loadbalance
  COMMAND ${with_dataset} ${speed} messages TABLES)
# Slow for the wheels of PyTorch: over 5 GB.
omen_add_show_check(NAME single_graph_inference_over_pyg TRACK loadbalance SLOW
  COMMAND ${with_dataset} "${CMAKE_CURRENT_SOURCE_DIR}/network_speed.sh" inference ${speed}
          ${places})
omen_add_show_check(NAME training_epoch_over_pyg TRACK loadbalance SLOW
  COMMAND ${with_dataset} "${CMAKE_CURRENT_SOURCE_DIR}/network_speed.sh" epoch ${speed} ${places})

set(folds $<TARGET_FILE:loadbalance_network_folds>)
set(shuffled "${CMAKE_CURRENT_SOURCE_DIR}/../tasks/devmap-nvidia-shuffled.split.csv"
  "${CMAKE_CURRENT_SOURCE_DIR}/network-folds")
omen_add_show_check(NAME network_shuffled TRACK loadbalance
  COMMAND ${with_dataset} ${folds} check TABLES ${shuffled})
omen_add_show_check(NAME network_short_fold TRACK loadbalance
  COMMAND ${with_dataset} ${folds} short TABLES ${shuffled})
# Slow for ten trainings.
omen_add_show_check(NAME network_retrained_folds TRACK loadbalance SLOW
  COMMAND ${with_dataset} ${folds} retrain TABLES ${shuffled})

include(GoogleTest)
set(weights loadbalance_published_weights_test)
add_executable(${weights} ../tests/network/published_weights_test.cpp)
target_link_libraries(${weights} PRIVATE loadbalance_network GTest::gmock GTest::gtest_main
  Omen::testing omen_warnings)
target_include_directories(${weights} PRIVATE ../tests)
target_compile_definitions(${weights} PRIVATE OMEN_CLI="$<TARGET_FILE:Omen::cli>"
  OMEN_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}/tests" OMEN_TEST_BUILD_DIR="${CMAKE_BINARY_DIR}")
set_target_properties(${weights} PROPERTIES JOB_POOL_COMPILE omen_torch
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
add_dependencies(${weights} loadbalance-llvm)
gtest_discover_tests(${weights} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
  TEST_PREFIX "${weights}."
  PROPERTIES LABELS loadbalance TIMEOUT 600 ENVIRONMENT OMP_NUM_THREADS=1)
