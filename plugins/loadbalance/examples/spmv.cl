// SPDX-License-Identifier: Apache-2.0
// y = M x for a sparse matrix in compressed rows, one row for each item: scattered loads.
kernel void spmv(global const uint* row_starts, global const uint* columns,
                 global const float* values, global const float* x, global float* y,
                 const uint rows) {
  const uint row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (uint i = row_starts[row]; i < row_starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
