# SPDX-License-Identifier: Apache-2.0
# Kernels divided between the two devices that PoCL offers.

if(TARGET loadbalance-llvm AND TARGET Omen::host AND OMEN_HAS_OPENCL)
  add_executable(loadbalance_split_quality split_quality.cpp)
  target_link_libraries(loadbalance_split_quality PRIVATE loadbalance_split Omen::host omen_warnings)
  set_target_properties(loadbalance_split_quality PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_dependencies(loadbalance_split_quality loadbalance-llvm)
  foreach(check results refusals)
    omen_add_show_check(NAME split_${check} TRACK loadbalance
      COMMAND $<TARGET_FILE:loadbalance_split_quality> "${CMAKE_BINARY_DIR}/plugins" ${check})
  endforeach()
  omen_add_show_check(NAME split_quality TRACK loadbalance SLOW
    COMMAND $<TARGET_FILE:loadbalance_split_quality> "${CMAKE_BINARY_DIR}/plugins" quality)
endif()
