// SPDX-License-Identifier: Apache-2.0
// C = A B for square matrices of n rows, tile by tile through local memory; n is a multiple of
// TILE, which is the side of a work-group.
#ifndef TILE
#define TILE 16
#endif

kernel void matmul(global const float* a, global const float* b, global float* c, const int n) {
  local float tile_a[TILE][TILE];
  local float tile_b[TILE][TILE];
  const int column = get_local_id(0), row = get_local_id(1);
  const int x = get_global_id(0), y = get_global_id(1);
  float sum = 0.0f;
  for (int t = 0; t < n; t += TILE) {
    tile_a[row][column] = a[y * n + t + column];
    tile_b[row][column] = b[(t + row) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += tile_a[row][k] * tile_b[k][column];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = sum;
}
