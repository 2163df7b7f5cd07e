/* SPDX-License-Identifier: Apache-2.0 */
/* The contract between the Omen host and a plugin: pure C, one exported function, sized
 * append-only structs.
 *
 * Rules that hold everywhere in this file:
 *  - Versions. The major numbers must be equal. Under major 0 a plugin with an older minor loads,
 *    a newer one is refused. Fields are only ever appended; a reader touches a field only if
 *    OMEN_HAS() says that the writer knew it.
 *  - Ownership. Who allocates frees, through the `release` that comes with the object. Strings are
 *    UTF-8, NUL-terminated and borrowed until the call returns, or for static descriptors for
 *    ever.
 *  - Errors. A slot that returns omen_status leaves its out-parameters untouched (or released)
 *    unless it returns OMEN_OK. No exception, longjmp or signal crosses the boundary.
 *  - Threads. [any-thread]: at any time, from any thread. [serial]: any thread, but never two
 *    calls at once on one object. [concurrent]: several at once, only for predict and only with
 *    OMEN_CAP_CONCURRENT_PREDICT. Threads that a plugin starts are joined before the slot returns,
 *    or before the stream that it returned is released.
 *  - Manners. A plugin writes neither stdout nor stderr, never exits or aborts, changes no
 *    directory, locale or signal handler, and draws random numbers only from omen_run.seed.
 */
#ifndef OMEN_ABI_H
#define OMEN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omen/arrow_c.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OMEN_ABI_MAJOR 0u
#define OMEN_ABI_MINOR 1u

/* True when the writer of *p was built against a header that has field f of T. */
#define OMEN_HAS(T, p, f) ((p)->struct_size >= offsetof(T, f) + sizeof((p)->f))

#if defined(__GNUC__)
#define OMEN_EXPORT __attribute__((visibility("default")))
#else
#define OMEN_EXPORT
#endif

/* ---------------------------------------------------------------------------- status and errors */

typedef int32_t omen_status; /* since 0.1 */
enum {
  OMEN_OK = 0,
  OMEN_CANCELLED = 1,        /* the host asked for it through omen_run.is_cancelled */
  OMEN_TIMEOUT = 2,          /* a deadline passed */
  OMEN_INVALID_ARGUMENT = 3, /* the caller's fault: option, name, range */
  OMEN_INVALID_STATE = 4,    /* right call, wrong moment: predict before fit or load */
  OMEN_INVALID_DATA = 5,     /* the file, table or artifact is malformed */
  OMEN_NOT_FOUND = 6,        /* no such table, tensor, file or component */
  OMEN_UNSUPPORTED = 7,      /* valid, but this component does not do it */
  OMEN_UNAVAILABLE = 8,      /* a device, driver or permission is missing: a skip */
  OMEN_OUT_OF_MEMORY = 9,
  OMEN_IO = 10,
  OMEN_INTERNAL = 11
};

/* The caller sets struct_size and zeroes the rest. The callee fills it on a non-OK status, the
 * caller then calls release where it is set. Message: lower case, names the object, no full stop.
 * Hint: an imperative sentence with the next step. A caller that does not want the text passes
 * NULL.                                                                                since 0.1 */
typedef struct omen_error {
  uint32_t struct_size, reserved;
  char *message;
  char *hint;         /* may be NULL */
  char *details_json; /* may be NULL; one JSON object */
  void (*release)(struct omen_error *);
  void *private_data;
} omen_error;

/* -------------------------------------------------------------------------------------- options */

enum {
  OMEN_OPT_BOOL = 1,
  OMEN_OPT_INT = 2,
  OMEN_OPT_REAL = 3,
  OMEN_OPT_STRING = 4,
  OMEN_OPT_CHOICE = 5,
  OMEN_OPT_PATH = 6
};
enum {
  OMEN_OPTF_REQUIRED = 1u << 0,
  OMEN_OPTF_ADVANCED = 1u << 1,
  OMEN_OPTF_DEPRECATED = 1u << 2,
  OMEN_OPTF_NO_EFFECT_ON_RESULT = 1u << 3, /* kept out of the run hash */
  OMEN_OPTF_REPEATED = 1u << 4             /* the key may arrive several times: -D a -D b */
};

/* Declares one option. The host parses, defaults and range-checks; `create` receives every
 * declared option, valid. A repeated option has no default: it arrives as often as it was given.
 *                                                                                      since 0.1 */
typedef struct omen_option_spec {
  uint32_t struct_size, type, flags, reserved;
  const char *key;            /* snake_case */
  const char *help;           /* one line */
  const char *unit;           /* or NULL */
  const char *default_text;   /* NULL: none (required, or repeated) */
  double min, max;            /* inclusive; NaN: unbounded on that side */
  const char *const *choices; /* NULL-terminated, or NULL */
} omen_option_spec;

