// SPDX-License-Identifier: Apache-2.0
// One step of heat flow on a grid: every inner point moves towards the mean of its neighbours.
kernel void heat(global const float* from, global float* to, const int width, const int height,
                 const float rate) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const int at = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    to[at] = from[at];
    return;
  }
  const float around = from[at - 1] + from[at + 1] + from[at - width] + from[at + width];
  to[at] = from[at] + rate * (around - 4.0f * from[at]);
}
