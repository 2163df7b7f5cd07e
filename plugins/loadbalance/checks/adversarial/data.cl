// SPDX-License-Identifier: Apache-2.0
// Places that data name, atomics, flags and waiting.
// Above each kernel: what is true of it in this launch (global/local arguments).
#define KERNEL(name) \
  __kernel void name(__global int* a, __global const int* b, __global int* c, int n, int m)
#define I (int)get_global_id(0)
#define J (int)get_global_id(1)
#define G (int)get_group_id(0)
#define L (int)get_local_id(0)
#define S (int)get_local_size(0)

// dependent 64/8: a histogram without atomics
KERNEL(histogram) { a[b[I] % 8] += 1; }
// dependent 64/8: a histogram with atomics
KERNEL(atomic_histogram) { atomic_inc(&a[b[I] % 8]); }
// dependent 64/8: a ticket
KERNEL(ticket) { a[atomic_inc(c) % 64 + 1] = b[I]; }
// dependent 64/8: the largest of all
KERNEL(largest) { atomic_max(c, b[I] + (1 << 20) + I); a[I] = 1; }
// dependent 64/8: a read through written indices
KERNEL(gather_in_place) { a[I] = a[b[I] % 64] + 1; }
// dependent 64/8: a scatter that adds
KERNEL(scatter_add) { a[b[I] % 16] += I + 1; }
// dependent 64/8: indices that are folded by bits
KERNEL(masked) { a[I & 15] += 1; }
// dependent 64/8: by division
KERNEL(divided) { a[I / 4 + G * 0] += 1; a[(I + 4) / 8] += 1; }
// dependent 64/8: by exclusive or
KERNEL(flipped) { a[I] = a[I ^ 32] + 1; }
// dependent 64/8: by a narrow type
KERNEL(narrow) { a[(uchar)(I * 8)] += 1; }
// dependent 64/8: by a product of an id with itself
KERNEL(squares) { a[I * (63 - I)] += 1; }
// dependent 64/8: a flag that is also read
KERNEL(flag_read) { if (c[0] % 2 == 1) a[I] = 7; c[0] = 1; if (I == 63) c[0] = 2; }
// dependent 64/8: a flag with two colours
KERNEL(two_flags) {
  a[I] = c[0];
  if (I == 5) c[0] = 1;
  if (I == 60) c[0] = 2;
}
// dependent 64/8: a counter that everyone raises
KERNEL(counter) { c[0] = c[0] + 1; a[I] = 1; }
// dependent 64/8: the sum of all in one place
KERNEL(sum) { c[0] += b[I]; a[I] = 1; }
// dependent 64/8: through an index table that is written
KERNEL(written_table) { c[I] = 63 - I; a[c[63 - I] & 63] += 1; }
// collides 64/8: everyone writes one place
KERNEL(one_place) { a[I / 64] = b[I]; }
// collides 64/8: a scatter
KERNEL(scatter) { a[b[I] % 16] = I + 1; }
// collides 64/8: modulo
KERNEL(modulo) { a[I % 16] = b[I]; }
// collides 16,16/4,4: two ids with one step
KERNEL(sum_of_ids_written) { a[I + J] = b[16 * J + I]; }
// collides 64/8: windows that overlap
KERNEL(windows) { for (int k = 0; k < 4; ++k) a[2 * I + k] = b[I] + k; }
// divisible 64/8: whoever finds it raises the flag
KERNEL(raise_flag) { if (b[I] % 3 == 0) c[0] = 1; a[I] = b[I]; }
// divisible 64/8 n=7: the same with an argument
KERNEL(raise_level) { if (b[I] % 3 == 0) c[I % 4] = n; a[I] = b[I]; }
// divisible 64/8: a gather from the input
KERNEL(gather) { a[I] += b[b[I] % 64]; }
// divisible 64/8: an atomic on local memory
KERNEL(local_atomic) {
  __local int t;
  if (L == 0) t = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&t, b[I]);
  barrier(CLK_LOCAL_MEM_FENCE);
  a[I] = t;
}
