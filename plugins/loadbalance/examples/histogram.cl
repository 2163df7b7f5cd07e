// SPDX-License-Identifier: Apache-2.0
// Counts bytes in bins that all work-groups share, so this kernel cannot be split over devices.
kernel void histogram(global const uchar* bytes, global uint* bins, const uint n) {
  local uint own[256];
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) own[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&own[bytes[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&bins[i], own[i]);
}
