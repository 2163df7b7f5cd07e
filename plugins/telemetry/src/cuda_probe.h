/* SPDX-License-Identifier: Apache-2.0
 * The one function of the module that holds the CUDA part of telemetry.probe. */
#ifndef OMEN_PLUGINS_TELEMETRY_CUDA_PROBE_H
#define OMEN_PLUGINS_TELEMETRY_CUDA_PROBE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OMEN_CUDA_PROBE_VERSION 1
enum { OMEN_CUDA_PROBE_OK = 0, OMEN_CUDA_PROBE_NO_GPU = 1, OMEN_CUDA_PROBE_FAILED = 2 };

/* Where the module puts what it finds; `device` starts the next one, the others add to it. */
typedef struct omen_cuda_sink {
  void *data;
  void (*device)(void *data, int index, const char *name);
  void (*fact)(void *data, const char *key, const char *value);
  void (*figure)(void *data, const char *name, double value);
} omen_cuda_sink;

/* Measures every GPU, `seconds` for each figure. On anything but OK, `problem` says what is wrong. */
typedef int (*omen_cuda_probe_fn)(int version, double seconds, const omen_cuda_sink *sink,
                                  char *problem, size_t problem_size);
#define OMEN_CUDA_PROBE_SYMBOL "omen_cuda_probe"

#ifdef __cplusplus
}
#endif

#endif /* OMEN_PLUGINS_TELEMETRY_CUDA_PROBE_H */