/* One value: i for bool (0, 1) and int, r for real, s for string, choice and path. Frozen layout.
 *                                                                                      since 0.1 */
typedef struct omen_option {
  const char *key;
  uint32_t type, reserved;
  int64_t i;
  double r;
  const char *s;
} omen_option;

/* -------------------------------------------------------------------------- what the host gives */

enum {
  OMEN_LOG_TRACE = 0,
  OMEN_LOG_DEBUG = 1,
  OMEN_LOG_INFO = 2,
  OMEN_LOG_WARN = 3,
  OMEN_LOG_ERROR = 4
};

/* One per plugin; outlives every object of that plugin.                                since 0.1 */
typedef struct omen_host {
  uint32_t struct_size, abi_major, abi_minor, reserved;
  const char *name;
  const char *version;
  const char *plugin_dir; /* where this plugin's models and data files lie */
  void *host_data;
  /* Returns the extension struct for an exact id such as OMEN_EXT_CALL, or NULL.    [any-thread] */
  const void *(*get_extension)(const struct omen_host *, const char *id);
  /* Says whether a message of this level would be kept, so that building it can be skipped.
   *                                                                                 [any-thread] */
  bool (*log_enabled)(const struct omen_host *, int32_t level);
  /* Adds one line to the host's log; `who` is the component id.                     [any-thread] */
  void (*log)(const struct omen_host *, int32_t level, const char *who, const char *msg);
} omen_host;

/* Context of one call, valid until every stream that the call returned is released.    since 0.1 */
typedef struct omen_run {
  uint32_t struct_size;
  uint32_t threads;        /* thread budget; 0: the plugin decides */
  uint64_t seed;           /* the only permitted source of randomness */
  double interval_level;   /* wanted coverage of <target>.lo/.hi, 0.90 by default */
  const char *devices;     /* "cpu", "cuda:0,cuda:1", "opencl:0:1" */
  const char *scratch_dir; /* private, empty at the start, removed by the host; never NULL */
  const char *output_dir;  /* kept and listed in run.json; NULL: write nothing */
  const char *state_dir;   /* survives a kill: checkpoints, resume; NULL: none */
  void *run_data;
  /* True once the user gave up: return OMEN_CANCELLED within one second.            [any-thread] */
  bool (*is_cancelled)(const struct omen_run *);
  /* Reports progress in [0, 1], or below 0 where unknown; `stage` may be NULL.      [any-thread] */
  void (*progress)(const struct omen_run *, double fraction, const char *stage);
  /* Adds a point to a learning curve or another series of this run.                 [any-thread] */
  void (*metric)(const struct omen_run *, const char *name, int64_t step, double value);
} omen_run;

/* A borrowed view of named tables: workloads, nodes, edges, node_features, node_targets, counters,
 * targets, candidates, predictions. Valid until the call returns and every stream that the call
 * returned is released.                                                                since 0.1 */
typedef struct omen_dataset {
  uint32_t struct_size, reserved;
  const char *task_hash; /* sha256 of the task, or NULL */
  const char *task_json; /* targets with unit, kind and loss; no split, no true costs; or NULL */
  void *data;
  /* Number of rows, 0 for a table that is absent, -1 where it is not known beforehand.
   *                                                                                 [any-thread] */
  int64_t (*rows)(const struct omen_dataset *, const char *table);
  /* Opens a table at row 0, as often as wanted; the caller releases *out. OMEN_NOT_FOUND: no such
   * table, or one that is withheld (targets, node_targets and true costs in predict).
   *                                                                                 [any-thread] */
  omen_status (*open)(const struct omen_dataset *, const char *table, struct ArrowArrayStream *out,
                      omen_error *);
} omen_dataset;

/* Where a front end or a command puts its tables.                                      since 0.1 */
typedef struct omen_tables_out {
  uint32_t struct_size, reserved;
  void *data;
  /* Takes the stream over, also on failure; a table may be put in several pieces of one schema.
   *                                                                                     [serial] */
  omen_status (*put)(void *data, const char *table, struct ArrowArrayStream *stream, omen_error *);
} omen_tables_out;

/* Receives a model: string metadata and dense little-endian tensors. dtype: BOOL U8 I8 U16 I16 U32
 * I32 U64 I64 F16 BF16 F32 F64. Both functions copy what they are given. Metadata keys that start
 * with "omen." belong to the host.                                                     since 0.1 */
typedef struct omen_sink {
  uint32_t struct_size, reserved;
  void *data;
  omen_status (*put_meta)(void *data, const char *key, const char *value, omen_error *);
  omen_status (*put_tensor)(void *data, const char *name, const char *dtype, const int64_t *shape,
                            size_t rank, const void *bytes, size_t size, omen_error *);
} omen_sink;

