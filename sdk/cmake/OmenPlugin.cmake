# SPDX-License-Identifier: Apache-2.0
# omen_add_plugin(): flags, export script, models, manifest, install place and tests in one call.
include_guard(GLOBAL)
include(GNUInstallDirs)

# omen_add_plugin(<id> SOURCES <file>...
#   [LINK <target>...]          libraries, linked PRIVATE
#   [LIBS <file.so>...]         shared libraries of its own: linked, copied and installed beside it
#   [MODELS <file>...]          containers copied to models/ and listed in the manifest
#   [DATA <file-or-dir>...]     copied to data/, reachable through omen_host.plugin_dir
#   [EXAMPLES <command>...]     "omen PLUGIN VERB ...": what the help of its commands shows
#   [REQUIRES <name=range>...]  what the machine must offer, e.g. "libtorch=>=2.9,<3"
#   [ISOLATION default|worker]  worker: never loaded into the host process
#   [OUTPUT_DIR <dir>]          parent of the plugin's directory, <build>/plugins by default
#   [CONFORMANCE_LEVEL <1..3>]  level of the conformance test, 2 by default
#   [NO_MANIFEST]               leave plugin.json to the caller
#   [NO_TESTS] [NO_INSTALL])
function(omen_add_plugin id)
  cmake_parse_arguments(arg "NO_MANIFEST;NO_TESTS;NO_INSTALL"
    "ISOLATION;OUTPUT_DIR;CONFORMANCE_LEVEL" "SOURCES;LINK;LIBS;MODELS;DATA;EXAMPLES;REQUIRES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "omen_add_plugin(${id}): unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "omen_add_plugin(${id}): SOURCES is empty")
  endif()
  if(NOT arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR "${CMAKE_BINARY_DIR}/plugins")
  endif()
  set(dir "${arg_OUTPUT_DIR}/${id}")

  add_library(${id} MODULE ${arg_SOURCES})
  # A project without C++ sees the C header only.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CXX" IN_LIST languages)
    target_link_libraries(${id} PRIVATE Omen::sdk ${arg_LINK})
  else()
    target_link_libraries(${id} PRIVATE Omen::abi ${arg_LINK})
  endif()
  _omen_plugin_flags(${id} "${dir}" "${arg_LINK}")
  _omen_plugin_libraries(${id} "${dir}" "${arg_LIBS}")
  _omen_plugin_files(${id} "${dir}" "${arg_MODELS}" "${arg_DATA}")
  if(NOT arg_NO_MANIFEST)
    _omen_plugin_manifest(${id} "${dir}" "${arg_REQUIRES}" "${arg_ISOLATION}" "${arg_MODELS}"
      "${arg_EXAMPLES}")
  endif()
  set_property(GLOBAL APPEND PROPERTY OMEN_PLUGINS ${id})

  if(NOT arg_NO_INSTALL)
    set_property(GLOBAL APPEND PROPERTY OMEN_PRODUCT_PLUGINS ${id})
    if(OMEN_LISTS_OWN_PLUGINS)
      _omen_list_own_plugin(${id} "${arg_OUTPUT_DIR}")
    endif()
  endif()
  if(NOT arg_NO_INSTALL AND NOT (DEFINED OMEN_INSTALL AND NOT OMEN_INSTALL))
    set(place "${CMAKE_INSTALL_LIBDIR}/omen/plugins/${id}")
    install(TARGETS ${id} LIBRARY DESTINATION "${place}")
    install(FILES "${dir}/plugin.json" DESTINATION "${place}")
    foreach(library IN LISTS arg_LIBS)
      cmake_path(GET library FILENAME name)
      install(PROGRAMS "${dir}/${name}" DESTINATION "${place}")
    endforeach()
    foreach(group MODELS DATA)
      if(arg_${group})
        string(TOLOWER "${group}" name)
        install(DIRECTORY "${dir}/${name}" DESTINATION "${place}")
      endif()
    endforeach()
  endif()
  if(BUILD_TESTING AND NOT arg_NO_TESTS)
    _omen_plugin_tests(${id} "${dir}" "${arg_CONFORMANCE_LEVEL}")
  endif()
endfunction()

