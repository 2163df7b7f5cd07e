// SPDX-License-Identifier: Apache-2.0
// The sum of each work-group's part, by halves in local memory; the host adds the parts.
kernel void partial_sums(global const float* values, global float* sums, local float* scratch,
                         const uint n) {
  const uint lane = get_local_id(0), size = get_local_size(0);
  float sum = 0.0f;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += values[i];
  scratch[lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_size = size / 2; half_size > 0; half_size /= 2) {
    if (lane < half_size) scratch[lane] += scratch[lane + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) sums[get_group_id(0)] = scratch[0];
}
