// SPDX-License-Identifier: Apache-2.0
// Conditions that keep items apart, and those that do not.
// Above each kernel: what is true of it in this launch (global/local arguments).
#define KERNEL(name) \
  __kernel void name(__global int* a, __global const int* b, __global int* c, int n, int m)
#define I (int)get_global_id(0)
#define J (int)get_global_id(1)
#define G (int)get_group_id(0)
#define L (int)get_local_id(0)
#define S (int)get_local_size(0)

// dependent 64/8: everyone but one reads what that one writes
KERNEL(one_writes) { if (I == 3) a[0] = b[I] + 9; else c[I] = a[0]; }
// dependent 64/8: the guard is on the group's own id
KERNEL(first_of_group) { if (L == 0) a[0] += 1; c[I] = 1; }
// dependent 64/8 n=3: a guard that several pass
KERNEL(several_pass) { if (I < 40) a[0] += 1; c[I] = 1; }
// dependent 64/8: a guard that all but one pass
KERNEL(all_but_one) { if (I != 3) a[0] += 1; c[I] = 1; }
// dependent 64/8: two guards, one place
KERNEL(two_guards) { if (I == 1) a[0] = b[1]; if (I == 60) c[0] = a[0]; c[I + 1] = 1; }
// dependent 64/8: a guard on a folded id
KERNEL(folded_guard) { if (I % 32 == 3) a[0] += 1; c[I] = 1; }
// dependent 64/8: a guard by or
KERNEL(or_guard) { if (I == 3 || I == 60) a[0] += 1; c[I] = 1; }
// dependent 64/8: a guard by data
KERNEL(data_guard) { if (b[I] % 2 == 1) a[0] += 1; c[I] = 1; }
// dependent 64/8: guarded border, moved by one
KERNEL(border_moved) { if (I == 31) a[32] = 1; else a[I] = a[I] * 2 + 1; }
// dependent 8,16/8,4: one row passes, and another buffer has a place for each row
KERNEL(row_guard) { if (I == 0) a[0] += 1; c[J] += 1; }
// dependent 64/8 n=20: rows above a pivot that is among them
KERNEL(at_least) { if (I >= n) a[I] -= a[n] * 3 + 1; }
// unordered 64/8 n=40: rows up to the pivot
KERNEL(at_most) { if (I <= n) a[I] -= a[n] * 3 + 1; }
// dependent 64/8 n=20: the guard does not hold for the store
KERNEL(guard_on_load) { int p = 0; if (I > n) p = a[n]; a[I] = a[I] * 3 + p + 1; }
// dependent 64/8 n=28: compared without a sign
KERNEL(unsigned_guard) { if ((uint)(I - n) < 8u) a[I] += a[n + 1] + 1; }
// dependent 64/8 n=-1: an argument that may be negative
KERNEL(negative_argument) { if (I > n) a[I + 1] += a[n + 1 + 32] + 1; }
// dependent 32,8/8,8 n=32 m=3: the guard on columns is missing
KERNEL(trailing_open) { if (J > m && J < n && I < n) a[J * n + I] -= a[J * n + m] * a[m * n + I] + 1; }
// dependent 64/8: values chosen by a branch
KERNEL(chosen) { int k = 1; if (b[I] >= 0 && (I & 1)) { c[I] = 1; k = 2; } a[I + k] += 1; }
// dependent 64/8: chosen by the id
KERNEL(chosen_by_id) { a[I < 32 ? I : I - 32] += 1; }
// dependent 64/8: clamped at a border
KERNEL(clamped) { a[min(I, 31)] += 1; }
// dependent 64/8 n=63: clamped neighbours
KERNEL(clamped_neighbour) { int s = a[max(I - 1, 0)] + a[min(I + 1, n)]; a[I] = s + 1; }
// divisible 64/8: one item does it all
KERNEL(only_one) { if (I == 0) a[0] += b[0]; c[I] = 1; }
// divisible 64/8: borders belong to the item that is there
KERNEL(own_border) { if (I == 3) a[3] = 1; else a[I] = a[I] * 2; }
// divisible 64/8 n=40: behind the pivot
KERNEL(behind) { if (I > n) a[I] -= a[n] * 3 + 1; }
// divisible 64/8 n=40: before the pivot
KERNEL(before) { if (I < n) a[I] -= a[n] * 3 + 1; }
// divisible 64/8: first of each group
KERNEL(group_sum) { if (L == 0) c[G] += b[G] + 1; }
// divisible 64/8 n=40: early return
KERNEL(early_return) { if (I <= n) return; a[I] += a[n]; }
