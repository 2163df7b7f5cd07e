// SPDX-License-Identifier: Apache-2.0
// The sources; sizes are such that one processor core takes tens of milliseconds,
// which is long against what a scheduler does meanwhile.
#include "opencl/own_kernels.hpp"

namespace omen::loadbalance {

const std::vector<OwnKernel>& divisible_kernels() {
  static const std::vector<OwnKernel> kernels = {
      {"triad",
       R"cl(__kernel void triad(__global float* a, __global const float* b, __global const float* c,
                    const float factor, const int rounds) {
  const size_t i = get_global_id(0);
  float sum = b[i];
  for (int k = 0; k < rounds; ++k) sum = sum * 0.5f + factor * c[i];
  a[i] = sum;
}
)cl",
       "1Mi",
       "256",
       {"rounds=64"}},
      {"polynomial",
       R"cl(float value(float x, int terms) {
  float sum = 0;
  for (int k = terms; k > 0; --k) sum = sum * x + 1.0f / k;
  return sum;
}
__kernel void polynomial(__global const float* x, __global float* y, const int terms) {
  const size_t i = get_global_id(0);
  y[i] = value(x[i], terms);
}
)cl",
       "256Ki",
       "128",
       {"terms=160"}},
      {"product",
       R"cl(__kernel void product(__global const float* a, __global const float* b, __global float* c,
                      const int n) {
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
)cl",
       "384,384",
       "16,16",
       {"n=384"}},
      {"escape",
       R"cl(__kernel void escape(__global uint* counts, const float left, const float top,
                     const float step, const uint limit) {
  const uint x = get_global_id(0), y = get_global_id(1);
  const float re = left + step * x, im = top - step * y;
  float a = 0, b = 0;
  uint n = 0;
  while (n < limit && a * a + b * b < 4) {
    const float next = a * a - b * b + re;
    b = 2 * a * b + im;
    a = next;
    ++n;
  }
  counts[y * get_global_size(0) + x] = n;
}
)cl",
       "256,256",
       "32,4",
       {"left=-2", "top=1.25", "step=0.01", "limit=800"}},
      {"attract",
       R"cl(__kernel void attract(__global const float4* bodies, __global float4* forces, const uint n) {
  const size_t i = get_global_id(0);
  float3 sum = (float3)(0.0f);
  const float3 here = bodies[i].xyz;
  for (uint k = 0; k < n; ++k) {
    const float3 way = bodies[k].xyz - here;
    const float r = rsqrt(dot(way, way) + 0.01f);
    sum += way * (bodies[k].w * r * r * r);
  }
  forces[i] = (float4)(sum, 0.0f);
}
)cl",
       "4096",
       "32",
       {"n=4096"}},
      {"blur",
       R"cl(__kernel void blur(__global const float* from, __global float* to, const int width,
                   const int height, const int reach) {
  const int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int dy = -reach; dy <= reach; ++dy)
    for (int dx = -reach; dx <= reach; ++dx)
      sum += from[clamp(y + dy, 0, height - 1) * width + clamp(x + dx, 0, width - 1)];
  to[y * width + x] = sum / ((2 * reach + 1) * (2 * reach + 1));
}
)cl",
       "512,512",
       "32,8",
       {"width=512", "height=512", "reach=6"}},
      {"group_sums",
       R"cl(__kernel void group_sums(__global const float* values, __global float* sums,
                         __local float* scratch, const int rounds) {
  const uint lane = get_local_id(0);
  float sum = 0;
  for (int k = 1; k <= rounds; ++k) sum += values[get_global_id(0)] / k;
  scratch[lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
    if (lane < step) scratch[lane] += scratch[lane + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0) sums[get_group_id(0)] = scratch[0];
}
)cl",
       "256Ki",
       "64",
       {"rounds=160"}},
      {"turn",
       R"cl(__kernel void turn(__global const float* from, __global float* to, __local float* tile,
                   const int rounds) {
  const uint side = get_local_size(0), x = get_local_id(0), y = get_local_id(1);
  const uint width = get_global_size(0), height = get_global_size(1);
  float value = from[get_global_id(1) * width + get_global_id(0)];
  for (int k = 0; k < rounds; ++k) value = value * 0.75f + 0.25f;
  tile[y * side + x] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  to[(get_group_id(0) * side + y) * height + get_group_id(1) * side + x] = tile[x * side + y];
}
)cl",
       "1024,512",
       "16,16",
       {"rounds=48"}},
      {"strides",
       R"cl(float step(float v, int rounds) {
  for (int k = 0; k < rounds; ++k) v = mad(v, 0.999f, 0.001f);
  return v;
}
size_t stride(void) { return get_global_size(0); }
__kernel void strides(__global const float* in, __global float* out, const uint n,
                      const int rounds) {
  for (size_t i = get_global_id(0); i < n; i += stride()) out[i] = step(in[i], rounds);
}
)cl",
       "64Ki",
       "64",
       {"in=buffer:2Mi", "out=buffer:2Mi", "n=524288", "rounds=120"}},
      {"group_histogram",
       R"cl(__kernel void group_histogram(__global const uint* keys, __global uint* bins,
                              const uint per_item) {
  __local uint own[64];
  for (uint b = get_local_id(0); b < 64; b += get_local_size(0)) own[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < per_item; ++k)
    atomic_inc(&own[(keys[get_global_id(0)] * (2 * k + 1)) & 63]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = get_local_id(0); b < 64; b += get_local_size(0))
    bins[get_group_id(0) * 64 + b] = own[b];
}
)cl",
       "64Ki",
       "64",
       {"per_item=256"}},
      {"sparse",
       R"cl(__kernel void sparse(__global const int* columns, __global const float* values,
                     __global const float* x, __global float* y, const int per_row) {
  const size_t row = get_global_id(0), rows = get_global_size(0);
  float sum = 0;
  for (int k = 0; k < per_row; ++k) sum += values[row * per_row + k] * x[columns[row * per_row + k] % rows];
  y[row] = sum;
}
)cl",
       "256Ki",
       "64",
       {"columns=buffer:32Mi", "values=buffer:32Mi", "per_row=32"}},
      {"volume",
       R"cl(__kernel void volume(__global const float* from, __global float* to, const float rate,
                     const int rounds) {
  const int w = get_global_size(0), h = get_global_size(1), d = get_num_groups(2) * get_local_size(2);
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  const int at = (z * h + y) * w + x;
  const float low = z > 0 ? from[at - w * h] : 0, high = z + 1 < d ? from[at + w * h] : 0;
  const float left = x > 0 ? from[at - 1] : 0, right = x + 1 < w ? from[at + 1] : 0;
  const float up = y > 0 ? from[at - w] : 0, down = y + 1 < h ? from[at + w] : 0;
  float v = from[at];
  for (int k = 0; k < rounds; ++k) v += rate * (low + high + left + right + up + down - 6 * v);
  to[at] = v;
}
)cl",
       "64,64,64",
       "16,4,1",
       {"rate=0.1", "rounds=128"}}};
  return kernels;
}

