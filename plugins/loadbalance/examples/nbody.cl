// SPDX-License-Identifier: Apache-2.0
// Acceleration of every body by all others; positions hold the mass in their fourth number.
float3 pull(const float4 on, const float4 by) {
  const float3 apart = by.xyz - on.xyz;
  const float inverse = rsqrt(dot(apart, apart) + 1e-6f);
  return apart * (by.w * inverse * inverse * inverse);
}

kernel void gravity(global const float4* bodies, global float4* accelerations, const uint n) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  float3 sum = (float3)(0.0f);
  for (uint j = 0; j < n; ++j) sum += pull(bodies[i], bodies[j]);
  accelerations[i] = (float4)(sum, 0.0f);
}
