/* SPDX-License-Identifier: Apache-2.0 */
/* A driver library whose answers come from the environment, for machines without a device. */
#include <stdlib.h>

static int number(const char *name) {
  const char *text = getenv(name);
  return text ? atoi(text) : 0;
}

int cuInit(unsigned flags) {
  (void)flags;
  return number("OMEN_FAKE_CUINIT");
}

int cuDeviceGetCount(int *count) {
  *count = number("OMEN_FAKE_DEVICES");
  return 0;
}
