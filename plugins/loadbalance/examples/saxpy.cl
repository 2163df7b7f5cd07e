// SPDX-License-Identifier: Apache-2.0
// y = a x + y: two loads, one store and two operations for each item.
kernel void saxpy(const float a, global const float* x, global float* y, const uint n) {
  const size_t i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
