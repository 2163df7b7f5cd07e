// SPDX-License-Identifier: Apache-2.0
// Writes the host program piece by piece; what does not depend on the kernel is fixed text, of
// which a program holds only what it uses.
#include "opencl/emit_c.hpp"

#include <algorithm>
#include <cstdio>

namespace omen::loadbalance {
namespace {

constexpr const char* kSides = R"c(
static void check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "OpenCL cannot %s: error %d\n", what, (int)status);
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
} side;

static void open_side(side* s) {
  const cl_uint lines = sizeof kernel_source / sizeof kernel_source[0];
  cl_int status;
  s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &status);
  check(status, "make a context");
  s->queue = clCreateCommandQueue(s->context, s->device, 0, &status);
  check(status, "make a queue");
  s->program = clCreateProgramWithSource(s->context, lines, kernel_source, NULL, &status);
  check(status, "take the source");
  check(clBuildProgram(s->program, 1, &s->device, BUILD_OPTIONS, NULL, NULL), "build the kernel");
  s->kernel = clCreateKernel(s->program, KERNEL, &status);
  check(status, "find the kernel");
}

static void start(side* s, const size_t* offset, const size_t* size) {
  check(clEnqueueNDRangeKernel(s->queue, s->kernel, DIMENSIONS, offset, size, local_size, 0, NULL,
                               NULL),
        "start the kernel");
  check(clFlush(s->queue), "start the kernel");
}

/* The first device in a thread of its own: some drivers compute in the thread that waits. */
static void* finish(void* s) {
  check(clFinish(((side*)s)->queue), "finish the kernel");
  return NULL;
}
)c";

constexpr const char* kFindDevice = R"c(
static cl_device_id find_device(cl_uint platform, cl_uint device) {
  cl_platform_id platforms[16];
  cl_device_id devices[64];
  cl_uint found = 0;
  check(clGetPlatformIDs(16, platforms, &found), "list platforms");
  if (platform >= found) check(CL_DEVICE_NOT_FOUND, "find the platform");
  check(clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 64, devices, &found), "list devices");
  if (device >= found) check(CL_DEVICE_NOT_FOUND, "find the device");
  return devices[device];
}
)c";

constexpr const char* kDivide = R"c(
/* Sub-devices of so many compute units; those of one device are made in one call, so that they do
 * not overlap. */
static void divide(cl_device_id whole, cl_uint units, cl_uint more, cl_device_id* made) {
  cl_device_partition_property counts[5] = {CL_DEVICE_PARTITION_BY_COUNTS, 0, 0, 0, 0};
  counts[1] = (cl_device_partition_property)units;
  counts[2] = (cl_device_partition_property)more;
  check(clCreateSubDevices(whole, counts, more ? 2 : 1, made, NULL), "divide the device");
}
)c";

constexpr const char* kChooseDevices = R"c(
/* A processor and a GPU, else the first two devices, else the halves of the only one. */
static void choose_devices(side* first, side* second) {
  cl_platform_id platforms[16];
  cl_device_id all[64], cpu = NULL, gpu = NULL;
  cl_uint platform, found = 0, known = 0, count = 0, i, units = 0;
  check(clGetPlatformIDs(16, platforms, &found), "list platforms");
  for (platform = 0; platform < found && platform < 16 && known < 64; ++platform)
    if (clGetDeviceIDs(platforms[platform], CL_DEVICE_TYPE_ALL, 64 - known, all + known, &count) ==
        CL_SUCCESS)
      known = count < 64 - known ? known + count : 64;
  for (i = 0; i < known; ++i) {
    cl_device_type type = 0;
    check(clGetDeviceInfo(all[i], CL_DEVICE_TYPE, sizeof type, &type, NULL), "ask a device");
    if (!cpu && (type & CL_DEVICE_TYPE_CPU)) cpu = all[i];
    if (!gpu && (type & CL_DEVICE_TYPE_GPU)) gpu = all[i];
  }
  if (known == 0) check(CL_DEVICE_NOT_FOUND, "find a device");
  first->device = cpu && gpu ? cpu : all[0];
  second->device = cpu && gpu ? gpu : all[known > 1 ? 1 : 0];
  if (known > 1) return;
  check(clGetDeviceInfo(all[0], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL),
        "ask a device");
  divide(all[0], units - units / 2, units / 2, all);
  first->device = all[0];
  second->device = all[1];
}
)c";

constexpr const char* kSetBuffer = R"c(
static void set_buffer(side* s, cl_uint i, void* data, size_t bytes) {
  cl_int status;
  s->buffers[i] =
      clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, data, &status);
  check(status, "make a buffer");
  check(clSetKernelArg(s->kernel, i, sizeof s->buffers[i], &s->buffers[i]), "pass a buffer");
}
)c";

constexpr const char* kMerge = R"c(
/* Takes every scalar from the device that changed it. Where both did, to different values or
 * where only one may, the kernel cannot be divided, and no result is right. */
