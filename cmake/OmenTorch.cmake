# SPDX-License-Identifier: Apache-2.0
# Finds LibTorch for this build, and leads plugins to it in build and install trees.
include_guard(GLOBAL)
include(OmenLibTorch)

function(omen_find_torch)
  omen_import_libtorch(version remedy)
  if(NOT version)
    omen_feature_absent(TORCH "${remedy}")
    return()
  endif()
  set(OMEN_TORCH_VERSION "${version}" CACHE INTERNAL "")

  # Plugins reach LibTorch through this link, at the same relative place in build and install trees.
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/deps")
  file(CREATE_LINK "${OMEN_TORCH_DIR}" "${CMAKE_BINARY_DIR}/deps/torch" SYMBOLIC)
  if(OMEN_INSTALL)
    install(FILES "${CMAKE_BINARY_DIR}/deps/torch" DESTINATION "${CMAKE_INSTALL_LIBDIR}/omen/deps")
  endif()
  omen_feature_found(TORCH "LibTorch ${version} in ${OMEN_TORCH_DIR}")
endfunction()
omen_find_torch()
