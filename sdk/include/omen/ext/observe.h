/* SPDX-License-Identifier: Apache-2.0 */
/* Extension omen.observe/1 of a plugin: corrects a fitted predictor from measured rows.
 *
 * On a fitted or loaded object, where it lives; its limits hold, and no predict runs beside it.
 * Only here and in fit can `targets` be opened. After a failure it answers as before; save keeps
 * what was learnt. OMEN_INVALID_STATE before fit or load; OMEN_UNSUPPORTED where this predictor of
 * the plugin does not learn so. Called by `omen observe` and for the observe rows of a task.      */
#ifndef OMEN_EXT_OBSERVE_H
#define OMEN_EXT_OBSERVE_H

#include "omen/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Online correction of a fitted predictor from measured rows (`workloads`, `targets`).
 *                                                                                      since 0.1 */
#define OMEN_EXT_OBSERVE "omen.observe/1"
typedef struct omen_observe_ext {
  uint32_t struct_size, reserved;
  omen_status (*observe)(omen_object *predictor, const omen_run *, const omen_dataset *measured,
                         omen_error *); /* [serial] */
} omen_observe_ext;

#ifdef __cplusplus
}
#endif

#endif /* OMEN_EXT_OBSERVE_H */
