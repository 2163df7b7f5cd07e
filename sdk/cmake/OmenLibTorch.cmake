# SPDX-License-Identifier: Apache-2.0
# Omen::torch over the CPU libraries of a LibTorch directory (OMEN_TORCH_DIR/{lib,include}).
include_guard(GLOBAL)

# omen_import_libtorch(<version-variable> <remedy-variable> [HINTS <directory>...])
# Defines Omen::torch and sets the version, or sets the remedy where no LibTorch from 2.9 on is
# found in OMEN_TORCH_DIR (variable or environment), the hints, and what ./run.sh fetched.
# The wheel's own TorchConfig.cmake insists on a CUDA toolkit and edits global flags: not used.
function(omen_import_libtorch version_variable remedy_variable)
  cmake_parse_arguments(arg "" "" "HINTS" ${ARGN})
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  file(GLOB fetched "${cache}/omen/torch-*/torch")
  list(SORT fetched COMPARE NATURAL ORDER DESCENDING)
  find_path(OMEN_TORCH_DIR lib/libtorch_cpu.so HINTS ENV OMEN_TORCH_DIR PATHS ${arg_HINTS} ${fetched}
            NO_DEFAULT_PATH DOC "LibTorch directory with lib/ and include/")
  if(NOT OMEN_TORCH_DIR OR NOT EXISTS "${OMEN_TORCH_DIR}/lib/libc10.so")
    set(${remedy_variable}
      "run ./run.sh once, or set OMEN_TORCH_DIR to a LibTorch from 2.9 on" PARENT_SCOPE)
    return()
  endif()

  set(version_file "${OMEN_TORCH_DIR}/include/torch/headeronly/version.h")
  set(version "")
  if(EXISTS "${version_file}")
    file(STRINGS "${version_file}" parts REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]*([0-9]+)[^0-9]*([0-9]+).*" "\\1.\\2.\\3" version
           "${parts}")
  endif()
  if(version VERSION_LESS 2.9)
    set(${remedy_variable}
      "LibTorch in ${OMEN_TORCH_DIR} is older than 2.9; run ./run.sh once" PARENT_SCOPE)
    return()
  endif()
  set(${version_variable} "${version}" PARENT_SCOPE)
  if(TARGET Omen::torch)
    return()
  endif()

  add_library(omen_c10 SHARED IMPORTED GLOBAL)
  set_target_properties(omen_c10 PROPERTIES IMPORTED_LOCATION "${OMEN_TORCH_DIR}/lib/libc10.so")
  add_library(Omen::torch SHARED IMPORTED GLOBAL)
  set_target_properties(Omen::torch PROPERTIES
    IMPORTED_LOCATION "${OMEN_TORCH_DIR}/lib/libtorch_cpu.so"
    INTERFACE_INCLUDE_DIRECTORIES
      "${OMEN_TORCH_DIR}/include;${OMEN_TORCH_DIR}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES omen_c10)
  # libtorch_cpu names libcudart and libcupti, which its RPATH finds; -z defs must not look for them.
  target_link_options(Omen::torch INTERFACE "LINKER:--allow-shlib-undefined")
endfunction()