const std::vector<OwnKernel>& indivisible_kernels() {
  static const std::vector<OwnKernel> kernels = {
      {"count",
       R"cl(__kernel void count(__global const uint* keys, __global uint* bins) {
  atomic_inc(&bins[keys[get_global_id(0)] & 63]);
}
)cl",
       "1024",
       "64",
       {}},
      {"smooth_in_place",
       R"cl(__kernel void smooth_in_place(__global float* a, const int n) {
  const int i = get_global_id(0);
  if (i > 0 && i < n - 1) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
}
)cl",
       "1024",
       "64",
       {}},
      {"last_one",
       R"cl(__kernel void last_one(__global const float* a, __global float* out, const float least) {
  if (a[get_global_id(0)] > least) out[0] = a[get_global_id(0)];
}
)cl",
       "1024",
       "64",
       {}},
      {"same_for_all_groups",
       R"cl(__kernel void same_for_all_groups(__global const float* a, __global float* out) {
  out[get_local_id(0)] = a[get_global_id(0)];
}
)cl",
       "1024",
       "64",
       {}},
      {"wait_for_all",
       R"cl(__kernel void wait_for_all(__global volatile int* arrived, __global float* out) {
  arrived[get_group_id(0)] = 1;
  if (get_local_id(0) == 0)
    for (size_t g = 0; g < get_num_groups(0); ++g)
      while (arrived[g] == 0) {}
  out[get_global_id(0)] = 1;
}
)cl",
       "1024",
       "64",
       {}},
      {"paint",
       R"cl(__kernel void paint(__write_only image2d_t image) {
  write_imagef(image, (int2)(get_global_id(0), get_global_id(1)), (float4)(1.0f));
}
)cl",
       "32,32",
       "8,8",
       {}}};
  return kernels;
}

}  // namespace omen::loadbalance
