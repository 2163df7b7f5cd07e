/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped layout of ABI 0.1 on 64-bit machines: every size, offset and constant, checked by the compiler. */
#include "omen/abi.h"

#ifdef __cplusplus
#define OMEN_CHECK(condition, text) static_assert(condition, text)
#else
#define OMEN_CHECK(condition, text) _Static_assert(condition, text)
#endif
/* A later minor may only append, so sizes may grow while offsets stay. */
#define OMEN_SIZE(T, bytes) OMEN_CHECK(sizeof(T) >= (bytes), #T " has shrunk")
#define OMEN_AT(T, field, offset) OMEN_CHECK(offsetof(T, field) == (offset), #T "." #field " has moved")
#define OMEN_IS(constant, value) OMEN_CHECK((constant) == (value), #constant " has changed")

OMEN_IS(OMEN_ABI_MAJOR, 0u);
OMEN_CHECK(OMEN_ABI_MINOR >= 1u, "the minor version only grows");

OMEN_SIZE(struct ArrowSchema, 72);
OMEN_AT(struct ArrowSchema, format, 0);
OMEN_AT(struct ArrowSchema, name, 8);
OMEN_AT(struct ArrowSchema, metadata, 16);
OMEN_AT(struct ArrowSchema, flags, 24);
OMEN_AT(struct ArrowSchema, n_children, 32);
OMEN_AT(struct ArrowSchema, children, 40);
OMEN_AT(struct ArrowSchema, dictionary, 48);
OMEN_AT(struct ArrowSchema, release, 56);
OMEN_AT(struct ArrowSchema, private_data, 64);

OMEN_SIZE(struct ArrowArray, 80);
OMEN_AT(struct ArrowArray, length, 0);
OMEN_AT(struct ArrowArray, null_count, 8);
OMEN_AT(struct ArrowArray, offset, 16);
OMEN_AT(struct ArrowArray, n_buffers, 24);
OMEN_AT(struct ArrowArray, n_children, 32);
OMEN_AT(struct ArrowArray, buffers, 40);
OMEN_AT(struct ArrowArray, children, 48);
OMEN_AT(struct ArrowArray, dictionary, 56);
OMEN_AT(struct ArrowArray, release, 64);
OMEN_AT(struct ArrowArray, private_data, 72);

OMEN_SIZE(struct ArrowArrayStream, 40);
OMEN_AT(struct ArrowArrayStream, get_schema, 0);
OMEN_AT(struct ArrowArrayStream, get_next, 8);
OMEN_AT(struct ArrowArrayStream, get_last_error, 16);
OMEN_AT(struct ArrowArrayStream, release, 24);
OMEN_AT(struct ArrowArrayStream, private_data, 32);

OMEN_SIZE(omen_error, 48);
OMEN_AT(omen_error, struct_size, 0);
OMEN_AT(omen_error, reserved, 4);
OMEN_AT(omen_error, message, 8);
OMEN_AT(omen_error, hint, 16);
OMEN_AT(omen_error, details_json, 24);
OMEN_AT(omen_error, release, 32);
OMEN_AT(omen_error, private_data, 40);

OMEN_SIZE(omen_option_spec, 72);
OMEN_AT(omen_option_spec, struct_size, 0);
OMEN_AT(omen_option_spec, type, 4);
OMEN_AT(omen_option_spec, flags, 8);
OMEN_AT(omen_option_spec, reserved, 12);
OMEN_AT(omen_option_spec, key, 16);
OMEN_AT(omen_option_spec, help, 24);
OMEN_AT(omen_option_spec, unit, 32);
OMEN_AT(omen_option_spec, default_text, 40);
OMEN_AT(omen_option_spec, min, 48);
OMEN_AT(omen_option_spec, max, 56);
OMEN_AT(omen_option_spec, choices, 64);

OMEN_SIZE(omen_option, 40);
OMEN_CHECK(sizeof(omen_option) == 40, "omen_option has a frozen layout");
OMEN_AT(omen_option, key, 0);
OMEN_AT(omen_option, type, 8);
OMEN_AT(omen_option, reserved, 12);
OMEN_AT(omen_option, i, 16);
OMEN_AT(omen_option, r, 24);
OMEN_AT(omen_option, s, 32);

OMEN_SIZE(omen_host, 72);
OMEN_AT(omen_host, struct_size, 0);
OMEN_AT(omen_host, abi_major, 4);
OMEN_AT(omen_host, abi_minor, 8);
OMEN_AT(omen_host, reserved, 12);
OMEN_AT(omen_host, name, 16);
OMEN_AT(omen_host, version, 24);
OMEN_AT(omen_host, plugin_dir, 32);
OMEN_AT(omen_host, host_data, 40);
OMEN_AT(omen_host, get_extension, 48);
OMEN_AT(omen_host, log_enabled, 56);
OMEN_AT(omen_host, log, 64);

