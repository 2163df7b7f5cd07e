/* SPDX-License-Identifier: Apache-2.0 */
/* Extension omen.call/1 of the host: one component calls another, of any plugin.
 *
 * Where it runs. The callee is opened by the same door as a component that the user names: in a
 * worker where its manifest asks for one or where the verb runs with --isolate, --timeout or
 * --memory, else in the process of the caller. A caller that lives in a worker calls from there.
 * Limits. Time and memory limits of the verb bound the callee's worker too; threads, seed, devices
 * and cancellation are those of the omen_run that is passed on. Calls nest at most eight deep.
 * Withheld tables. The callee sees what it would see when called by the host: never targets,
 * node_targets or candidate_costs, whatever the caller's dataset holds.
 * Objects and their models are kept for the next call with the same component, options and model,
 * except those with OMEN_CAP_THREAD_AFFINE.                                         [any-thread] */
#ifndef OMEN_EXT_CALL_H
#define OMEN_EXT_CALL_H

#include "omen/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls another component, of any plugin; lower with NULL takes the front end that is surest of the
 * path. options_json is a JSON object of option texts, or NULL; model a file, a name out of the
 * component's models, or NULL for its default. Results as of its own slot.             since 0.1 */
#define OMEN_EXT_CALL "omen.call/1"
typedef struct omen_call_ext {
  uint32_t struct_size, reserved;
  omen_status (*lower)(const omen_host *, const omen_run *, const char *component,
                       const char *options_json, const char *path, const omen_tables_out *out,
                       omen_error *);
  omen_status (*predict)(const omen_host *, const omen_run *, const char *component,
                         const char *options_json, const char *model, const omen_dataset *in,
                         struct ArrowArrayStream *out, omen_error *);
  omen_status (*score)(const omen_host *, const omen_run *, const char *component,
                       const char *options_json, const char *model, const omen_dataset *in,
                       struct ArrowArrayStream *scores, omen_error *);
  omen_status (*collect)(const omen_host *, const omen_run *, const char *component,
                         const char *options_json, const char *workload_json,
                         struct ArrowArrayStream *counters, omen_error *);
} omen_call_ext;

#ifdef __cplusplus
}
#endif

#endif /* OMEN_EXT_CALL_H */
