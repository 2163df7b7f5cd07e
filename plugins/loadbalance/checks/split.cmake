# SPDX-License-Identifier: Apache-2.0
# Kernels divided between the two devices that PoCL offers.

if(TARGET loadbalance-opencl AND TARGET Omen::cli AND OMEN_HAS_OPENCL)
  add_executable(loadbalance_split_quality split_quality.cpp)
  target_link_libraries(loadbalance_split_quality PRIVATE loadbalance_split Omen::testing
    omen_warnings)
  set_target_properties(loadbalance_split_quality PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_dependencies(loadbalance_split_quality omen loadbalance-llvm loadbalance-opencl)
  foreach(check results refusals)
    omen_add_show_check(NAME split_${check} TRACK loadbalance
      COMMAND $<TARGET_FILE:loadbalance_split_quality> $<TARGET_FILE:omen> ${check})
  endforeach()
  foreach(check quality disturbed halves pinned)
    omen_add_show_check(NAME split_${check} TRACK loadbalance SLOW
      COMMAND $<TARGET_FILE:loadbalance_split_quality> $<TARGET_FILE:omen> ${check})
  endforeach()
  set(lost_runs "${CMAKE_CURRENT_SOURCE_DIR}/lost_runs.sh" $<TARGET_FILE:omen>
      "${CMAKE_CURRENT_SOURCE_DIR}/../examples")
  omen_add_show_check(NAME lost_runs TRACK loadbalance COMMAND ${lost_runs} 5)
  omen_add_show_check(NAME lost_runs_many TRACK loadbalance SLOW COMMAND ${lost_runs} 100)
endif()

# Kernels that lead the judge astray: judged in every run, run where there is time.
if(TARGET loadbalance_opencl)
  add_executable(loadbalance_adversarial adversarial.cpp)
  target_link_libraries(loadbalance_adversarial PRIVATE loadbalance_opencl Omen::testing
    omen_warnings)
  set_target_properties(loadbalance_adversarial PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  set(adversarial $<TARGET_FILE:loadbalance_adversarial> "${CMAKE_CURRENT_SOURCE_DIR}/adversarial")
  omen_add_show_check(NAME adversarial TRACK loadbalance COMMAND ${adversarial} judge)
  if(TARGET loadbalance_split_quality)
    omen_add_show_check(NAME adversarial_runs TRACK loadbalance SLOW
      COMMAND ${adversarial} run $<TARGET_FILE:omen>)
  endif()
endif()