function(_omen_plugin_flags id dir link)
  set(rpath "$ORIGIN")
  if("${link}" MATCHES "Omen::torch")
    # deps/torch lies beside plugins/ in the build tree and in the install tree alike.
    string(APPEND rpath ":$ORIGIN/../../deps/torch/lib")
  endif()
  # The final RPATH is set at link time: cmake --install must not change the pinned digest.
  set_target_properties(${id} PROPERTIES PREFIX lib INSTALL_RPATH "${rpath}"
    BUILD_WITH_INSTALL_RPATH ON C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON LIBRARY_OUTPUT_DIRECTORY "${dir}")
  set_property(TARGET ${id} APPEND PROPERTY LINK_DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map")
  target_compile_options(${id} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
  target_link_options(${id} PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map"
    "LINKER:--exclude-libs,ALL" "LINKER:-z,nodelete")
  # clang leaves the sanitizer runtime undefined in libraries, which -z defs would refuse.
  if(NOT (OMEN_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${id} PRIVATE "LINKER:-z,defs")
  endif()
  if(TARGET omen_warnings)
    target_link_libraries(${id} PRIVATE omen_warnings)
  endif()
endfunction()

# Private libraries lie beside the plugin, where its RUNPATH finds them, under the name that it asks for.
function(_omen_plugin_libraries id dir libraries)
  foreach(library IN LISTS libraries)
    cmake_path(ABSOLUTE_PATH library BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    cmake_path(GET library FILENAME name)
    if(NOT EXISTS "${library}")
      message(FATAL_ERROR "omen_add_plugin(${id}): there is no ${library}")
    endif()
    target_link_libraries(${id} PRIVATE "${dir}/${name}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${library}")
    file(COPY "${library}" DESTINATION "${dir}" FOLLOW_SYMLINK_CHAIN)
  endforeach()
endfunction()

# Copies models and data; a changed file relinks the plugin and so renews its manifest.
function(_omen_plugin_files id dir models data)
  foreach(group models data)
    foreach(item IN LISTS ${group})
      cmake_path(ABSOLUTE_PATH item BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
      set(copy copy_if_different "${item}" "${dir}/${group}/")
      if(IS_DIRECTORY "${item}")
        cmake_path(GET item FILENAME name)
        set(copy copy_directory "${item}" "${dir}/${group}/${name}")
      else()
        set_property(TARGET ${id} APPEND PROPERTY LINK_DEPENDS "${item}")
      endif()
      add_custom_command(TARGET ${id} POST_BUILD VERBATIM
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${dir}/${group}"
        COMMAND "${CMAKE_COMMAND}" -E ${copy})
    endforeach()
  endforeach()
endfunction()

function(_omen_plugin_manifest id dir requires isolation models examples)
  set(args "")
  foreach(item IN LISTS requires)
    list(APPEND args --requires "${item}")
  endforeach()
  if(isolation)
    list(APPEND args --isolation "${isolation}")
  endif()
  foreach(item IN LISTS models)
    cmake_path(GET item FILENAME name)
    list(APPEND args --model "${dir}/models/${name}")
  endforeach()
  foreach(item IN LISTS examples)
    list(APPEND args --example "${item}")
  endforeach()
  if(NOT TARGET Omen::manifest)
    message(FATAL_ERROR "omen_add_plugin(${id}): no target Omen::manifest to write plugin.json; "
      "use find_package(Omen) or NO_MANIFEST")
  endif()
  set_property(TARGET ${id} APPEND PROPERTY LINK_DEPENDS "$<TARGET_FILE:Omen::manifest>")
  # A leak in a library that is only described here is the business of `omen verify`.
  add_custom_command(TARGET ${id} POST_BUILD VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E env ASAN_OPTIONS=detect_leaks=0
            "$<TARGET_FILE:Omen::manifest>" "$<TARGET_FILE:${id}>" -o "${dir}/plugin.json" ${args})
endfunction()

# Omen's own build alone: the digest that lets a plugin run in the host's process.
function(_omen_list_own_plugin id parent)
  add_custom_command(TARGET ${id} POST_BUILD VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E sha256sum "$<TARGET_FILE:${id}>" > "${parent}/${id}.sha256")
  if(NOT (DEFINED OMEN_INSTALL AND NOT OMEN_INSTALL))
    install(FILES "${parent}/${id}.sha256" DESTINATION "${CMAKE_INSTALL_LIBDIR}/omen/plugins")
  endif()
endfunction()

function(_omen_plugin_tests id dir level)
  if(NOT level)
    set(level 2)
  endif()
  add_test(NAME exports.${id} COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}"
           "-DLIBRARY=$<TARGET_FILE:${id}>" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/OmenCheckExports.cmake")
  set_tests_properties(exports.${id} PROPERTIES LABELS "exports")
  if(TARGET Omen::cli)
    add_test(NAME conformance.${id}
             COMMAND Omen::cli verify --level ${level} "${dir}/plugin.json")
    set_tests_properties(conformance.${id} PROPERTIES LABELS "conformance" TIMEOUT 300)
  endif()
endfunction()

# Plugins see the SDK only: fails the configuration when one reaches host code.
function(omen_check_dependency_direction)
  get_property(plugins GLOBAL PROPERTY OMEN_PLUGINS)
  foreach(id IN LISTS plugins)
    set(todo ${id})
    set(seen "")
    while(todo)
      list(POP_FRONT todo target)
      if(NOT TARGET "${target}" OR target IN_LIST seen)
        continue()
      endif()
      list(APPEND seen "${target}")
      get_target_property(aliased "${target}" ALIASED_TARGET)
      if(aliased)
        list(APPEND todo "${aliased}")
      endif()
      foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        get_target_property(next "${target}" ${property})
        if(next)
          list(APPEND todo ${next})
        endif()
      endforeach()
    endwhile()
    if("omen_host" IN_LIST seen OR "omen_manifest_kit" IN_LIST seen)
      message(FATAL_ERROR "plugin '${id}' links the host; plugins depend on the SDK only")
    endif()
  endforeach()
endfunction()
