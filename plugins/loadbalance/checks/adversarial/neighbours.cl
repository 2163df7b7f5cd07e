// SPDX-License-Identifier: Apache-2.0
// Places beside one's own, read while others write them.
// Above each kernel: what is true of it in this launch (global/local arguments).
#define KERNEL(name) \
  __kernel void name(__global int* a, __global const int* b, __global int* c, int n, int m)
#define I (int)get_global_id(0)
#define J (int)get_global_id(1)
#define G (int)get_group_id(0)
#define L (int)get_local_id(0)
#define S (int)get_local_size(0)

// dependent 64/8: the left neighbour
KERNEL(left) { a[I + 1] = a[I] + 1; }
// dependent 64/8: the right neighbour
KERNEL(right) { a[I] = a[I + 1] * 3 + 1; }
// dependent 64/8: both neighbours
KERNEL(stencil_in_place) { a[I + 1] = a[I] + a[I + 2]; }
// dependent 64/8: the neighbour on the other side of a group
KERNEL(one_group_on) { a[I] += a[I + S]; }
// dependent 64/8: half of the range away
KERNEL(half_range) { if (I < 32) a[I] += a[I + 32]; else a[I] *= 5; }
// dependent 64/8 n=63: mirrored
KERNEL(mirrored) { a[I] = a[n - I] * 2 + 1; }
// dependent 64/8: the first place belongs to the first item
KERNEL(first_for_all) { a[I] = a[0] + b[I] + 1; }
// dependent 64/8 n=63: the last place belongs to the last item
KERNEL(last_for_all) { a[I] = a[n] + b[I] + 1; }
// dependent 64/8: even and odd ones overlap by one
KERNEL(pairs_overlap) { a[2 * I] = a[2 * I + 2] + a[2 * I + 1]; }
// dependent 64/8: three of a pitch of two
KERNEL(three_of_two) { for (int k = 0; k < 3; ++k) a[2 * I + k] += k + 1; }
// dependent 64/8: unsigned arithmetic goes one back
KERNEL(unsigned_back) { uint u = I; a[u + 1u] = a[u + 2u - 1u - 1u] + 7; }
// dependent 64/8: the neighbour through a helper variable
KERNEL(moved_pointer) { __global int* p = a + I; p[1] = p[0] + 1; }
// dependent 64/8: the local neighbour leaves its group
KERNEL(local_neighbour) { a[G * S + L + 1] = a[G * S + L] + 1; }
// dependent 64/8: the border of a group
KERNEL(group_border) { if (L == 0) a[I] = a[I + 7 + 1] + 1; else a[I] += 1; }
// dependent 64/8: what the group before wrote, by the group's own number
KERNEL(group_before) { if (L == 0) c[G + 1] = c[G] + 1; a[I] = 1; }
// dependent 16,16/8,8 n=16: above, in place
KERNEL(above) { a[(J + 1) * n + I] = a[J * n + I] + 1; }
// dependent 16,16/8,8 n=16: to the left, in place, and above
KERNEL(left_and_above) { a[(J + 1) * n + I + 1] = a[(J + 1) * n + I] + a[J * n + I + 1]; }
// dependent 16,16/8,8 n=17: the diagonal before
KERNEL(diagonal) { a[(J + 1) * n + I + 1] = a[J * n + I] + 1; }
// dependent 16,16/8,8 n=16: transposed in place, by both items of a pair
KERNEL(transposed_by_both) { a[J * n + I] = a[I * n + J] + 1; }
// divisible 16,16/8,8 n=16: transposed in place, by one item of each pair
KERNEL(transposed) {
  if (I < J) {
    int t = a[J * n + I];
    a[J * n + I] = a[I * n + J] + 1;
    a[I * n + J] = t;
  }
}
// dependent 64/8: a red-black sweep that takes both colours
KERNEL(both_colours) { int p = 2 * I + (I & 1); a[p + 1] = a[p] + a[p + 2]; }
// divisible 64/8: only the input is shared
KERNEL(stencil) { a[I] = b[I] + b[I + 1] + b[I + 2]; }
// divisible 64/8: red places from black ones
KERNEL(red_black) { a[2 * I] = a[2 * I + 1] + a[2 * I + 3]; }
// divisible 64/8: two arrays in one, the second behind the first
KERNEL(two_in_one) { a[I] = a[I + (1 << 14)] + 1; }
// divisible 64/8: own pair
KERNEL(own_pair) { int t = a[2 * I]; a[2 * I] = a[2 * I + 1]; a[2 * I + 1] = t; }