static void merge(side* first, side* second, cl_uint i, const char* name, unsigned char* data,
                  size_t bytes, size_t width, int exclusive) {
  unsigned char* a = malloc(bytes);
  unsigned char* b = malloc(bytes);
  size_t at;
  if (!a || !b) check(CL_OUT_OF_HOST_MEMORY, "merge");
  check(clEnqueueReadBuffer(first->queue, first->buffers[i], CL_TRUE, 0, bytes, a, 0, NULL, NULL), "read");
  check(clEnqueueReadBuffer(second->queue, second->buffers[i], CL_TRUE, 0, bytes, b, 0, NULL, NULL), "read");
  for (at = 0; at + width <= bytes; at += width) {
    const int by_first = memcmp(a + at, data + at, width) != 0;
    const int by_second = memcmp(b + at, data + at, width) != 0;
    if (by_first && by_second && (exclusive || memcmp(a + at, b + at, width) != 0)) {
      fprintf(stderr, "both devices wrote element %lu of %s: %s cannot be divided\n",
              (unsigned long)(at / width), name, KERNEL);
      exit(1);
    }
    memcpy(data + at, by_second ? b + at : a + at, width);
  }
  free(a);
  free(b);
}

/* FNV-1a, to compare results of different splits. */
static void print_checksum(const char* name, const unsigned char* data, size_t bytes) {
  unsigned long long sum = 14695981039346656037ull;
  size_t at;
  for (at = 0; at < bytes; ++at) sum = (sum ^ data[at]) * 1099511628211ull;
  printf("%s %016llx\n", name, sum);
}
)c";

// A literal of C. A question mark may begin a trigraph, which C99 has.
std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    char octal[8];
    if (c == '\n') {
      out += "\\n";
    } else if (c == '"' || c == '\\' || c == '?') {
      (out += '\\') += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(byte));
      out += octal;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// C99 promises literals of 4095 characters, so a source becomes a list of lines.
std::string source_lines(const std::string& text) {
  constexpr std::size_t kLongest = 800;  // escapes make at most four of one
  std::string out = "static const char* kernel_source[] = {";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::size_t length = std::min(end - at, kLongest);
    out += (at ? ",\n    " : "\n    ") + literal(std::string_view(text).substr(at, length));
    at += length;
  }
  return out + "};\n";
}

// Texts of others must not end a comment.
std::string in_comment(std::string text) {
  for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text.insert(++at, " ");
  return text;
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

// Passes something to the kernels of both sides.
std::string set_argument(std::size_t i, const std::string& what, const std::string& text) {
  std::string code;
  for (const char* side : {"first", "second"})
    code += std::string("  check(clSetKernelArg(") + side + ".kernel, " + std::to_string(i) + ", " +
            what + "), \"" + text + "\");\n";
  return code;
}

// Statements that make one argument and pass it to both kernels.
std::string argument_code(const KernelLaunch& launch, std::size_t i) {
  const Argument& argument = launch.arguments[i];
  const Parameter& parameter = launch.parameters()[i];
  const std::string n = std::to_string(i);
  const std::string code =
      "  /* " + in_comment(parameter.type + " " + parameter.name + ": " + argument.meaning) +
      " */\n";
  if (argument.kind == ParameterKind::kBuffer) {
    const std::string bytes = std::to_string(argument.bytes.size());
    return code + "  unsigned char* data" + n + " = calloc(" + bytes +
           ", 1); /* fill it with your data */\n" + "  set_buffer(&first, " + n + ", data" + n +
           ", " + bytes + ");\n  set_buffer(&second, " + n + ", data" + n + ", " + bytes + ");\n";
  }
  if (argument.kind == ParameterKind::kLocal)
    return code +
           set_argument(i, std::to_string(argument.local_bytes) + ", NULL", "pass local memory");
  const std::string size = std::to_string(argument.bytes.size());
  return code + "  const unsigned char value" + n + "[" + size +
         "] = " + bytes_text(argument.bytes) + ";\n" +
         set_argument(i, size + ", value" + n, "pass a value");
}

std::string range_argument_code(const KernelLaunch& launch) {
  if (!launch.kernel.takes_range) return {};
  std::string code =
      "  /* the size of the whole range, for get_global_size and its kin */\n"
      "  const cl_ulong whole[4] = {";
  for (const std::size_t size : launch.range.global) code += std::to_string(size) + ", ";
  return code + "1};\n" +
         set_argument(launch.arguments.size(), "sizeof whole, whole", "pass the range");
}

bool is_merged(const KernelLaunch& launch, std::size_t i) {
  return launch.arguments[i].kind == ParameterKind::kBuffer && launch.kernel.verdict.written[i];
}

std::string merge_code(const KernelLaunch& launch) {
  std::string code;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (!is_merged(launch, i)) continue;
    const std::string n = std::to_string(i), name = literal(launch.parameters()[i].name),
                      bytes = std::to_string(launch.arguments[i].bytes.size());
    code += "  merge(&first, &second, " + n + ", " + name + ", data" + n + ", " + bytes + ", " +
            std::to_string(launch.parameters()[i].scalar_bytes) + ", " +
            (launch.kernel.verdict.exclusive[i] ? "1" : "0") + ");\n  print_checksum(" + name +
            ", data" + n + ", " + bytes + ");\n";
  }
  return code;
}

