/* SPDX-License-Identifier: Apache-2.0 */
/* Extension omen.figure/1 of the host: hands over a chart with its table.
 *
 * Where it runs. In the process of the caller; files appear in omen_run.output_dir, also from a
 * worker. Without an output directory a figure is checked and dropped, which is no error.
 * Limits. The name is a file name of letters, digits, '.', '_' and '-' that does not start with a
 * dot; OMEN_INVALID_ARGUMENT for others and for what is no Plotly figure. The table is read whole
 * into memory, so thin out long series before. omen/figure.hpp writes the JSON.                  */
#ifndef OMEN_EXT_FIGURE_H
#define OMEN_EXT_FIGURE_H

#include "omen/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Hands the host a chart: a Plotly figure ({"data": [...], "layout": {...}}) and the table behind
 * it, which is taken over (NULL: none). The host writes <output_dir>/<name>.html, self-contained,
 * and <name>.csv.                                                                      since 0.1 */
#define OMEN_EXT_FIGURE "omen.figure/1"
typedef struct omen_figure_ext {
  uint32_t struct_size, reserved;
  omen_status (*put)(const omen_host *, const omen_run *, const char *name, const char *plotly_json,
                     struct ArrowArrayStream *table, omen_error *); /* [serial] */
} omen_figure_ext;

#ifdef __cplusplus
}
#endif

#endif /* OMEN_EXT_FIGURE_H */
