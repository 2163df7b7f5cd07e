/* SPDX-License-Identifier: Apache-2.0 */
/* Extension omen.names/1 of a plugin: the names that its front ends know.
 *
 * Where it runs. Nowhere: it is data, which omen-manifest copies into plugin.json. `omen info`
 * shows the names, and a misspelt one is answered with the nearest.
 * Limits. A front end may know more names than it lists; each one that it lists it must know, that
 * is, sniff must answer more than 0 for it.                                                      */
#ifndef OMEN_EXT_NAMES_H
#define OMEN_EXT_NAMES_H

#include "omen/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What `omen predict NAME` can be asked for.                                           since 0.1 */
#define OMEN_EXT_NAMES "omen.names/1"
typedef struct omen_frontend_names {
  const char *component;    /* id of a front end of this plugin */
  const char *const *names; /* NULL-terminated */
} omen_frontend_names;
typedef struct omen_names_ext {
  uint32_t struct_size, reserved;
  const omen_frontend_names *const *frontends; /* NULL-terminated */
} omen_names_ext;

#ifdef __cplusplus
}
#endif

#endif /* OMEN_EXT_NAMES_H */
