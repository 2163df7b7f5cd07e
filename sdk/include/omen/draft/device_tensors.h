/* SPDX-License-Identifier: Apache-2.0 */
/* Draft extension omen.device-tensors/1: a table column as DLPack tensors that stay on their
 * device.
 *
 * Drafts may change without a new minor version; the id stays when one is promoted into abi.h. */
#ifndef OMEN_DRAFT_DEVICE_TENSORS_H
#define OMEN_DRAFT_DEVICE_TENSORS_H

#include "omen/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensorVersioned; /* dlpack.h, version 1 */

#define OMEN_EXT_DEVICE_TENSORS "omen.device-tensors/1"
typedef struct omen_device_tensors_ext {
  uint32_t struct_size, reserved;
  /* Gives one column of an already opened table on `device`; the caller calls its deleter.
   * OMEN_UNSUPPORTED where the column is not dense numbers, OMEN_UNAVAILABLE where the device is
   * missing.                                                                            [serial] */
  omen_status (*column)(omen_object *, const omen_run *, const char *table, const char *column,
                        const char *device, struct DLManagedTensorVersioned **out, omen_error *);
} omen_device_tensors_ext;

#ifdef __cplusplus
}
#endif

#endif /* OMEN_DRAFT_DEVICE_TENSORS_H */
