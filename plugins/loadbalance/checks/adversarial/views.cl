// SPDX-License-Identifier: Apache-2.0
// The same memory under other types, and functions in between.
// Above each kernel: what is true of it in this launch (global/local arguments).
#define KERNEL(name) \
  __kernel void name(__global int* a, __global const int* b, __global int* c, int n, int m)
#define I (int)get_global_id(0)
#define J (int)get_global_id(1)
#define G (int)get_group_id(0)
#define L (int)get_local_id(0)
#define S (int)get_local_size(0)

typedef struct {
  int x, y;
} pair;
typedef struct {
  int v[4];
} quad;
int next_of(__global int* p, int at) { return p[at + 1]; }
void put(__global int* p, int at, int value) { p[at] = value; }

// dependent 64/8: wider elements reach the neighbour's
KERNEL(wider) { ((__global long*)a)[I] += a[I + 1]; }
// dependent 64/8: vectors that are read one on
KERNEL(vector_next) { vstore4(vload4(I + 1, a) + 1, I, a); }
// dependent 64/8: vectors by elements
KERNEL(vector_by_element) { vstore4(vload4(0, a + I) + 1, 0, a + I); }
// dependent 64/8: bytes of a neighbour
KERNEL(bytes) { __global uchar* p = (__global uchar*)a; p[4 * I] = p[4 * I + 4] + 1; }
// dependent 64/8: a pointer that is not whole elements further
KERNEL(odd_pointer) { __global uchar* p = (__global uchar*)a + 2 * I; *(__global ushort*)p += p[2]; }
// dependent 64/8: a field of the neighbour
KERNEL(field_of_next) { __global pair* p = (__global pair*)a; p[I].x = p[I + 1].x + p[I].y + 1; }
// dependent 64/8: an array in a structure that is left
KERNEL(array_left) { __global quad* p = (__global quad*)a; p[I].v[1] = p[I + 1].v[1] + 1; }
// dependent 64/8: behind a function
KERNEL(in_function) { put(a, I, next_of(a, I) + 1); }
// dependent 64/8: a pointer that may be either buffer
KERNEL(either) { __global int* p = n > 0 ? a : c; p[I] = a[I + 1] + 1; }
// dependent 64/8: through a pointer that walks
KERNEL(walking) { __global int* p = a + I; for (int k = 0; k < 3; ++k) *p++ += 1; }
// dependent 64/8 n=4: a pointer that jumps by an argument
KERNEL(jumping) { __global int* p = a + I; for (int k = 0; k < 3; ++k, p += n) *p += 1; }
// dependent 64/8: two views of different length
KERNEL(two_views) { __global long* p = (__global long*)a; p[I] = 5; c[I] = a[I + 1]; }
// dependent 64/8: half of a vector
KERNEL(half_vector) { __global int4* p = (__global int4*)a; p[I].x += a[4 * I + 4] + 1; }
// dependent 64/8: through a volatile view
KERNEL(watched) { *(volatile __global int*)(a + I) = a[I + 8] + 1; }
// dependent 64/8: barriers do not reach other groups
KERNEL(barrier_between) {
  a[I] = b[I];
  barrier(CLK_GLOBAL_MEM_FENCE);
  c[I] = a[(I + 32) % 64];
}
// dependent 64/8: private copies of what others write
KERNEL(private_copy) { int t[2]; for (int k = 0; k < 2; ++k) t[k] = a[I + k]; a[I] = t[0] + t[1] + 1; }
// dependent 64/8: from local memory, filled with places of others
KERNEL(local_halo) {
  __local int t[9];
  t[L] = a[I];
  if (L == 7) t[8] = a[I + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[I] = t[L] + t[L + 1] + 1;
}
// divisible 64/8: own fields
KERNEL(own_fields) { __global pair* p = (__global pair*)a; p[I].x += p[I].y; }
// divisible 64/8: own vectors
KERNEL(own_vector) { vstore4(vload4(I, a) * 2, I, a); }
// divisible 64/8: one's own part of a vector
KERNEL(own_lane) { __global int4* p = (__global int4*)a; p[I].x += a[4 * I + 3]; }
// divisible 64/8: behind functions
KERNEL(own_in_function) { put(a, I, b[I] + a[I]); }
// divisible 64/8: local memory of the group
KERNEL(local_turn) {
  __local int t[8];
  t[L] = b[I];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[I] += t[7 - L];
}
// divisible 64/8: the output lies in another buffer
KERNEL(halo_copy) {
  __local int t[9];
  t[L] = b[I];
  if (L == 7) t[8] = b[I + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[I] = t[L] + t[L + 1];
}
