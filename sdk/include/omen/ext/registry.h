/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions omen.devices/1 and omen.datasets/1 of the host: what it knows by name.
 *
 * Where it runs. In the process of the caller, also from a worker; a dataset that a recipe has to
 * make is made there.
 * Limits. Names that the host hands out live as long as the process. A dataset is given without its
 * answers: neither targets, node_targets, candidate_costs nor columns that were measured.
 * Not part of omen/abi.h: include it where it is used.                              [any-thread] */
#ifndef OMEN_EXT_REGISTRY_H
#define OMEN_EXT_REGISTRY_H

#include "omen/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Published figures of GPUs, processors and accelerators, in SI units: fp64_flops, fp32_flops,
 * tf32_flops, bf16_flops, fp16_flops, fp8_flops, fp4_flops, int8_ops, int16_ops (dense peaks),
 * memory_bytes, bandwidth_bytes_per_s, link_bytes_per_s (to the host, one direction),
 * interconnect_bytes_per_s (between devices, both directions), launch_s, tdp_w, base_clock_hz,
 * boost_clock_hz, l2_bytes, l3_bytes, multiprocessors, fp32_lanes, fp32_matrix_flops, chips (that
 * programs see as devices of their own; the figures are of all), cores, threads, pes.
 *                                                                                      since 0.2 */
#define OMEN_EXT_DEVICES "omen.devices/1"
typedef struct omen_devices_ext {
  uint32_t struct_size, reserved;
  /* The name of the device that a driver's or a user's spelling means ("Tesla V100-SXM2-16GB",
   * "gtx1080"). OMEN_NOT_FOUND with near names as hint.                                          */
  omen_status (*find)(const omen_host*, const char* spelling, const char** name, omen_error*);
  /* One figure, and where it was published (`source` may be NULL; behind an address that could not
   * be opened when it was written down stands " (not opened)"). OMEN_NOT_FOUND where the device or
   * its figure is not known: a missing figure is not a zero.                                     */
  omen_status (*figure)(const omen_host*, const char* spelling, const char* key, double* value,
                        const char** source, omen_error*);
  /* All devices as one table: name, kind, vendor, architecture, year, and a column for each figure
   * with nulls where it was not published.                                                       */
  omen_status (*table)(const omen_host*, struct ArrowArrayStream* out, omen_error*);
} omen_devices_ext;

/* Datasets by the names that `omen data list` shows, or by directory.                  since 0.2 */
#define OMEN_EXT_DATASETS "omen.datasets/1"
typedef struct omen_datasets_ext {
  uint32_t struct_size, reserved;
  /* Puts the inputs of a dataset, table by table. OMEN_NOT_FOUND with near names as hint. */
  omen_status (*open)(const omen_host*, const char* name, const omen_tables_out* out, omen_error*);
} omen_datasets_ext;

#ifdef __cplusplus
}
#endif

#endif /* OMEN_EXT_REGISTRY_H */
