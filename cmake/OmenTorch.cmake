# SPDX-License-Identifier: Apache-2.0
# Defines Omen::torch over the CPU libraries of a LibTorch directory (OMEN_TORCH_DIR/{lib,include}).
include_guard(GLOBAL)

# The wheel's own TorchConfig.cmake insists on a CUDA toolkit and edits global flags: not used.
function(omen_find_torch)
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  file(GLOB fetched "${cache}/omen/torch-*/torch")
  list(SORT fetched COMPARE NATURAL ORDER DESCENDING)
  find_path(OMEN_TORCH_DIR lib/libtorch_cpu.so HINTS ENV OMEN_TORCH_DIR PATHS ${fetched}
            NO_DEFAULT_PATH DOC "LibTorch directory with lib/ and include/")
  if(NOT OMEN_TORCH_DIR OR NOT EXISTS "${OMEN_TORCH_DIR}/lib/libc10.so")
    omen_feature_absent(TORCH "run ./run.sh once, or set OMEN_TORCH_DIR to a LibTorch from 2.9 on")
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
    omen_feature_absent(TORCH "LibTorch in ${OMEN_TORCH_DIR} is older than 2.9; run ./run.sh once")
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

  # Plugins reach LibTorch through this link, at the same relative place in build and install trees.
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/deps")
  file(CREATE_LINK "${OMEN_TORCH_DIR}" "${CMAKE_BINARY_DIR}/deps/torch" SYMBOLIC)
  if(OMEN_INSTALL)
    install(FILES "${CMAKE_BINARY_DIR}/deps/torch" DESTINATION "${CMAKE_INSTALL_LIBDIR}/omen/deps")
  endif()
  omen_feature_found(TORCH "LibTorch ${version} in ${OMEN_TORCH_DIR}")
endfunction()
omen_find_torch()
