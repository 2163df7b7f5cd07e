# SPDX-License-Identifier: Apache-2.0
# Acceptance figures that the benchmark programs measure.

if(TARGET torch_message_passing_bench)
  omen_add_show_check(NAME torch_aggregation_speedup TRACK kernel
    COMMAND $<TARGET_FILE:torch_message_passing_bench> --show)
endif()

if(TARGET abi_bench AND TARGET Omen::host)
  omen_add_plugin(abibench SOURCES abi_plugin/abi_plugin.cpp NO_INSTALL NO_TESTS
    OUTPUT_DIR "${CMAKE_BINARY_DIR}/bench/plugins")
  add_dependencies(abi_bench abibench)
  target_compile_definitions(abi_bench PRIVATE
    OMEN_BENCH_PLUGIN="${CMAKE_BINARY_DIR}/bench/plugins/abibench/plugin.json")
  omen_add_show_check(NAME abi_one_row_us TRACK kernel
    COMMAND $<TARGET_FILE:abi_bench> --show-one-row)
  omen_add_show_check(NAME abi_million_rows_percent TRACK kernel
    COMMAND $<TARGET_FILE:abi_bench> --show-million-rows)
endif()

if(TARGET abibench AND TARGET Omen::cli)
  add_executable(worker_cost worker/worker_cost.cpp)
  target_link_libraries(worker_cost PRIVATE Omen::testing omen_warnings)
  set_target_properties(worker_cost PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  add_dependencies(worker_cost abibench)
  omen_add_show_check(NAME worker_cost TRACK kernel
    COMMAND $<TARGET_FILE:worker_cost> $<TARGET_FILE:Omen::cli> "${CMAKE_BINARY_DIR}/bench/plugins")
endif()

if(TARGET startup_bench AND TARGET Omen::cli)
  add_executable(startup_empty startup/empty.cpp)
  set_target_properties(startup_empty PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  target_compile_definitions(startup_bench PRIVATE OMEN_BENCH_CMAKE="${CMAKE_COMMAND}")
  add_dependencies(startup_bench startup_empty)
  omen_add_show_check(NAME list_20_plugins_ratio TRACK kernel
    COMMAND $<TARGET_FILE:startup_bench> --show $<TARGET_FILE:Omen::cli> $<TARGET_FILE:startup_empty>)
  omen_add_show_check(NAME omen_links_heavy_libraries TRACK kernel
    COMMAND $<TARGET_FILE:startup_bench> --links $<TARGET_FILE:Omen::cli>)
endif()

if(TARGET container_bench AND TARGET Omen::container)
  omen_add_show_check(NAME container_load_sum_ratio TRACK kernel
    COMMAND $<TARGET_FILE:container_bench> --show)
endif()

if(TARGET bootstrap_bench)
  omen_add_show_check(NAME bootstrap_vs_numpy TRACK compare
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/peers/bootstrap.sh" $<TARGET_FILE:bootstrap_bench>
            "${PROJECT_SOURCE_DIR}/build/python")
endif()

add_executable(verdicts verdicts/verdicts.cpp)
target_link_libraries(verdicts PRIVATE omen_stats Boost::headers Omen::testing omen_warnings)
set_target_properties(verdicts PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
omen_add_show_check(NAME equal_skill_false_verdicts TRACK compare
  COMMAND $<TARGET_FILE:verdicts> --equal-skill)
omen_add_show_check(NAME planted_improvement_found TRACK compare
  COMMAND $<TARGET_FILE:verdicts> --planted)

if(TARGET Omen::cli)
  add_executable(import_memory import/import_memory.cpp)
  target_link_libraries(import_memory PRIVATE Omen::host Omen::testing omen_warnings)
  set_target_properties(import_memory PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  omen_add_show_check(NAME data_import_200mb_peak_mb TRACK compare
    COMMAND $<TARGET_FILE:import_memory> data_import_200mb_peak_mb 200 128
            $<TARGET_FILE:Omen::cli>)
  add_executable(import_columns import/import_columns.cpp)
  target_link_libraries(import_columns PRIVATE Omen::testing omen_warnings)
  set_target_properties(import_columns PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
  omen_add_show_check(NAME data_import_columns TRACK compare
    COMMAND $<TARGET_FILE:import_columns> $<TARGET_FILE:Omen::cli>)
  omen_add_show_check(NAME data_import_10gb_peak_mb TRACK compare SLOW
    COMMAND $<TARGET_FILE:import_memory> data_import_10gb_peak_mb 10000 512
            $<TARGET_FILE:Omen::cli>)
endif()
