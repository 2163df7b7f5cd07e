# SPDX-License-Identifier: Apache-2.0
# The networks: accuracy from kept fold models.

if(NOT TARGET loadbalance_network OR NOT TARGET Omen::cli OR NOT TARGET loadbalance-llvm)
  return()
endif()

add_executable(loadbalance_network_folds network_folds.cpp fold_data.cpp)
target_link_libraries(loadbalance_network_folds PRIVATE loadbalance_network omen_warnings)
set_target_properties(loadbalance_network_folds PROPERTIES JOB_POOL_COMPILE omen_torch
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
