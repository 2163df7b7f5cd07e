# SPDX-License-Identifier: Apache-2.0
# Registers unit tests, text cases and fuzz targets, wherever their files lie.
include_guard(GLOBAL)

if(OMEN_BUILD_TESTS)
  include(GoogleTest)
endif()

# omen_add_unit_tests(<area> SOURCES <file>... [PREFIX <text>] [LINK <target>...]
#                     [INCLUDE <directory>...] [DEFINE <definition>...] [DEPENDS <target>...]
#                     [LABELS <label>...] [ENVIRONMENT <var=value>...] [TORCH] [BARE])
# CTest names are <prefix><file stem>.<Suite>.<Case> in every kind of build, so that they can be
# chosen and skipped by file. Joined builds (CMAKE_UNITY_BUILD) compile an area into one program,
# <area>_tests; others let whoever works on one file build that alone, as <prefix><stem>.
# TORCH bounds how many are compiled at a time; BARE leaves the host and its test support out.
function(omen_add_unit_tests area)
  cmake_parse_arguments(arg "BARE;TORCH" "PREFIX"
    "SOURCES;LINK;INCLUDE;DEFINE;DEPENDS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT CMAKE_UNITY_BUILD)
    foreach(source IN LISTS arg_SOURCES)
      cmake_path(GET source STEM stem)
      _omen_test_program(${arg_PREFIX}${stem} ${source})
      _omen_discover_tests(${arg_PREFIX}${stem} ${arg_PREFIX}${stem} "*")
    endforeach()
    return()
  endif()

  # A file with a main() of its own is a program of its own, built with the others.
  set(own "")
  foreach(source IN LISTS arg_SOURCES)
    file(STRINGS "${source}" main REGEX "^int main\\(")
    if(main)
      cmake_path(GET source STEM stem)
      list(REMOVE_ITEM arg_SOURCES "${source}")
      list(APPEND own ${arg_PREFIX}${stem})
      _omen_test_program(${arg_PREFIX}${stem} ${source})
      _omen_discover_tests(${arg_PREFIX}${stem} ${arg_PREFIX}${stem} "*")
    endif()
  endforeach()
  _omen_test_program(${area}_tests ${arg_SOURCES})
  if(own)
    add_dependencies(${area}_tests ${own})
  endif()
  set(known "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(GET source STEM stem)
    _omen_test_suites("${source}" suites)
    foreach(suite IN LISTS suites)
      if(suite IN_LIST known)
        message(FATAL_ERROR "${source}: another file of area ${area} has a suite ${suite} too")
      endif()
    endforeach()
    list(APPEND known ${suites})
    _omen_suite_filter("${suites}" filter)
    _omen_discover_tests(${area}_tests ${arg_PREFIX}${stem} "${filter}")
  endforeach()
  # What was not seen in any file is not lost.
  _omen_suite_filter("${known}" filter)
  _omen_discover_tests(${area}_tests ${area}_tests "-${filter}")
endfunction()

# omen_add_unit_test(<source> <argument of omen_add_unit_tests>...): a program of its own in every
# kind of build, named <prefix><stem>.
function(omen_add_unit_test source)
  cmake_parse_arguments(arg "BARE;TORCH" "PREFIX"
    "LINK;INCLUDE;DEFINE;DEPENDS;LABELS;ENVIRONMENT" ${ARGN})
  cmake_path(GET source STEM stem)
  _omen_test_program(${arg_PREFIX}${stem} ${source})
  _omen_discover_tests(${arg_PREFIX}${stem} ${arg_PREFIX}${stem} "*")
endfunction()

macro(_omen_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ${arg_LINK} Omen::testing GTest::gmock GTest::gtest_main
    omen_warnings)
  if(NOT arg_BARE)
    target_link_libraries(${name} PRIVATE omen_test_support)
    if(TARGET omen_test_support_objects)
      target_link_libraries(${name} PRIVATE omen_test_support_objects)
    endif()
  endif()
  target_include_directories(${name} PRIVATE ${arg_INCLUDE})
  target_compile_definitions(${name} PRIVATE OMEN_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}/tests"
    OMEN_TEST_BUILD_DIR="${CMAKE_BINARY_DIR}" ${arg_DEFINE})
  # What is tested is optimised; optimising the tests themselves costs more than it saves.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()
  if(arg_TORCH)
    set_target_properties(${name} PROPERTIES JOB_POOL_COMPILE omen_torch)
  endif()
endmacro()

# The tests of a program that a filter of GoogleTest chooses, as <prefix>.<Suite>.<Case>. With
# OMEN_TESTS_BY_FILE they are one test <prefix>, which leaves its cases in Testing/cases/<prefix>.xml:
# in an instrumented build most of the time would go into opening LibTorch for each case.
macro(_omen_discover_tests program prefix filter)
  set(environment ${arg_ENVIRONMENT})
  if(arg_TORCH)
    # Spinning OpenMP teams of tests that run side by side would starve each other.
    list(APPEND environment OMP_NUM_THREADS=1)
  endif()
  if(OMEN_TESTS_BY_FILE)
    add_test(NAME ${prefix} COMMAND ${program} "--gtest_filter=${filter}"
             "--gtest_output=xml:${CMAKE_BINARY_DIR}/Testing/cases/${prefix}.xml")
    set_tests_properties(${prefix} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 1800
      ENVIRONMENT "${environment}")
  else()
    # CMake takes a list among the properties apart as often as it hands it on: seven escapes remain
    # one list where ctest reads it, and one fewer loses every label but the first.
    string(REPEAT "\\" 7 escapes)
    string(REPLACE ";" "${escapes};" environment "${environment}")
    string(REPLACE ";" "${escapes};" labels "${arg_LABELS}")
    gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
      TEST_PREFIX "${prefix}." TEST_FILTER "${filter}"
      PROPERTIES LABELS "${labels}" TIMEOUT 300 ENVIRONMENT "${environment}")
  endif()