bool has_units(const EmittedDevices& devices) {
  return !devices || (*devices)[0].units_of || (*devices)[1].units_of;
}

std::string place_text(const OpenClDevice& device) {
  return "find_device(" + std::to_string(device.platform) + ", " + std::to_string(device.device) +
         ")";
}

std::string device_code(const EmittedDevices& devices) {
  if (!devices) return "  choose_devices(&first, &second);\n";
  const OpenClDevice &a = (*devices)[0], &b = (*devices)[1];
  const bool same = a.platform == b.platform && a.device == b.device;
  if (same && a.units_of && b.units_of)
    return "  divide(" + place_text(a) + ", " + std::to_string(a.units_of) + ", " +
           std::to_string(b.units_of) + ", parts); /* " + in_comment(a.name) +
           " */\n  first.device = parts[0];\n  second.device = parts[1];\n";
  std::string code;
  for (std::size_t i = 0; i < 2; ++i) {
    const OpenClDevice& device = (*devices)[i];
    const std::string side = i == 0 ? "first" : "second",
                      comment = " /* " + in_comment(device.name) + " */\n";
    if (device.units_of)
      code += "  divide(" + place_text(device) + ", " + std::to_string(device.units_of) +
              ", 0, parts);" + comment + "  " + side + ".device = parts[0];\n";
    else
      code += "  " + side + ".device = " + place_text(device) + ";" + comment;
  }
  return code;
}

std::string head_code(const KernelLaunch& launch, const SplitPlan& plan, const std::string& path) {
  char share[64];
  std::snprintf(share, sizeof share, "%.1f %%", plan.share());
  const unsigned dimensions = launch.range.dimensions;
  const auto define = [](const char* name, const std::string& value) {
    return std::string("#define ") + name + " " + value + "\n";
  };
  const auto array = [dimensions](const char* name, const std::array<std::size_t, 3>& values) {
    return std::string("static const size_t ") + name + "[] = " + sizes(values, dimensions) + ";\n";
  };
  std::string code =
      "/* Runs " + launch.kernel.signature.kernel + " of " +
      in_comment(path.substr(path.find_last_of('/') + 1)) + " on two devices: " + share +
      " of the work-groups on the first.\n"
      " * Build: cc -std=c99 FILE.c -lOpenCL -lpthread */\n"
      "#define CL_TARGET_OPENCL_VERSION 120\n#include <CL/cl.h>\n"
      "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n";
  code += define("KERNEL", literal(launch.kernel.signature.kernel)) +
          define("BUILD_OPTIONS", literal(launch.kernel.build_options)) +
          define("DIMENSIONS", std::to_string(dimensions)) +
          define("ARGUMENTS", std::to_string(std::max<std::size_t>(launch.arguments.size(), 1))) +
          "\n" + source_lines(launch.kernel.split_text) + "\n" +
          array("local_size", launch.range.local);
  if (!plan.first.empty())
    code += array("first_offset", plan.first.offset) + array("first_size", plan.first.size);
  if (!plan.second.empty())
    code += array("second_offset", plan.second.offset) + array("second_size", plan.second.size);
  return code;
}

// What main calls, and nothing else: unused functions are warnings.
std::string helper_code(const KernelLaunch& launch, const EmittedDevices& devices) {
  std::string code = kSides;
  if (devices) code += kFindDevice;
  if (has_units(devices)) code += kDivide;
  if (!devices) code += kChooseDevices;
  bool buffers = false, merges = false;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    buffers |= launch.arguments[i].kind == ParameterKind::kBuffer;
    merges |= is_merged(launch, i);
  }
  if (buffers) code += kSetBuffer;
  if (merges) code += kMerge;
  return code;
}

}  // namespace

std::string emit_host_code(const KernelLaunch& launch, const EmittedDevices& devices, double share,
                           const std::string& path) {
  const SplitPlan plan = launch.plan(share);
  std::string code = head_code(launch, plan, path) + helper_code(launch, devices);
  code += "\nint main(void) {\n  side first, second;\n  pthread_t thread;\n";
  if (devices && has_units(devices)) code += "  cl_device_id parts[2];\n";
  code += device_code(devices) + "  open_side(&first);\n  open_side(&second);\n";
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) code += argument_code(launch, i);
  code += range_argument_code(launch);
  if (!plan.first.empty()) code += "  start(&first, first_offset, first_size);\n";
  code += "  if (pthread_create(&thread, NULL, finish, &first) != 0) return 1;\n";
  if (!plan.second.empty()) code += "  start(&second, second_offset, second_size);\n";
  code += "  finish(&second);\n  pthread_join(thread, NULL);\n" + merge_code(launch);
  return code + "  return 0; /* data0, data1, ... hold the results */\n}\n";
}

}  // namespace omen::loadbalance