/* Gives a model back; everything borrowed stays valid until load returns. OMEN_NOT_FOUND: no such
 * key.                                                                                 since 0.1 */
typedef struct omen_source {
  uint32_t struct_size, reserved;
  void *data;
  omen_status (*get_meta)(void *data, const char *key, const char **value, omen_error *);
  omen_status (*get_tensor)(void *data, const char *name, const char **dtype, const int64_t **shape,
                            size_t *rank, const void **bytes, size_t *size, omen_error *);
  /* Names of the tensors in file order; NULL past the end. */
  const char *(*tensor_name)(void *data, size_t index);
} omen_source;

/* -------------------------------------------------------------------------- the four interfaces */

typedef struct omen_object omen_object; /* opaque; created and destroyed by its plugin */

/* create: `options` holds every declared option, already valid; copies what it keeps. destroy:
 * accepts NULL. Objects of one component are independent: two may be used at once from two
 * threads.                                                                          [any-thread] */
#define OMEN_COMMON_SLOTS                                                            \
  uint32_t struct_size, reserved;                                                    \
  omen_status (*create)(const omen_option *options, size_t count, omen_object **out, \
                        omen_error *);                                               \
  void (*destroy)(omen_object *)

/* Measures a running workload.                                                         since 0.1 */
typedef struct omen_profiler_vt {
  OMEN_COMMON_SLOTS;
  /* Describes the devices it can see as one JSON object. `*len` is the capacity going in and the
   * length without the NUL coming out; json NULL only asks for the length. OMEN_UNAVAILABLE with a
   * hint where there is no device.                                                      [serial] */
  omen_status (*probe)(omen_object *, char *json, size_t *len, omen_error *);
  /* Runs or watches the workload that `workload_json` describes ({"command": [...]}, {"pid": n},
   * or what the component documents) and returns the `counters` table, lazily where the run is
   * long.                                                                               [serial] */
  omen_status (*collect)(omen_object *, const omen_run *, const char *workload_json,
                         struct ArrowArrayStream *counters, omen_error *);
} omen_profiler_vt;

/* Turns an artefact into tables.                                                       since 0.1 */
typedef struct omen_graph_frontend_vt {
  OMEN_COMMON_SLOTS;
  /* Confidence 0..100 that `path` is for this front end, from its name and first bytes. head NULL:
   * there is no such file, the text is a name (a network or a benchmark that the front end knows).
   *                                                                                 [any-thread] */
  int32_t (*sniff)(const char *path, const void *head, size_t head_len);
  /* Lowers the artefact into at least `workloads` (and `nodes`, `edges`). path NULL: generate,
   * which needs OMEN_CAP_GENERATES. The dialect stands in the schema metadata `omen.dialect` of
   * `nodes`.                                                                            [serial] */
  omen_status (*lower)(omen_object *, const omen_run *, const char *path,
                       const omen_tables_out *out, omen_error *);
} omen_graph_frontend_vt;

/* Learns costs and predicts them.                                                      since 0.1 */
typedef struct omen_predictor_vt {
  OMEN_COMMON_SLOTS;
  /* Learns from `train` (with `targets`); `valid` may be NULL. After a failure or a cancellation
   * the object is as before the call. With OMEN_CAP_WARM_START a fit after load continues from the
   * loaded weights.                                                                     [serial] */
  omen_status (*fit)(omen_object *, const omen_run *, const omen_dataset *train,
                     const omen_dataset *valid, omen_error *);
  /* Fills *out with one row per workload of `in` (per workload and candidate where `in` has
   * candidates), in any order. A workload that the model cannot handle gets a row with a status
   * other than "ok" or "extrapolating"; it is no error. `targets` cannot be opened through `in`.
   * Inputs stay valid until *out is released; the caller releases *out. OMEN_INVALID_STATE before
   * a successful fit or load.                         [serial], [concurrent] where it is claimed */
  omen_status (*predict)(omen_object *, const omen_run *, const omen_dataset *in,
                         struct ArrowArrayStream *out, omen_error *);
  /* Writes everything that load needs. OMEN_INVALID_STATE before fit or load.           [serial] */
  omen_status (*save)(omen_object *, const omen_sink *, omen_error *);
  /* Restores what save wrote; afterwards predict gives the same answers.                [serial] */
  omen_status (*load)(omen_object *, const omen_source *, omen_error *);
} omen_predictor_vt;