endmacro()

# The suites that a file defines; an edited file is read again.
function(_omen_test_suites source variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(STRINGS "${source}" suites REGEX "^(TYPED_)?TEST(_F|_P)?\\(")
  list(TRANSFORM suites REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+),.*" "\\1")
  list(REMOVE_DUPLICATES suites)
  set(${variable} "${suites}" PARENT_SCOPE)
endfunction()

# Parameterised suites carry a name before theirs or a number after it.
function(_omen_suite_filter suites variable)
  list(TRANSFORM suites REPLACE "(.+)" "\\1.*:*/\\1.*:\\1/*")
  list(JOIN suites ":" filter)
  set(${variable} "${filter}" PARENT_SCOPE)
endfunction()

# omen_add_case(<file> [LABELS <label>...]): one .case file as a test, labelled with its groups.
# "# needs: <target>" leaves it out of builds without that target.
function(omen_add_case file)
  cmake_parse_arguments(arg "" "" "LABELS" ${ARGN})
  cmake_path(GET file STEM name)
  omen_needs("${file}" needs)
  if(needs AND NOT TARGET ${needs})
    return()
  endif()
  file(STRINGS "${file}" groups REGEX "^# group: \\[.*\\]$")
  string(REGEX MATCHALL "[a-z][a-z0-9_-]*" labels "${groups}")
  list(REMOVE_ITEM labels group)
  add_test(NAME case.${name} COMMAND case_runner "OMEN=${CMAKE_BINARY_DIR}/bin/omen"
           "FIXTURES=${CMAKE_BINARY_DIR}/fixtures" "BUILD=${CMAKE_BINARY_DIR}"
           "SOURCE=${PROJECT_SOURCE_DIR}" "${file}")
  set_tests_properties(case.${name} PROPERTIES LABELS "case;${labels};${arg_LABELS}"
    SKIP_RETURN_CODE 77 TIMEOUT 600)
endfunction()

# omen_add_cases(<directory> [LABELS <label>...]): all cases of a directory, where there is a
# program to run.
function(omen_add_cases directory)
  cmake_parse_arguments(arg "" "" "LABELS" ${ARGN})
  if(NOT TARGET Omen::cli)
    return()
  endif()
  file(GLOB cases CONFIGURE_DEPENDS "${directory}/*.case")
  foreach(file IN LISTS cases)
    omen_add_case("${file}" LABELS ${arg_LABELS})
  endforeach()
endfunction()

# omen_add_fuzzers(<directory> TRACK <track> [LINK <target>...]): one libFuzzer program per
# *_fuzz.cpp; other builds replay the corpus beside it. "// needs: <target>" in the file names the
# library to link instead; without that target the fuzzer is left out.
function(omen_add_fuzzers directory)
  cmake_parse_arguments(arg "" "TRACK" "LINK" ${ARGN})
  if(NOT TARGET omen_fuzzers)
    add_custom_target(omen_fuzzers)
  endif()
  set(kit "${PROJECT_SOURCE_DIR}/tests/fuzz")
  file(GLOB sources CONFIGURE_DEPENDS "${directory}/*_fuzz.cpp")
  foreach(source IN LISTS sources)
    omen_needs("${source}" links)
    if(links AND NOT TARGET ${links})
      continue()
    elseif(NOT links)
      set(links ${arg_LINK})
    endif()
    cmake_path(GET source STEM name)
    add_executable(${name} ${source})
    add_dependencies(omen_fuzzers ${name})
    target_link_libraries(${name} PRIVATE ${links} omen_warnings)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
    if(OMEN_SANITIZE STREQUAL "fuzzer")
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      continue()
    endif()
    target_sources(${name} PRIVATE "${kit}/replay_main.cpp")
    string(REGEX REPLACE "_fuzz$" "" corpus "${name}")
    add_test(NAME fuzz_corpus.${corpus} COMMAND ${name} "${directory}/corpus/${corpus}")
    set_tests_properties(fuzz_corpus.${corpus} PROPERTIES LABELS "unit" TIMEOUT 120)
    if(NOT OMEN_SANITIZE)
      omen_add_show_check(NAME fuzz_${corpus} TRACK ${arg_TRACK} SLOW
        COMMAND "${kit}/show.sh" ${corpus})
    endif()
  endforeach()
endfunction()

# omen_needs(<file> <variable>): the target that a line "needs: <target>" of its head names.
function(omen_needs file variable)
  file(STRINGS "${file}" needs REGEX "^(#|//) needs: ")
  list(TRANSFORM needs REPLACE "^(#|//) needs: " "")
  set(${variable} "${needs}" PARENT_SCOPE)
endfunction()
