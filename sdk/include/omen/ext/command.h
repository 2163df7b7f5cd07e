/* SPDX-License-Identifier: Apache-2.0 */
/* Extension omen.command/1 of a plugin: verbs `omen PLUGIN VERB ARGS`.
 *
 * Where it runs. As every object of the plugin: in a worker where its manifest or the user asks for
 * one, so a verb reads no stdin and prints nothing: output goes through omen_tables_out and
 * omen_run.output_dir. The manifest lists verbs and options, so help opens no library.
 * Limits. --timeout and --memory bound the worker; other components are reached through
 * omen.call/1, under the same limits.                                                            */
#ifndef OMEN_EXT_COMMAND_H
#define OMEN_EXT_COMMAND_H

#include "omen/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Verbs of the plugin: components of kind OMEN_COMMAND with omen_command_vt.           since 0.1 */
#define OMEN_EXT_COMMAND "omen.command/1"
typedef struct omen_command_ext {
  uint32_t struct_size, reserved;
  const omen_component *const *commands; /* NULL-terminated */
} omen_command_ext;

#ifdef __cplusplus
}
#endif

#endif /* OMEN_EXT_COMMAND_H */
