// SPDX-License-Identifier: Apache-2.0
// Loops that lead into places of others, or only seem to.
// Above each kernel: what is true of it in this launch (global/local arguments).
#define KERNEL(name) \
  __kernel void name(__global int* a, __global const int* b, __global int* c, int n, int m)
#define I (int)get_global_id(0)
#define J (int)get_global_id(1)
#define G (int)get_group_id(0)
#define L (int)get_local_id(0)
#define S (int)get_local_size(0)

// dependent 64/8 n=64: strides of a group, not of the range
KERNEL(local_stride) { for (int k = I; k < n; k += S) a[k] += 1; }
// dependent 64/8 n=64: strides of a group from the local id
KERNEL(local_start) { for (int k = L; k < n; k += S) a[k] += 1; }
// dependent 64/8 n=64: half the range
KERNEL(half_stride) { for (int k = I; k < n; k += (int)get_global_size(0) / 2) a[k] += 1; }
// dependent 64/8 n=200: strides of an argument
KERNEL(argument_stride) { for (int k = I; k < n; k += 32) a[k] += 1; }
// dependent 64/8 n=64: from its own place to the end
KERNEL(to_the_end) { for (int k = I; k < n; ++k) a[k] += 1; }
// dependent 64/8: from the start to its own place
KERNEL(prefix_in_place) { int s = 0; for (int k = 0; k <= I; ++k) s += a[k]; a[I] = s; }
// unordered 64/8 n=64: powers of two
KERNEL(doubling) { for (int k = 1; k < n; k *= 2) a[I] += a[I + k]; }
// dependent 64/8 n=64: a scan by steps, over all groups
KERNEL(scan_step) { for (int k = 1; k < n; k *= 2) if (I >= k) a[I] += a[I - k]; }
// unordered 64/8 n=64: a reduction over the whole range
KERNEL(reduction) { for (int k = n; k > 0; k /= 2) if (I < k) a[I] += a[I + k]; }
// dependent 64/8: a constant loop that is one too long
KERNEL(five_of_four) { for (int k = 0; k < 5; ++k) a[4 * I + k] += 1; }
// dependent 64/8: downwards into the neighbour
KERNEL(downwards) { for (int k = 3; k >= -1; --k) a[4 * (I + 1) + k] += 1; }
// dependent 64/8 n=5: the end of the loop is its argument
KERNEL(n_of_four) { for (int k = 0; k < n; ++k) a[4 * I + k] += 1; }
// dependent 64/8: nested loops that together are too long
KERNEL(nested) { for (int j = 0; j < 3; ++j) for (int k = 0; k < 3; ++k) a[4 * I + j + k] += 1; }
// dependent 64/8: a loop with a jump
KERNEL(jump) { for (int k = 0; k < 8; k += 3) a[6 * I + k] += 1; }
// dependent 64/8 n=8: its number of turns depends on data
KERNEL(data_turns) { for (int k = 0; k < b[I] % 4 + 5; ++k) a[4 * I + k] += 1; }
// dependent 64/8: a loop that ends by data
KERNEL(while_data) { int k = I; while (b[k] % 64 != 0) ++k; a[k] += 1; }
// dependent 64/8 n=64: both ends move
KERNEL(triangle) { for (int k = 0; k < I; ++k) a[k] += 1; }
// dependent 64/8 n=9: rows of eight, n of them
KERNEL(long_rows) { for (int k = 0; k < n; ++k) a[8 * I + k] += k + 1; }
// dependent 64/8 n=128: grid stride with a neighbour
KERNEL(stride_neighbour) {
  for (int k = I; k < n; k += (int)get_global_size(0)) a[k + 1] = a[k] + 1;
}
// dependent 64/8: a step that changes by id
KERNEL(step_by_id) { for (int k = I; k < 512; k += I + 1) a[k] += 1; }
// divisible 64/8 n=128: grid stride
KERNEL(grid_stride) { for (int k = I; k < n; k += (int)get_global_size(0)) a[k] += b[k]; }
// divisible 64/8 n=256: grid stride by groups
KERNEL(group_stride) {
  for (int g = G; g < n / 8; g += (int)get_num_groups(0)) a[g * S + L] += b[g];
}
// divisible 64/8: four of its own
KERNEL(four_of_four) { for (int k = 0; k < 4; ++k) a[4 * I + k] += k; }
// divisible 64/8 n=64: all of the input
KERNEL(all_input) { int s = 0; for (int k = 0; k < n; ++k) s += b[k]; a[I] += s; }
// divisible 64/8: nested loops that fit
KERNEL(nested_fits) {
  for (int j = 0; j < 2; ++j) for (int k = 0; k < 2; ++k) a[4 * I + 2 * j + k] += 1;
}