/* Makes a decision: ranks candidates from predictions.                                 since 0.1 */
typedef struct omen_scorer_vt {
  OMEN_COMMON_SLOTS;
  /* Reads workloads, candidates and predictions; returns `scores` with one row per candidate.
   *                                                                                     [serial] */
  omen_status (*score)(omen_object *, const omen_run *, const omen_dataset *in,
                       struct ArrowArrayStream *scores, omen_error *);
  /* Lists the candidates of each workload. The slot may be NULL: candidates then come from the
   * user.                                                                               [serial] */
  omen_status (*enumerate)(omen_object *, const omen_run *, const omen_dataset *in,
                           struct ArrowArrayStream *candidates, omen_error *);
  /* Restores a policy that has weights. The slot may be NULL.                           [serial] */
  omen_status (*load)(omen_object *, const omen_source *, omen_error *);
} omen_scorer_vt;

/* A verb under the plugin's name, `omen PLUGIN VERB ARGS`; listed by extension OMEN_EXT_COMMAND.
 *                                                                                      since 0.1 */
typedef struct omen_command_vt {
  OMEN_COMMON_SLOTS;
  /* Runs with the words that are not options. Tables put into `out` are rendered by the host on
   * stdout. *exit_code is 0 before the call.                                            [serial] */
  omen_status (*run)(omen_object *, const omen_run *, const char *const *args, size_t count,
                     const omen_tables_out *out, int32_t *exit_code, omen_error *);
} omen_command_vt;

/* ---------------------------------------------------------------------------------- descriptors */

enum {
  OMEN_PROFILER = 1,
  OMEN_GRAPH_FRONTEND = 2,
  OMEN_PREDICTOR = 3,
  OMEN_SCORER = 4,
  OMEN_COMMAND = 5
};
enum {
  OMEN_CAP_CONCURRENT_PREDICT = 1u << 0,
  OMEN_CAP_THREAD_AFFINE = 1u << 1, /* one host thread for the whole life of an object */
  OMEN_CAP_NEEDS_CUDA = 1u << 2,
  OMEN_CAP_BITWISE_REPEATABLE = 1u << 3, /* same seed, same bits, at any thread budget */
  OMEN_CAP_SEEDED_REPEATABLE = 1u << 4,  /* same seed, same answer within 1e-4 relative */
  OMEN_CAP_UNCERTAINTY = 1u << 5,        /* gives <target>.lo and <target>.hi */
  OMEN_CAP_GENERATES = 1u << 6,          /* lower works without a path */
  OMEN_CAP_WARM_START = 1u << 7,         /* fit continues after load */
  OMEN_CAP_DEFAULT = 1u << 8             /* preferred where several components of a plugin fit */
};

/* One component of a plugin; static storage.                                           since 0.1 */
typedef struct omen_component {
  uint32_t struct_size, kind;
  uint64_t caps;
  const char *id;      /* "plugin.name", unique per kind */
  const char *summary; /* at most 80 characters */
  const char *cite;    /* "doi:..." or NULL */
  const char *const *reads;  /* "nodes@ops/1", "edges:optional", "workloads.batch", "workloads.*" */
  const char *const *writes; /* "column:unit:lower", "column:unit:higher", "*" */
  const omen_option_spec *const *options; /* NULL-terminated, or NULL */
  const void *vtable;                     /* omen_<kind>_vt */
} omen_component;

/* What the entry function returns; static storage.                                     since 0.1 */
typedef struct omen_plugin {
  uint32_t struct_size, abi_major, abi_minor, reserved;
  const char *id;
  const char *version;
  const char *license;                     /* SPDX expression */
  const char *homepage;                    /* or NULL */
  const omen_component *const *components; /* NULL-terminated */
  /* Called once before any create; the host outlives the plugin. May be NULL.           [serial] */
  omen_status (*init)(const omen_host *, omen_error *);
  /* Called once after the last destroy. May be NULL.                                    [serial] */
  void (*deinit)(void);
  /* Returns the extension struct for an exact id such as OMEN_EXT_COMMAND, or NULL. May be NULL.
   *                                                                                 [any-thread] */
  const void *(*get_extension)(const char *id);
} omen_plugin;

/* The one exported symbol. Pure: no side effects before init. Returns NULL where host_major is not
 * its own. [any-thread] */
OMEN_EXPORT const omen_plugin *omen_plugin_entry(uint32_t host_major, uint32_t host_minor);
typedef const omen_plugin *(*omen_plugin_entry_fn)(uint32_t host_major, uint32_t host_minor);

#ifdef __cplusplus
}
#endif

/* Extensions of the host, and of a plugin; each says where it runs and under which limits. */
#include "omen/ext/call.h"
#include "omen/ext/figure.h"

#include "omen/ext/command.h"
#include "omen/ext/graph_writer.h"
#include "omen/ext/names.h"
#include "omen/ext/observe.h"

#endif /* OMEN_ABI_H */
