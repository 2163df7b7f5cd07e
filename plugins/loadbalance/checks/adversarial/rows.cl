// SPDX-License-Identifier: Apache-2.0
// Rows and columns: whose rows they are, and how long.
// Above each kernel: what is true of it in this launch (global/local arguments).
#define KERNEL(name) \
  __kernel void name(__global int* a, __global const int* b, __global int* c, int n, int m)
#define I (int)get_global_id(0)
#define J (int)get_global_id(1)
#define G (int)get_group_id(0)
#define L (int)get_local_id(0)
#define S (int)get_local_size(0)

// dependent 64/8 n=8: twice as long as a row
KERNEL(two_rows) { for (int k = 0; k < 2 * n; ++k) a[I * n + k] += k + 1; }
// dependent 64/8 n=8: one longer than a row
KERNEL(row_and_one) { for (int k = 0; k <= n; ++k) a[I * n + k] += k + 1; }
// dependent 64/8 n=8 m=12: another length that is too long
KERNEL(other_length) { for (int k = 0; k < m; ++k) a[I * n + k] += k + 1; }
// dependent 16,16/4,4 n=8: two ids with one step
KERNEL(sum_of_ids) { a[I + J] += 1; }
// dependent 16,16/4,4: two ids with nearly one step
KERNEL(near_steps) { a[2 * I + 3 * J] += 1; }
// dependent 16,16/4,4: rows of 8 for 16 columns
KERNEL(short_rows) { a[8 * J + I] += 1; }
// dependent 16,16/4,4 n=8: rows of n for more columns
KERNEL(short_rows_of_n) { a[n * J + I] += 1; }
// dependent 64/8 n=0: rows without length
KERNEL(no_length) { a[n * I] += 1; }
// dependent 64/8 n=4: the end of the row before
KERNEL(row_before) { for (int k = 0; k < n; ++k) a[(I + 1) * n + k] += a[(I + 1) * n + k - 1]; }
// dependent 64/8 n=4: the start of the next row
KERNEL(row_behind) { for (int k = 0; k < n; ++k) a[I * n + k] += a[I * n + k + 1]; }
// dependent 64/8 n=4: the next row
KERNEL(next_row) { for (int k = 0; k < n; ++k) a[I * n + k] += a[(I + 1) * n + k]; }
// dependent 64/8 n=4: every row takes from row 3
KERNEL(fixed_row) { for (int k = 0; k < n; ++k) a[I * n + k] += a[3 * n + k] + 1; }
// dependent 64/8 n=64 m=1: pivot row that is among the written ones
KERNEL(pivot_inside) { for (int k = 0; k < 8; ++k) a[I * n + k] -= a[m * n + k] * 3 + 1; }
// dependent 32,4/8,1 n=32 m=1: elimination without its guard on rows
KERNEL(eliminate_all) { a[J * n + I] -= a[m * n + I] * 3 + 1; }
// dependent 64/8 n=4: columns that overlap because rows are shorter than the range
KERNEL(short_columns) { for (int k = 0; k < 4; ++k) a[k * n + I] += 1; }
// dependent 64/8 n=64 m=8: a column sweep that reads its neighbour
KERNEL(column_neighbour) { for (int k = 1; k < m; ++k) a[k * n + I + 1] = a[(k - 1) * n + I] + 1; }
// dependent 64/8 n=4: a row of its own for two neighbours
KERNEL(shared_rows) { for (int k = 0; k < n; ++k) a[(I / 2) * n + k] += 1; }
// dependent 64/8 n=6: rows by half a length
KERNEL(half_rows) { for (int k = 0; k < n; ++k) a[I * (n / 2) + k] += 1; }
// dependent 64/8 n=8: from the end of the row into the next
KERNEL(from_end) { for (int k = 0; k < n; ++k) a[I * n + n - 1 + k] += 1; }
// dependent 64/8 n=-3: backwards rows that overlap
KERNEL(backwards_rows) { for (int k = 0; k < 4; ++k) a[256 + I * n + k] += 1; }
// dependent 4,4,4/1,1,2 n=4 m=3: planes that are too thin
KERNEL(thin_planes) { a[((int)get_global_id(2) * m + J) * n + I] += 1; }
// dependent 16,16/4,4 n=16: rows for one id only, columns for both
KERNEL(both_in_columns) { a[J * n + I + J] += 1; }
// divisible 64/8 n=8: its own row
KERNEL(own_row) { for (int k = 1; k < n; ++k) a[I * n + k] += a[I * n + k - 1]; }
// divisible 64/8 n=8: its own row, backwards
KERNEL(own_row_back) { for (int k = n - 2; k >= 0; --k) a[I * n + k] += a[I * n + k + 1]; }
// divisible 64/8 n=64 m=8: its own column
KERNEL(own_column) { if (I < n) for (int k = 1; k < m; ++k) a[k * n + I] += a[(k - 1) * n + I]; }
// divisible 32,8/8,4 n=40 m=1: elimination below the pivot
KERNEL(eliminate) {
  int r = m + 1 + J, q = m + I;
  if (q < n) a[r * n + q] -= c[r * n + m] * a[m * n + q];
}
// divisible 32,32/8,8 n=32 m=3: trailing matrix by comparison
KERNEL(trailing) { if (I > m && J > m && I < n && J < n) a[J * n + I] -= a[J * n + m] * a[m * n + I]; }
// divisible 64/8 n=80 m=3: pivot row, all behind the pivot
KERNEL(pivot_row) { a[m * n + m + 1 + I] -= a[m * n + m] * 3; }
// divisible 16,16/4,4 n=16: a row for each id
KERNEL(matrix) { if (I < n) a[J * n + I] = a[J * n + I] * 3 + 1; }
// divisible 16,16/4,4: rows of 16
KERNEL(matrix_of_16) { if (I < 16) a[J * 16 + I] += 1; }
// divisible 4,4,4/1,1,2 n=4 m=4: planes
KERNEL(planes) { a[((int)get_global_id(2) * m + J) * n + I] += 1; }
// divisible 32/8 n=34 m=33: a wave front of a dynamic program
KERNEL(wave_front) { int r = m - 1 - I; a[(r + 1) * n + I + 1] = a[r * n + I] + b[I]; }
// divisible 64/8 n=64 m=5: one row from the row before
KERNEL(row_from_row) { if (I < n) a[m * n + I] += a[(m - 1) * n + I] * 3; }
