// SPDX-License-Identifier: Apache-2.0
// Places that are read further than they are written.
// Above each kernel: what is true of it in this launch (global/local arguments).
#define KERNEL(name) \
  __kernel void name(__global int* a, __global const int* b, __global int* c, int n, int m)
#define I (int)get_global_id(0)
#define J (int)get_global_id(1)
#define G (int)get_group_id(0)
#define L (int)get_local_id(0)
#define S (int)get_local_size(0)

// unordered 64/8: reads past its part, writes only where data says
KERNEL(partly_cond_store) {
  for (int k = 0; k < (b[I] & 3) + 6; ++k) {
    if (a[4 * I + k] == 12345) c[I] = 1;
    if (k < 4) a[4 * I + k] = 12345;
  }
}
// dependent 64/8: the same, condition by data
KERNEL(partly_cond_data) {
  for (int k = 0; k < (b[I] & 3) + 6; ++k) {
    if (a[4 * I + k] == 12345) c[I] = k;
    if (b[k] & 1) a[4 * I + k] = 12345;
  }
}
// dependent 64/8 n=4: by argument rows
KERNEL(partly_cond_rows) {
  for (int k = 0; k < (b[I] & 3) + 6; ++k) {
    if (a[n * I + k] == 12345) c[I] = k;
    if (b[k] & 1) a[n * I + k] = 12345;
  }
}
// dependent 16,16/4,4: two ids
KERNEL(partly_cond_ids) {
  int q = 2 * I + 3 * J;
  if (a[q] == 12345) c[16 * J + I] = 1;
  if (b[I] & 1) a[q] = 12345;
}
// dependent 16,16/4,4 n=4: two ids of n
KERNEL(partly_cond_ids_n) {
  int q = n * I + J;
  if (a[q] == 12345) c[16 * J + I] = 1;
  if (b[I] & 1) a[q] = 12345;
}
// unordered 64/8: group and local
KERNEL(partly_cond_group) {
  int q = G * (S / 2) + L;
  if (a[q] == 12345) c[I] = 1;
  if (L < 4) a[q] = 12345;
}
// unordered 64/8 n=4 m=2: rows of others, written only in its own
KERNEL(partly_m_rows) {
  for (int r = 0; r < m; ++r)
    for (int k = 0; k < n; ++k) {
      int q = (I + r) * n + k;
      if (a[q] == 12345) c[I] = 1;
      if (r == 0) a[q] = 12345;
    }
}
// dependent 64/8 n=2: minimum-like write only if smaller
KERNEL(partly_min) {
  for (int k = 0; k < (b[I] & 3) + 3; ++k) {
    int q = n * I + k;
    int v = a[q];
    if (v > I) {
      a[q] = I;
    } else c[I] += v;
  }
}
// unordered 64/8 n=8: half rows, written only in the own half
KERNEL(partly_half) {
  for (int k = 0; k < n; ++k) {
    int q = I * (n / 2) + k;
    c[I] += a[q];
    if (k < n / 2) a[q] = 12345;
  }
}
// unordered 64/8 n=8: stores of unchanged values
KERNEL(partly_same) {
  for (int k = 0; k < (b[I] & 3) + 6; ++k) {
    int q = 4 * I + k;
    int v = a[q];
    c[I] += v;
    a[q] = k < 4 ? 7 : v;
  }
}
// dependent 64/8 n=8: store of the other sign
KERNEL(partly_twice) {
  int q = G * (S / 2) + L;
  a[q] = -a[q];
}
// dependent 64/8: group and local, written in the upper half
KERNEL(later_cond_group) {
  int q = G * (S / 2) + L;
  if (a[q] == 12345) c[I] = 1;
  if (L >= 4) a[q] = 12345;
}
// dependent 64/8 n=4 m=2: rows of others, written only in the next one
KERNEL(later_m_rows) {
  for (int r = 0; r < m; ++r)
    for (int k = 0; k < n; ++k) {
      int q = (I + r) * n + k;
      if (a[q] == 12345) c[I] = 1;
      if (r == 1) a[q] = 12345;
    }
}
// dependent 64/8 n=8: half rows, written only in the other half
KERNEL(later_half) {
  for (int k = 0; k < n; ++k) {
    int q = I * (n / 2) + k;
    c[I] += a[q];
    if (k >= n / 2) a[q] = 12345;
  }
}
// dependent 64/8 n=8: stores of unchanged values
KERNEL(later_same) {
  for (int k = 0; k < n; ++k) {
    int q = I * (n / 2) + k;
    int v = a[q];
    c[I] += v;
    a[q] = k >= n / 2 ? 7 : v;
  }
}
// dependent 16,16/4,4: two ids
KERNEL(later_cond_ids) {
  int q = 2 * I + 3 * J;
  if (a[q] == 12345) c[16 * J + I] = 1;
  if (I > 8) a[q] = 12345;
}
