// SPDX-License-Identifier: Apache-2.0
// Odd indices, views, guards and flags.
// Above each kernel: what is true of it in this launch (global/local arguments).
#define KERNEL(name) \
  __kernel void name(__global int* a, __global const int* b, __global int* c, int n, int m)
#define I (int)get_global_id(0)
#define J (int)get_global_id(1)
#define G (int)get_group_id(0)
#define L (int)get_local_id(0)
#define S (int)get_local_size(0)

// unordered 64/8: reads as far as data say, writes only its first
KERNEL(odd_sum_far) {
  int s = 0;
  for (int k = 0; k < b[I] % 4 + 6; ++k) s += a[4 * I + k];
  a[4 * I] = s + 1;
}
// unordered 64/8 n=4: the same by an argument's rows
KERNEL(odd_sum_far_n) {
  int s = 0;
  for (int k = 0; k < (b[I] & 3) + 6; ++k) s += a[n * I + k];
  a[n * I] = s + 1;
}
// unordered 64/8 n=4 m=6: loads longer than the row, stores at its start
KERNEL(odd_load_long) {
  int s = 0;
  for (int k = 0; k < m; ++k) s += a[n * I + k];
  a[n * I] = s + 1;
}
// unordered 64/8 n=4: load offset by data
KERNEL(odd_load_data) { a[n * I] = a[n * I + (b[I] & 127)] * 3 + 1; }
// unordered 64/8 n=4: load offset by data, store too
KERNEL(odd_both_data) {
  int d = b[I] & 127;
  a[4 * I + d % 4] = a[4 * I + d] * 3 + 1;
}
// dependent 64/8: unsigned wrap around
KERNEL(odd_wrap) {
  uint u = (uint)I * 0x04000000u;
  a[u >> 26] += 1;
  a[(u << 1) >> 27] += 1;
}
// dependent 64/8: product wraps
KERNEL(odd_wrap_mul) {
  uint u = (uint)I * 0x20000000u;
  a[u >> 26] += 1;
}
// dependent 64/8: short id
KERNEL(odd_char) { a[(char)(I << 3) + 128] += 1; }
// dependent 64/8: shifted right
KERNEL(odd_shift) {
  a[I >> 1] += 1;
  a[(I + 1) >> 1] += 1;
}
// dependent 64/8: via local memory
KERNEL(odd_via_local) {
  __local int t[8];
  t[L] = I % 8;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[t[7 - L]] += 1;
}
// dependent 16,16/4,4: negative multiple
KERNEL(odd_antidiag) { a[64 + I - J] += 1; }
// dependent 16,16/4,4 n=16: triangle index
KERNEL(odd_triangle) {
  if (J <= I) a[I * (I + 1) / 2 + J + (J == I)] += 1;
}
// dependent 64/8: loop from the id down to zero
KERNEL(odd_down) {
  for (int k = I; k >= 0; k -= 8) a[k] += 1;
}
// dependent 64/8 n=64: while loop with halving id
KERNEL(odd_heap) {
  int k = I + 1;
  while (k > 1) {
    k /= 2;
    a[k] += 1;
  }
}
// dependent 64/8 n=3: exit in the middle
KERNEL(odd_break) {
  for (int k = 0; k < 100; ++k) {
    a[4 * I + k] += 1;
    if (k > n + 1) break;
  }
}
// dependent 64/8: pair of exchanges with a partner over groups
KERNEL(odd_bitonic) {
  int p = I ^ 8;
  if (p > I && a[I] > a[p]) {
    int t = a[I];
    a[I] = a[p];
    a[p] = t;
  }
  if (I == 63) a[0] = a[8] + 1;
}
// dependent 64/8 n=32: bitonic step by an argument
KERNEL(odd_bitonic_n) {
  int p = I ^ n;
  int t = a[p];
  a[I] = a[I] * 3 + t + 1;
}
// dependent 64/8 n=64: reversal in place
KERNEL(odd_reverse) {
  int t = a[n - 1 - I];
  a[I] = t + 1;
}
// dependent 64/8 n=-1: negative stride mirrored
KERNEL(odd_negative_n) { a[64 + n * I] = a[64 + n * I + 1] + 1; }
// unordered 64/8 n=1 m=0: guard on n that does not hold for the launch
KERNEL(odd_guard_n) {
  if (n > 0) a[I] = a[I + n] + 1;
  else a[I] += 1;
}
// dependent 64/8 n=1: a loop's end from the id and n
KERNEL(odd_band) {
  for (int k = max(I - n, 0); k <= I + n; ++k) a[k] += 1;
}
// unordered 16,16/4,4 n=16: symmetric store and load
KERNEL(odd_symm) {
  if (I <= J) {
    a[I * n + J] += 1;
  } else {
    a[I * n + J] += a[J * n + I] + 1;
  }
}
// unordered 16,16/8,8 n=16: symmetric with equal
KERNEL(odd_symm_le) {
  if (I <= J) {
    a[J * n + I] = b[I];
    a[I * n + J] = b[J] + 1;
  } else c[J * n + I] = a[I * n + J];
}
// unordered 64/8 n=8 m=8: row sweep reading a wider band
KERNEL(odd_row_band) {
  for (int k = 0; k < n; ++k) a[I * n + k] = a[I * n + k + 2] + 1;
}
// dependent 64/8 n=8: row with its length minus one
KERNEL(odd_row_shrunk) {
  for (int k = 0; k < n; ++k) a[I * (n - 1) + k] += 1;
}
// dependent 64/8 n=8 m=2: m rows each but only one stride
KERNEL(odd_m_rows) {
  for (int r = 0; r < m; ++r)
    for (int k = 0; k < n; ++k) a[(I + r) * n + k] += 1;
}
// dependent 64/8 n=4 m=20: rows then columns leave
KERNEL(odd_col_leave) {
  for (int k = 0; k < m; k += 4) a[I * n + k] += 1;
}
// unordered 64/8 n=65: diag crossing rows
KERNEL(odd_diag) { a[I * n + I] = a[(I + 1) * n + I + 1] + 1; }
// dependent 64/8 n=63: column wraps into the next row
KERNEL(odd_wrap_row) {
  for (int k = 0; k < 4; ++k) { a[k * n + I] = a[(k + 1) * n + I - 63] + 1; }
}
// unordered 32/8 n=33 m=40: wave front with a wrong step
KERNEL(odd_wave_wrong) {
  int r = m - I;
  a[(r + 1) * n + I + 1] =
      a[r * n + I + 1] + a[(r + 1) * n + I] * 3 + a[(r + 2) * n + I + 2] + a[(r)*n + I + 2];
}
// dependent 64/8: vload of three overlapping
KERNEL(odd_vload3) { vstore3(vload3(I, a) + 1, 0, a + 2 * I); }
// dependent 64/8: vstore half stride
KERNEL(odd_vstore_half) { vstore2(vload2(0, a + I), 0, a + I + 1); }
// dependent 64/8: struct copy longer than stride
KERNEL(odd_struct) {
  typedef struct {
    int v[3];
  } t3;
  __global t3* p = (__global t3*)(a + 2 * I);
  t3 q = *p;
  q.v[0] += 1;
  q.v[2] += 2;
  *p = q;
}
// unordered 64/8: async copy into a neighbour
KERNEL(odd_async) {
  __local int t[8];
  event_t e = async_work_group_copy(t, a + G * 8 + 8, 8, 0);
  wait_group_events(1, &e);
  a[I] = t[L] + 1;
}
// dependent 64/8: async copy out
KERNEL(odd_async_out) {
  __local int t[16];
  t[L] = b[I];
  t[L + 8] = I;
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t e = async_work_group_copy(a + G * 8, t, 16, 0);
  wait_group_events(1, &e);
  c[I] = a[I + 8];
}
// dependent 64/8: printf-like hidden helper recursion through pointer to pointer
KERNEL(odd_local_size) { a[G * (S - 1) + L] += 1; }
// dependent 64/8: groups by local size twice
KERNEL(odd_group_half) { a[G * (S / 2) + L] += 1; }
// dependent 64/8: number of groups
KERNEL(odd_num_groups) { a[I] = a[(I + (int)get_num_groups(0)) % 64] + 1; }
// dependent 64/8: last group adds up
KERNEL(odd_last) {
  c[I] = b[I];
  if (G == (int)get_num_groups(0) - 1 && L == 0) {
    int s = 0;
    for (int k = 0; k < 64; ++k) s += c[k];
    a[0] = s;
  }
}
// unordered 64/8: first group adds up what others leave
KERNEL(odd_first) {
  if (I == 0) {
    int s = 0;
    for (int k = 0; k < 64; ++k) s += a[k];
    c[0] = s;
  } else a[I] = b[I] + 1;
}
// dependent 64/8 n=64: guard by equality with data-dependent value
KERNEL(odd_eq_data) {
  if (I == (b[0] & 31) || I == 63) a[0] += I + 1;
  c[I] = 1;
}
// dependent 64/8 n=5: guard equality on a folded argument
KERNEL(odd_eq_folded) {
  if (I % n == 0) a[0] += 1;
  c[I] = 1;
}
// dependent 64/8: guard id==id2
KERNEL(odd_eq_ids) {
  if (I == 8 * L) a[0] += 1;
  if (L == 7) a[0] += 1;
  c[I] = 1;
}
// dependent 8,8/4,4: guard I == J
KERNEL(odd_diag_guard) {
  if (I == J) a[0] += 1;
  c[J * 8 + I] = 1;
}
// collides 64/8 n=1: flag by two args
KERNEL(odd_flag_args) {
  if (I & 32) c[0] = n;
  else c[0] = m;
  a[I] = 1;
}
// dependent 64/8: flag then read by all
KERNEL(odd_flag_then) {
  c[0] = 1;
  a[I] = c[0] + c[1];
  c[1] = 1;
}
// collides 64/8: partly overlapping flag: char in an int
KERNEL(odd_flag_bytes) {
  if (I & 32) ((__global uchar*)c)[1] = 1;
  else c[0] = 0;
  a[I] = 1;
}
// unordered 64/8: long flag over ints
KERNEL(odd_flag_wide) {
  if (I & 32) *(__global long*)c = 1;
  else a[I] = c[1] + 5;
}
