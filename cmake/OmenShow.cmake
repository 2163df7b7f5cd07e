# SPDX-License-Identifier: Apache-2.0
# Registers acceptance checks: each prints SHOW lines, and has a control run that must miss its goal.
include_guard(GLOBAL)

# omen_add_show_check(NAME <name> TRACK <track> COMMAND <command>... [SLOW] [TIMEOUT <seconds>]
#                     [ENVIRONMENT <var=value>...])
# Adds show.<track>.<name> (label show, or show-slow) and show.<track>.<name>.control, which runs
# the same command with OMEN_SHOW_BREAK=1 and passes only when a printed figure misses its goal.
function(omen_add_show_check)
  cmake_parse_arguments(arg "SLOW" "NAME;TRACK;TIMEOUT" "COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT arg_NAME OR NOT arg_TRACK OR NOT arg_COMMAND)
    message(FATAL_ERROR "omen_add_show_check needs NAME, TRACK and COMMAND")
  endif()
  if(NOT OMEN_BUILD_TESTS)
    return()
  endif()
  set(label show)
  set(timeout 300)
  if(arg_SLOW)
    set(label show-slow)
    set(timeout 7200)
  endif()
  if(arg_TIMEOUT)
    set(timeout ${arg_TIMEOUT})
  endif()
  set(test "show.${arg_TRACK}.${arg_NAME}")
  set(runner sh "${PROJECT_SOURCE_DIR}/tests/show/run_check.sh")
  set(record "${CMAKE_BINARY_DIR}/show/${arg_TRACK}.${arg_NAME}")
  add_test(NAME ${test} COMMAND ${runner} check "${record}.txt" ${arg_COMMAND})
  add_test(NAME ${test}.control COMMAND ${runner} control "${record}.control" ${arg_COMMAND})
  # Figures are measured alone on the machine, whatever ctest -j says.
  set_tests_properties(${test} ${test}.control PROPERTIES RUN_SERIAL ON TIMEOUT ${timeout}
    SKIP_RETURN_CODE 77)
  if(arg_ENVIRONMENT)
    set_tests_properties(${test} ${test}.control PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${label};${arg_TRACK}")
  set_tests_properties(${test}.control PROPERTIES LABELS "${label}-control;${arg_TRACK}")
endfunction()