OMEN_SIZE(omen_run, 88);
OMEN_AT(omen_run, struct_size, 0);
OMEN_AT(omen_run, threads, 4);
OMEN_AT(omen_run, seed, 8);
OMEN_AT(omen_run, interval_level, 16);
OMEN_AT(omen_run, devices, 24);
OMEN_AT(omen_run, scratch_dir, 32);
OMEN_AT(omen_run, output_dir, 40);
OMEN_AT(omen_run, state_dir, 48);
OMEN_AT(omen_run, run_data, 56);
OMEN_AT(omen_run, is_cancelled, 64);
OMEN_AT(omen_run, progress, 72);
OMEN_AT(omen_run, metric, 80);

OMEN_SIZE(omen_dataset, 48);
OMEN_AT(omen_dataset, struct_size, 0);
OMEN_AT(omen_dataset, reserved, 4);
OMEN_AT(omen_dataset, task_hash, 8);
OMEN_AT(omen_dataset, task_json, 16);
OMEN_AT(omen_dataset, data, 24);
OMEN_AT(omen_dataset, rows, 32);
OMEN_AT(omen_dataset, open, 40);

OMEN_SIZE(omen_tables_out, 24);
OMEN_AT(omen_tables_out, struct_size, 0);
OMEN_AT(omen_tables_out, reserved, 4);
OMEN_AT(omen_tables_out, data, 8);
OMEN_AT(omen_tables_out, put, 16);

OMEN_SIZE(omen_sink, 32);
OMEN_AT(omen_sink, struct_size, 0);
OMEN_AT(omen_sink, reserved, 4);
OMEN_AT(omen_sink, data, 8);
OMEN_AT(omen_sink, put_meta, 16);
OMEN_AT(omen_sink, put_tensor, 24);

OMEN_SIZE(omen_source, 40);
OMEN_AT(omen_source, struct_size, 0);
OMEN_AT(omen_source, reserved, 4);
OMEN_AT(omen_source, data, 8);
OMEN_AT(omen_source, get_meta, 16);
OMEN_AT(omen_source, get_tensor, 24);
OMEN_AT(omen_source, tensor_name, 32);

OMEN_SIZE(omen_profiler_vt, 40);
OMEN_AT(omen_profiler_vt, struct_size, 0);
OMEN_AT(omen_profiler_vt, reserved, 4);
OMEN_AT(omen_profiler_vt, create, 8);
OMEN_AT(omen_profiler_vt, destroy, 16);
OMEN_AT(omen_profiler_vt, probe, 24);
OMEN_AT(omen_profiler_vt, collect, 32);

OMEN_SIZE(omen_graph_frontend_vt, 40);
OMEN_AT(omen_graph_frontend_vt, struct_size, 0);
OMEN_AT(omen_graph_frontend_vt, reserved, 4);
OMEN_AT(omen_graph_frontend_vt, create, 8);
OMEN_AT(omen_graph_frontend_vt, destroy, 16);
OMEN_AT(omen_graph_frontend_vt, sniff, 24);
OMEN_AT(omen_graph_frontend_vt, lower, 32);

OMEN_SIZE(omen_predictor_vt, 56);
OMEN_AT(omen_predictor_vt, struct_size, 0);
OMEN_AT(omen_predictor_vt, reserved, 4);
OMEN_AT(omen_predictor_vt, create, 8);
OMEN_AT(omen_predictor_vt, destroy, 16);
OMEN_AT(omen_predictor_vt, fit, 24);
OMEN_AT(omen_predictor_vt, predict, 32);
OMEN_AT(omen_predictor_vt, save, 40);
OMEN_AT(omen_predictor_vt, load, 48);

OMEN_SIZE(omen_scorer_vt, 48);
OMEN_AT(omen_scorer_vt, struct_size, 0);
OMEN_AT(omen_scorer_vt, reserved, 4);
OMEN_AT(omen_scorer_vt, create, 8);
OMEN_AT(omen_scorer_vt, destroy, 16);
OMEN_AT(omen_scorer_vt, score, 24);
OMEN_AT(omen_scorer_vt, enumerate, 32);
OMEN_AT(omen_scorer_vt, load, 40);

OMEN_SIZE(omen_command_vt, 32);
OMEN_AT(omen_command_vt, struct_size, 0);
OMEN_AT(omen_command_vt, reserved, 4);
OMEN_AT(omen_command_vt, create, 8);
OMEN_AT(omen_command_vt, destroy, 16);
OMEN_AT(omen_command_vt, run, 24);

OMEN_SIZE(omen_component, 72);
OMEN_AT(omen_component, struct_size, 0);
OMEN_AT(omen_component, kind, 4);
OMEN_AT(omen_component, caps, 8);
OMEN_AT(omen_component, id, 16);
OMEN_AT(omen_component, summary, 24);
OMEN_AT(omen_component, cite, 32);
OMEN_AT(omen_component, reads, 40);
OMEN_AT(omen_component, writes, 48);
OMEN_AT(omen_component, options, 56);
OMEN_AT(omen_component, vtable, 64);

