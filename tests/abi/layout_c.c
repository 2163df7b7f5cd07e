/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the shipped layout as C. */
#include "layout.h"
