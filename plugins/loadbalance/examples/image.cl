// SPDX-License-Identifier: Apache-2.0
// Two kernels in one file: edges of a grey image, and their threshold.
kernel void sobel(global const uchar* in, global uchar* out, const int width, const int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  global const uchar* p = in + y * width + x;
  const int across = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] -
                     p[width - 1];
  const int down = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] -
                   p[1 - width];
  out[y * width + x] = convert_uchar_sat(abs(across) + abs(down));
}

kernel void threshold(global uchar* image, const uchar least, const uint n) {
  const uint i = get_global_id(0);
  if (i < n) image[i] = image[i] >= least ? 255 : 0;
}