OMEN_SIZE(omen_plugin, 80);
OMEN_AT(omen_plugin, struct_size, 0);
OMEN_AT(omen_plugin, abi_major, 4);
OMEN_AT(omen_plugin, abi_minor, 8);
OMEN_AT(omen_plugin, reserved, 12);
OMEN_AT(omen_plugin, id, 16);
OMEN_AT(omen_plugin, version, 24);
OMEN_AT(omen_plugin, license, 32);
OMEN_AT(omen_plugin, homepage, 40);
OMEN_AT(omen_plugin, components, 48);
OMEN_AT(omen_plugin, init, 56);
OMEN_AT(omen_plugin, deinit, 64);
OMEN_AT(omen_plugin, get_extension, 72);

OMEN_SIZE(omen_call_ext, 40);
OMEN_AT(omen_call_ext, struct_size, 0);
OMEN_AT(omen_call_ext, reserved, 4);
OMEN_AT(omen_call_ext, lower, 8);
OMEN_AT(omen_call_ext, predict, 16);
OMEN_AT(omen_call_ext, score, 24);
OMEN_AT(omen_call_ext, collect, 32);

OMEN_SIZE(omen_figure_ext, 16);
OMEN_AT(omen_figure_ext, struct_size, 0);
OMEN_AT(omen_figure_ext, reserved, 4);
OMEN_AT(omen_figure_ext, put, 8);

OMEN_SIZE(omen_graph_writer_ext, 24);
OMEN_AT(omen_graph_writer_ext, struct_size, 0);
OMEN_AT(omen_graph_writer_ext, reserved, 4);
OMEN_AT(omen_graph_writer_ext, suffixes, 8);
OMEN_AT(omen_graph_writer_ext, write, 16);

OMEN_SIZE(omen_command_ext, 16);
OMEN_AT(omen_command_ext, struct_size, 0);
OMEN_AT(omen_command_ext, reserved, 4);
OMEN_AT(omen_command_ext, commands, 8);

OMEN_SIZE(omen_observe_ext, 16);
OMEN_AT(omen_observe_ext, struct_size, 0);
OMEN_AT(omen_observe_ext, reserved, 4);
OMEN_AT(omen_observe_ext, observe, 8);

OMEN_IS(OMEN_OK, 0);
OMEN_IS(OMEN_CANCELLED, 1);
OMEN_IS(OMEN_TIMEOUT, 2);
OMEN_IS(OMEN_INVALID_ARGUMENT, 3);
OMEN_IS(OMEN_INVALID_STATE, 4);
OMEN_IS(OMEN_INVALID_DATA, 5);
OMEN_IS(OMEN_NOT_FOUND, 6);
OMEN_IS(OMEN_UNSUPPORTED, 7);
OMEN_IS(OMEN_UNAVAILABLE, 8);
OMEN_IS(OMEN_OUT_OF_MEMORY, 9);
OMEN_IS(OMEN_IO, 10);
OMEN_IS(OMEN_INTERNAL, 11);
OMEN_IS(OMEN_OPT_BOOL, 1);
OMEN_IS(OMEN_OPT_INT, 2);
OMEN_IS(OMEN_OPT_REAL, 3);
OMEN_IS(OMEN_OPT_STRING, 4);
OMEN_IS(OMEN_OPT_CHOICE, 5);
OMEN_IS(OMEN_OPT_PATH, 6);
OMEN_IS(OMEN_OPTF_REQUIRED, 1u << 0);
OMEN_IS(OMEN_OPTF_ADVANCED, 1u << 1);
OMEN_IS(OMEN_OPTF_DEPRECATED, 1u << 2);
OMEN_IS(OMEN_OPTF_NO_EFFECT_ON_RESULT, 1u << 3);
OMEN_IS(OMEN_OPTF_REPEATED, 1u << 4);
OMEN_IS(OMEN_LOG_TRACE, 0);
OMEN_IS(OMEN_LOG_DEBUG, 1);
OMEN_IS(OMEN_LOG_INFO, 2);
OMEN_IS(OMEN_LOG_WARN, 3);
OMEN_IS(OMEN_LOG_ERROR, 4);
OMEN_IS(OMEN_PROFILER, 1);
OMEN_IS(OMEN_GRAPH_FRONTEND, 2);
OMEN_IS(OMEN_PREDICTOR, 3);
OMEN_IS(OMEN_SCORER, 4);
OMEN_IS(OMEN_COMMAND, 5);
OMEN_IS(OMEN_CAP_CONCURRENT_PREDICT, 1u << 0);
OMEN_IS(OMEN_CAP_THREAD_AFFINE, 1u << 1);
OMEN_IS(OMEN_CAP_NEEDS_CUDA, 1u << 2);
OMEN_IS(OMEN_CAP_BITWISE_REPEATABLE, 1u << 3);
OMEN_IS(OMEN_CAP_SEEDED_REPEATABLE, 1u << 4);
OMEN_IS(OMEN_CAP_UNCERTAINTY, 1u << 5);
OMEN_IS(OMEN_CAP_GENERATES, 1u << 6);
OMEN_IS(OMEN_CAP_WARM_START, 1u << 7);
OMEN_IS(OMEN_CAP_DEFAULT, 1u << 8);
