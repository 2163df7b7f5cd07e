// SPDX-License-Identifier: Apache-2.0
// Writes the host program piece by piece; what does not depend on the kernel is fixed text.
#include "opencl/emit_c.hpp"

#include <cstdio>

namespace omen::loadbalance {
namespace {

constexpr const char* kHelpers = R"c(
static void check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "OpenCL cannot %s: error %d\n", what, status);
  exit(1);
}

/* One device with everything that lives on it. */
typedef struct {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
  cl_mem buffers[ARGUMENTS];
  cl_event done;
} side;

static cl_device_id find_device(unsigned platform, unsigned device) {
  cl_platform_id platforms[16];
  cl_device_id devices[64];
  cl_uint found = 0;
  check(clGetPlatformIDs(16, platforms, &found), "list platforms");
  if (platform >= found) check(CL_DEVICE_NOT_FOUND, "find the platform");
  check(clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 64, devices, &found), "list devices");
  if (device >= found) check(CL_DEVICE_NOT_FOUND, "find the device");
  return devices[device];
}

static void open_side(side* s) {
  cl_int status;
  s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &status);
  check(status, "make a context");
  s->queue = clCreateCommandQueue(s->context, s->device, 0, &status);
  check(status, "make a queue");
  s->program = clCreateProgramWithSource(s->context, 1, &kernel_source, NULL, &status);
  check(status, "take the source");
  check(clBuildProgram(s->program, 1, &s->device, BUILD_OPTIONS, NULL, NULL), "build the kernel");
  s->kernel = clCreateKernel(s->program, KERNEL, &status);
  check(status, "find the kernel");
}

static void set_buffer(side* s, int i, void* data, size_t bytes) {
  cl_int status;
  s->buffers[i] = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, data, &status);
  check(status, "make a buffer");
  check(clSetKernelArg(s->kernel, i, sizeof s->buffers[i], &s->buffers[i]), "pass a buffer");
}

/* Takes every scalar that the second device changed; the others come from the first one. */
static void merge(side* first, side* second, int i, unsigned char* data, size_t bytes, size_t width) {
  unsigned char* a = malloc(bytes);
  unsigned char* b = malloc(bytes);
  size_t at;
  if (!a || !b) check(CL_OUT_OF_HOST_MEMORY, "merge");
  check(clEnqueueReadBuffer(first->queue, first->buffers[i], CL_TRUE, 0, bytes, a, 0, NULL, NULL), "read");
  check(clEnqueueReadBuffer(second->queue, second->buffers[i], CL_TRUE, 0, bytes, b, 0, NULL, NULL), "read");
  for (at = 0; at + width <= bytes; at += width)
    memcpy(data + at, memcmp(b + at, data + at, width) ? b + at : a + at, width);
  free(a);
  free(b);
}

static void start(side* s, const size_t* offset, const size_t* size) {
  check(clEnqueueNDRangeKernel(s->queue, s->kernel, DIMENSIONS, offset, size, local_size, 0, NULL, &s->done),
        "start the kernel");
  check(clFlush(s->queue), "start the kernel");
}

/* FNV-1a, to compare results of different splits. */
static void print_checksum(const char* name, const unsigned char* data, size_t bytes) {
  unsigned long long sum = 14695981039346656037ull;
  size_t at;
  for (at = 0; at < bytes; ++at) sum = (sum ^ data[at]) * 1099511628211ull;
  printf("%s %016llx\n", name, sum);
}

/* The first device in a thread of its own: some drivers compute in the thread that waits. */
static void* finish(void* s) {
  check(clFinish(((side*)s)->queue), "finish the kernel");
  return NULL;
}
)c";

std::string quoted(const std::string& text) {
  std::string out = "    \"";
  for (const char c : text) {
    switch (c) {
      case '\n':
        out += "\\n\"\n    \"";
        break;
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        break;
      default:
        out += c;
    }
  }
  return out + "\"";
}

std::string sizes(const std::array<std::size_t, 3>& values, unsigned count) {
  std::string text = "{";
  for (unsigned d = 0; d < count; ++d) text += (d ? ", " : "") + std::to_string(values[d]);
  return text + "}";
}

std::string bytes_text(const std::vector<unsigned char>& bytes) {
  std::string text = "{";
  for (std::size_t i = 0; i < bytes.size(); ++i) text += (i ? ", " : "") + std::to_string(bytes[i]);
  return text + "}";
}

