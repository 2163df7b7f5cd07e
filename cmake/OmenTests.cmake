# SPDX-License-Identifier: Apache-2.0
# Registers unit tests, text cases and fuzz targets, wherever their files lie.
include_guard(GLOBAL)

if(OMEN_BUILD_TESTS)
  include(GoogleTest)
endif()

# omen_add_unit_test(<source> [PREFIX <text>] [LINK <target>...] [INCLUDE <directory>...]
#                    [LABELS <label>...] [ENVIRONMENT <var=value>...] [TORCH] [BARE])
# One program per test file, named <prefix><stem>. TORCH bounds how many are compiled at a time;
# BARE leaves the host and its test support out.
function(omen_add_unit_test source)
  cmake_parse_arguments(arg "BARE;TORCH" "PREFIX" "LINK;INCLUDE;LABELS;ENVIRONMENT" ${ARGN})
  cmake_path(GET source STEM stem)
  set(name ${arg_PREFIX}${stem})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main omen_warnings)
  if(NOT arg_BARE)
    target_link_libraries(${name} PRIVATE omen_test_support)
    if(TARGET omen_test_support_objects)
      target_link_libraries(${name} PRIVATE omen_test_support_objects)
    endif()
  endif()
  target_include_directories(${name} PRIVATE ${arg_INCLUDE})
  target_compile_definitions(${name} PRIVATE OMEN_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}/tests"
    OMEN_TEST_BUILD_DIR="${CMAKE_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  if(arg_TORCH)
    set_target_properties(${name} PROPERTIES JOB_POOL_COMPILE omen_torch)
    # Spinning OpenMP teams of tests that run side by side would starve each other.
    list(APPEND arg_ENVIRONMENT OMP_NUM_THREADS=1)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 TEST_PREFIX "${name}."
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300 ENVIRONMENT "${arg_ENVIRONMENT}")
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

# omen_add_cases(<directory>): all cases of a directory, where there is a program to run.
function(omen_add_cases directory)
  if(NOT TARGET Omen::cli)
    return()
  endif()
  file(GLOB cases CONFIGURE_DEPENDS "${directory}/*.case")
  foreach(file IN LISTS cases)
    omen_add_case("${file}")
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
