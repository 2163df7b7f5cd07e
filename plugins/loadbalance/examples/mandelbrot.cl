// SPDX-License-Identifier: Apache-2.0
// Iterations until a point of the plane escapes: all arithmetic, and uneven from item to item.
kernel void mandelbrot(global uint* counts, const uint width, const float left, const float top,
                       const float step, const uint limit) {
  const uint x = get_global_id(0), y = get_global_id(1);
  const float re = left + step * x, im = top - step * y;
  float a = 0.0f, b = 0.0f;
  uint count = 0;
  while (count < limit && a * a + b * b < 4.0f) {
    const float next = a * a - b * b + re;
    b = 2.0f * a * b + im;
    a = next;
    ++count;
  }
  counts[y * width + x] = count;
}
