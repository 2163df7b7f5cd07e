# SPDX-License-Identifier: Apache-2.0
# A track is one directory of plugins/: what lies in it by these names is found here, and nowhere
# listed. Its CMakeLists.txt builds src/ and modules/.
#   tests/ checks/ bench/  with a CMakeLists.txt: unit tests, acceptance figures, benchmarks
#   cases/*.case           text cases
#   fuzz/*_fuzz.cpp        fuzz targets, with fuzz/corpus/<name>/
#   tasks/ recipes/        installed as share/omen/tasks/<track> and share/omen/data/recipes
#   examples/ models/ data/ files that these use
include_guard(GLOBAL)
include(OmenTests)

# omen_add_track(<directory>)
function(omen_add_track directory)
  cmake_path(GET directory FILENAME track)
  if(EXISTS "${directory}/CMakeLists.txt")
    add_subdirectory("${directory}" ${track})
  endif()
  if(NOT OMEN_BUILD_TESTS)
    return()
  endif()
  set(parts "")
  if(OMEN_UNIT_TESTS AND NOT OMEN_SANITIZE STREQUAL "fuzzer")
    list(APPEND parts tests)
  endif()
  if(NOT OMEN_SANITIZE)
    list(APPEND parts checks bench)
  endif()
  foreach(part IN LISTS parts)
    if(EXISTS "${directory}/${part}/CMakeLists.txt")
      add_subdirectory("${directory}/${part}" ${track}/${part})
    endif()
  endforeach()
  omen_add_cases("${directory}/cases")
  omen_add_fuzzers("${directory}/fuzz" TRACK ${track})
endfunction()

# omen_share_data(): data/ with the recipes and tasks of all tracks, in share/omen of the build tree
# (as links) and of install trees.
function(omen_share_data)
  set(share "${CMAKE_BINARY_DIR}/share/omen")
  file(REMOVE_RECURSE "${share}/data" "${share}/tasks")
  file(MAKE_DIRECTORY "${share}/data/recipes" "${share}/tasks")
  file(GLOB data CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/data/*")
  list(FILTER data EXCLUDE REGEX "/recipes$")
  file(GLOB recipes CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plugins/*/recipes/*.json")
  file(GLOB tasks CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/plugins/*/tasks")
  foreach(item IN LISTS data)
    cmake_path(GET item FILENAME name)
    file(CREATE_LINK "${item}" "${share}/data/${name}" SYMBOLIC)
  endforeach()
  foreach(item IN LISTS recipes)
    cmake_path(GET item FILENAME name)
    file(CREATE_LINK "${item}" "${share}/data/recipes/${name}" SYMBOLIC)
  endforeach()
  foreach(item IN LISTS tasks)
    cmake_path(GET item PARENT_PATH directory)
    cmake_path(GET directory FILENAME track)
    file(CREATE_LINK "${item}" "${share}/tasks/${track}" SYMBOLIC)
    if(OMEN_INSTALL)
      install(DIRECTORY "${item}/" DESTINATION "${CMAKE_INSTALL_DATADIR}/omen/tasks/${track}")
    endif()
  endforeach()
  if(OMEN_INSTALL)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/data" DESTINATION "${CMAKE_INSTALL_DATADIR}/omen")
    install(FILES ${recipes} DESTINATION "${CMAKE_INSTALL_DATADIR}/omen/data/recipes")
    install(FILES "${PROJECT_SOURCE_DIR}/docs/tasks.md" RENAME README.md
            DESTINATION "${CMAKE_INSTALL_DATADIR}/omen/tasks")
  endif()
endfunction()