// Statements that make one argument and pass it to both kernels.
std::string argument_code(const SplitJob& job, std::size_t i) {
  const Argument& argument = job.arguments[i];
  const std::string n = std::to_string(i);
  std::string code = "  /* " + job.signature.parameters[i].type + " " +
                     job.signature.parameters[i].name + ": " + argument.meaning + " */\n";
  if (argument.kind == ParameterKind::kBuffer) {
    const std::string bytes = std::to_string(argument.bytes.size());
    return code + "  unsigned char* data" + n + " = calloc(" + bytes +
           ", 1); /* fill it with your data */\n" + "  set_buffer(&first, " + n + ", data" + n +
           ", " + bytes + ");\n  set_buffer(&second, " + n + ", data" + n + ", " + bytes + ");\n";
  }
  if (argument.kind == ParameterKind::kLocal) {
    const std::string bytes = std::to_string(argument.local_bytes);
    return code + "  check(clSetKernelArg(first.kernel, " + n + ", " + bytes +
           ", NULL), \"pass local memory\");\n  check(clSetKernelArg(second.kernel, " + n + ", " +
           bytes + ", NULL), \"pass local memory\");\n";
  }
  const std::string size = std::to_string(argument.bytes.size());
  return code + "  const unsigned char value" + n + "[" + size +
         "] = " + bytes_text(argument.bytes) + ";\n  check(clSetKernelArg(first.kernel, " + n +
         ", " + size + ", value" + n +
         "), \"pass a value\");\n  check(clSetKernelArg(second.kernel, " + n + ", " + size +
         ", value" + n + "), \"pass a value\");\n";
}

std::string range_argument_code(const SplitJob& job) {
  if (!job.takes_range()) return {};
  const std::string n = std::to_string(job.arguments.size());
  std::string code =
      "  /* the size of the whole range, for get_global_size and its kin */\n"
      "  const cl_ulong whole[4] = {";
  for (const std::size_t size : job.range.global) code += std::to_string(size) + ", ";
  return code + "1};\n  check(clSetKernelArg(first.kernel, " + n +
         ", sizeof whole, whole), \"pass the range\");\n  check(clSetKernelArg(second.kernel, " +
         n + ", sizeof whole, whole), \"pass the range\");\n";
}

std::string merge_code(const SplitJob& job) {
  std::string code;
  for (std::size_t i = 0; i < job.arguments.size(); ++i)
    if (job.arguments[i].kind == ParameterKind::kBuffer && job.verdict.written[i])
      code += "  merge(&first, &second, " + std::to_string(i) + ", data" + std::to_string(i) +
              ", " + std::to_string(job.arguments[i].bytes.size()) + ", " +
              std::to_string(job.signature.parameters[i].scalar_bytes) + ");\n  print_checksum(\"" +
              job.signature.parameters[i].name + "\", data" + std::to_string(i) + ", " +
              std::to_string(job.arguments[i].bytes.size()) + ");\n";
  return code;
}

std::string device_code(const OpenClDevice& device, const char* side) {
  return std::string("  ") + side + ".device = find_device(" + std::to_string(device.platform) +
         ", " + std::to_string(device.device) + "); /* " + device.name + " */\n";
}

}  // namespace

std::string emit_host_code(const SplitJob& job, double share, const std::string& path) {
  const SplitPlan plan = job.plan(share);
  const unsigned dimensions = job.range.dimensions;
  char head[64];
  std::snprintf(head, sizeof head, "%.1f %%", plan.share());
  std::string code = "/* Runs " + job.signature.kernel + " of " +
                     path.substr(path.find_last_of('/') + 1) + " on two devices: " + head +
                     " of the work-groups on the first.\n * Build: cc -std=c99 FILE.c -lOpenCL "
                     "-lpthread */\n"
                     "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n"
                     "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                     "#include <string.h>\n\n";
  code += "#define KERNEL \"" + job.signature.kernel + "\"\n#define BUILD_OPTIONS \"" +
          job.code.build_options + "\"\n#define DIMENSIONS " + std::to_string(dimensions) +
          "\n#define ARGUMENTS " + std::to_string(std::max<std::size_t>(job.arguments.size(), 1)) +
          "\n\nstatic const char* kernel_source =\n" + quoted(job.code.split_text) + ";\n\n";
  code += "static const size_t local_size[] = " + sizes(job.range.local, dimensions) + ";\n";
  code += "static const size_t first_offset[] = " + sizes(plan.first.offset, dimensions) + ";\n";
  code += "static const size_t first_size[] = " + sizes(plan.first.size, dimensions) + ";\n";
  code += "static const size_t second_offset[] = " + sizes(plan.second.offset, dimensions) + ";\n";
  code += "static const size_t second_size[] = " + sizes(plan.second.size, dimensions) + ";\n";
  code += kHelpers;
  code += "\nint main(void) {\n  side first, second;\n  pthread_t thread;\n";
  code += device_code(job.devices[0], "first") + device_code(job.devices[1], "second");
  code += "  open_side(&first);\n  open_side(&second);\n";
  for (std::size_t i = 0; i < job.arguments.size(); ++i) code += argument_code(job, i);
  code += range_argument_code(job);
  if (!plan.first.empty()) code += "  start(&first, first_offset, first_size);\n";
  code += "  if (pthread_create(&thread, NULL, finish, &first) != 0) return 1;\n";
  if (!plan.second.empty()) code += "  start(&second, second_offset, second_size);\n";
  code += "  finish(&second);\n  pthread_join(thread, NULL);\n" + merge_code(job);
  code += "  return 0; /* data0, data1, ... hold the results */\n}\n";
  return code;
}

}  // namespace omen::loadbalance
