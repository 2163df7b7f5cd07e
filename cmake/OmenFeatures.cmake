# SPDX-License-Identifier: Apache-2.0
# Optional dependencies: finds each, and reports in one table what is built and what is left out.
include_guard(GLOBAL)

set(OMEN_FEATURES "" CACHE INTERNAL "")

# Declares OMEN_WITH_<name>=AUTO|ON|OFF and OMEN_HAS_<name>.
macro(omen_feature name purpose)
  set(OMEN_WITH_${name} AUTO CACHE STRING "${purpose} (AUTO, ON or OFF)")
  set_property(CACHE OMEN_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  set(OMEN_HAS_${name} FALSE CACHE INTERNAL "")
  set(OMEN_NOTE_${name} "" CACHE INTERNAL "")
  set(OMEN_PURPOSE_${name} "${purpose}" CACHE INTERNAL "")
  set(OMEN_FEATURES "${OMEN_FEATURES};${name}" CACHE INTERNAL "")
endmacro()

function(omen_feature_found name note)
  set(OMEN_HAS_${name} TRUE CACHE INTERNAL "")
  set(OMEN_NOTE_${name} "${note}" CACHE INTERNAL "")
endfunction()

# Records how to get an absent feature; an explicit ON turns the absence into an error.
function(omen_feature_absent name remedy)
  if(OMEN_WITH_${name} STREQUAL "ON")
    message(FATAL_ERROR "OMEN_WITH_${name}=ON but it was not found; ${remedy}")
  endif()
  set(OMEN_NOTE_${name} "${remedy}" CACHE INTERNAL "")
endfunction()

omen_feature(TORCH "LibTorch kit and neural predictors")
omen_feature(XGBOOST "baseline.gbt, gradient boosted trees")
omen_feature(LLVM "OpenCL and LLVM IR front ends")
omen_feature(OPENCL "running OpenCL kernels")
omen_feature(MPI "distributed runs")
omen_feature(CUDA "CUDA kernels and CUPTI counters")

# The host and the SDK always need these.
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 REQUIRED)
# Debian's json target marks its headers as ours; moving them to the system list keeps -Werror usable.
get_target_property(omen_json_includes nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
if(omen_json_includes)
  set_property(TARGET nlohmann_json::nlohmann_json APPEND PROPERTY
               INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${omen_json_includes}")
endif()

if(OMEN_WITH_TORCH)
  include(OmenTorch)
endif()

if(OMEN_WITH_XGBOOST)
  find_library(OMEN_XGBOOST_LIBRARY xgboost)
  find_path(OMEN_XGBOOST_INCLUDE_DIR xgboost/c_api.h)
  if(OMEN_XGBOOST_LIBRARY AND OMEN_XGBOOST_INCLUDE_DIR)
    add_library(Omen::xgboost UNKNOWN IMPORTED GLOBAL)
    set_target_properties(Omen::xgboost PROPERTIES IMPORTED_LOCATION "${OMEN_XGBOOST_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${OMEN_XGBOOST_INCLUDE_DIR}")
    omen_feature_found(XGBOOST "${OMEN_XGBOOST_LIBRARY}")
  else()
    omen_feature_absent(XGBOOST "apt install libxgboost-dev")
  endif()
endif()

if(OMEN_WITH_LLVM)
  find_package(LLVM 14 QUIET CONFIG PATHS /usr/lib/llvm-14 NO_DEFAULT_PATH)
  if(LLVM_FOUND)
    # Linked by full path: that directory also holds LLVM's own libgomp.so.
    find_library(OMEN_LLVM_LIBRARY LLVM PATHS "${LLVM_LIBRARY_DIR}" NO_DEFAULT_PATH)
    find_library(OMEN_CLANG_LIBRARY clang-cpp PATHS "${LLVM_LIBRARY_DIR}" NO_DEFAULT_PATH)
  endif()
  if(OMEN_LLVM_LIBRARY AND OMEN_CLANG_LIBRARY)
    omen_feature_found(LLVM "LLVM ${LLVM_PACKAGE_VERSION}")
  else()
    omen_feature_absent(LLVM "apt install llvm-14-dev libclang-14-dev libclang-cpp14-dev")
  endif()
endif()

if(OMEN_WITH_OPENCL)
  find_package(OpenCL QUIET)
  if(OpenCL_FOUND)
    omen_feature_found(OPENCL "${OpenCL_LIBRARIES}")
  else()
    omen_feature_absent(OPENCL "apt install ocl-icd-opencl-dev opencl-headers pocl-opencl-icd")
  endif()
endif()

if(OMEN_WITH_MPI)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    omen_feature_found(MPI "MPI ${MPI_C_VERSION}")
  else()
    omen_feature_absent(MPI "apt install libopenmpi-dev openmpi-bin")
  endif()
endif()

if(OMEN_WITH_CUDA)
  find_package(CUDAToolkit 12 QUIET)
  if(CUDAToolkit_FOUND)
    omen_feature_found(CUDA "toolkit ${CUDAToolkit_VERSION}")
  else()
    omen_feature_absent(CUDA "install the CUDA toolkit 12 or newer, then configure again")
  endif()
endif()

# Files from small wheels, fetched by run.sh: the chart library and the NVML header.
function(omen_find_extras)
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  find_path(OMEN_EXTRAS_DIR plotly/package_data/plotly.min.js
            HINTS ENV OMEN_EXTRAS_DIR PATHS "${cache}/omen/extras-1" NO_DEFAULT_PATH
            DOC "unpacked wheels with plotly.min.js and nvml.h")
  if(NOT OMEN_EXTRAS_DIR)
    return()
  endif()
  file(COPY "${OMEN_EXTRAS_DIR}/plotly/package_data/plotly.min.js"
       DESTINATION "${CMAKE_BINARY_DIR}/share/omen")
  add_library(Omen::nvml_headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(Omen::nvml_headers INTERFACE
    "${OMEN_EXTRAS_DIR}/nvidia/cu13/include")
  if(OMEN_INSTALL)
    install(FILES "${CMAKE_BINARY_DIR}/share/omen/plotly.min.js"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/omen")
  endif()
endfunction()
omen_find_extras()

# Prints the table once and stores it for `omen doctor`.
function(omen_report_features)
  set(text "")
  set(json "")
  list(REMOVE_ITEM OMEN_FEATURES "")
  foreach(name IN LISTS OMEN_FEATURES)
    if(OMEN_HAS_${name})
      set(state "built")
    elseif(NOT OMEN_WITH_${name})
      set(state "off")
      set(OMEN_NOTE_${name} "configure with -DOMEN_WITH_${name}=AUTO")
    else()
      set(state "left out")
    endif()
    string(TOLOWER "${name}" key)
    set(row "${key}           ")
    string(SUBSTRING "${row}" 0 10 row)
    set(cell "${state}           ")
    string(SUBSTRING "${cell}" 0 10 cell)
    string(APPEND text "  ${row}${cell}${OMEN_PURPOSE_${name}}: ${OMEN_NOTE_${name}}\n")
    string(APPEND json "    {\"name\": \"${key}\", \"state\": \"${state}\", \"purpose\": "
           "\"${OMEN_PURPOSE_${name}}\", \"note\": \"${OMEN_NOTE_${name}}\"},\n")
  endforeach()
  string(REGEX REPLACE ",\n$" "\n" json "${json}")
  set(head "{\n  \"format_version\": 1,\n  \"version\": \"${PROJECT_VERSION}\",\n  \"features\": [\n")
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/share/omen/build-features.json"
       CONTENT "${head}${json}  ]\n}\n" @ONLY)
  if(PROJECT_IS_TOP_LEVEL)
    message("\nOmen ${PROJECT_VERSION}, optional parts:\n${text}")
  endif()
  if(OMEN_INSTALL)
    install(FILES "${CMAKE_BINARY_DIR}/share/omen/build-features.json"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/omen")
  endif()
endfunction()
