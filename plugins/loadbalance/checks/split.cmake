# SPDX-License-Identifier: Apache-2.0
# Kernels divided between the two devices that PoCL offers.

if(TARGET loadbalance-llvm AND OMEN_HAS_OPENCL)
  add_executable(loadbalance_split_quality split_quality.cpp)
  target_link_libraries(loadbalance_split_quality PRIVATE loadbalance_split Omen::testing
    omen_warnings)
  set_target_properties(loadbalance_split_quality PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_dependencies(loadbalance_split_quality loadbalance-llvm)
  foreach(check results refusals)
    omen_add_show_check(NAME split_${check} TRACK loadbalance
      COMMAND $<TARGET_FILE:loadbalance_split_quality> "${CMAKE_BINARY_DIR}/plugins" ${check})
  endforeach()
  omen_add_show_check(NAME split_quality TRACK loadbalance SLOW
    COMMAND $<TARGET_FILE:loadbalance_split_quality> "${CMAKE_BINARY_DIR}/plugins" quality)
  set(lost_runs "${CMAKE_CURRENT_SOURCE_DIR}/lost_runs.sh" $<TARGET_FILE:omen>
      "${CMAKE_CURRENT_SOURCE_DIR}/../examples")
  omen_add_show_check(NAME lost_runs TRACK loadbalance COMMAND ${lost_runs} 5)
  omen_add_show_check(NAME lost_runs_many TRACK loadbalance SLOW COMMAND ${lost_runs} 100)
endif()
