# SPDX-License-Identifier: Apache-2.0
# Compiler launcher, linker, warnings and sanitizers, in one place.
include_guard(GLOBAL)

if(PROJECT_IS_TOP_LEVEL)
  find_program(OMEN_CCACHE ccache)
  if(OMEN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER "${OMEN_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${OMEN_CCACHE}")
  endif()
  find_program(OMEN_MOLD mold)
  if(OMEN_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
  # Large translation units need about 1.3 GB each, so their number is bounded apart from -j.
  set_property(GLOBAL APPEND PROPERTY JOB_POOLS omen_torch=2)
endif()

add_library(omen_warnings INTERFACE)
target_compile_options(omen_warnings INTERFACE -Wall -Wextra -Wpedantic
  $<$<BOOL:${OMEN_WERROR}>:-Werror>
  -fvisibility=hidden
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  # GCC 12 reports overlapping copies inside operator+(const char*, std::string) that cannot happen.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  # Joined files are included ones, where gcc takes unnamed namespaces for a mistake.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  # Loops without dependencies are said to be so in gcc's words only.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>
  # Unique symbols ignore RTLD_LOCAL and would join the state of two plugins; clang never emits them.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)

# For libraries that are exported: linking omen_warnings would make it part of the package.
function(omen_apply_warnings target)
  target_compile_options(${target} PRIVATE
    $<TARGET_PROPERTY:omen_warnings,INTERFACE_COMPILE_OPTIONS>)
endfunction()

if(OMEN_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  # Types have an identity in each library, and LLVM has none at all; Eigen adds to the null of empty blocks.
  add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=vptr,function,pointer-overflow>)
  # Tests ask for gcc's word, which clang lacks.
  add_compile_definitions($<$<CXX_COMPILER_ID:Clang>:__SANITIZE_ADDRESS__>)
  add_link_options(-fsanitize=address,undefined)
  # Millions of check records would be relocated at every start of every test.
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
elseif(OMEN_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_compile_definitions($<$<CXX_COMPILER_ID:Clang>:__SANITIZE_THREAD__>)
  add_link_options(-fsanitize=thread)
elseif(OMEN_SANITIZE STREQUAL "fuzzer")
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "fuzz targets need clang; configure with: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined
                      -fno-sanitize-recover=undefined -fno-omit-frame-pointer
                      -fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fsanitize=address,undefined -fprofile-instr-generate)
elseif(OMEN_SANITIZE)
  message(FATAL_ERROR "OMEN_SANITIZE is '${OMEN_SANITIZE}'; allowed: address, thread, fuzzer")
endif()
