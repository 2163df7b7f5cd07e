/* SPDX-License-Identifier: Apache-2.0 */
/* Extension omen.graph-writer/1 of a plugin: further output formats of `omen graph -o`.
 *
 * Where it runs. Where objects of the plugin run: in a worker where its manifest or the verb asks
 * for one. It has no object, so nothing is kept between two files.
 * Limits. Those of the verb, for each file. Write to `path` and nowhere else, and leave no half
 * file on failure.                                                                               */
#ifndef OMEN_EXT_GRAPH_WRITER_H
#define OMEN_EXT_GRAPH_WRITER_H

#include "omen/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Further output formats for graphs: `omen graph x.cl -o x.pb`.                        since 0.1 */
#define OMEN_EXT_GRAPH_WRITER "omen.graph-writer/1"
typedef struct omen_graph_writer_ext {
  uint32_t struct_size, reserved;
  const char *const *suffixes; /* ".pb", ".pbtxt"; NULL-terminated */
  /* Writes the tables workloads, nodes and edges of `in` to `path`.                     [serial] */
  omen_status (*write)(const omen_run *, const omen_dataset *in, const char *path, omen_error *);
} omen_graph_writer_ext;

#ifdef __cplusplus
}
#endif

#endif /* OMEN_EXT_GRAPH_WRITER_H */
