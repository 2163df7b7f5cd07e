# SPDX-License-Identifier: Apache-2.0
# Vocabularies, counts and labels on the public corpora.

if(NOT TARGET loadbalance_llvm OR NOT TARGET Omen::cli OR NOT TARGET Omen::learn OR
   NOT TARGET loadbalance-llvm)
  return()
endif()

add_executable(loadbalance_corpora corpora.cpp)
target_link_libraries(loadbalance_corpora PRIVATE loadbalance_llvm Omen::container Omen::testing
  Omen::learn omen_warnings)
target_include_directories(loadbalance_corpora PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/../tests")
target_compile_definitions(loadbalance_corpora PRIVATE OMEN_TEST_BUILD_DIR="${CMAKE_BINARY_DIR}")
set_target_properties(loadbalance_corpora PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")

omen_add_show_check(NAME vocabularies TRACK loadbalance
  COMMAND $<TARGET_FILE:loadbalance_corpora> vocabularies
          "${CMAKE_CURRENT_SOURCE_DIR}/../data/vocabulary.tsv")
omen_add_show_check(NAME grewe_counts TRACK loadbalance
  COMMAND $<TARGET_FILE:loadbalance_corpora> counts)
omen_add_show_check(NAME labels TRACK loadbalance
  COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/labels.sh" $<TARGET_FILE:Omen::cli>
          $<TARGET_FILE:loadbalance_corpora>)
