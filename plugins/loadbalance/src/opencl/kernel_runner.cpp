// SPDX-License-Identifier: Apache-2.0
// Builds a kernel for two devices and runs parts of its range on both at once.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <latch>
#include <mutex>
#include <thread>

#include "omen/opencl.hpp"
#include "opencl/guarded_memory.hpp"
#include "opencl/runtime.hpp"

namespace omen::loadbalance {
namespace {

using Clock = std::chrono::steady_clock;

double ms_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

// What threads that may outlive the wait for them need.
struct Crew {
  std::mutex mutex;
  std::condition_variable done;
  std::size_t left = 0;
  std::exception_ptr problem;
};

// Runs the tasks side by side. Returns false where they did not end in time; their threads are then
// left to themselves.
bool run_tasks(std::vector<std::function<void()>> tasks, double timeout_s,
               const std::function<bool()>& cancelled) {
  constexpr auto kGlance = std::chrono::milliseconds(50);
  const auto crew = std::make_shared<Crew>();
  crew->left = tasks.size();
  for (std::function<void()>& task : tasks)
    std::thread([crew, task = std::move(task)] {
      std::exception_ptr problem;
      try {
        task();
      } catch (...) {
        problem = std::current_exception();
      }
      const std::lock_guard lock(crew->mutex);
      if (problem) crew->problem = problem;
      --crew->left;
      crew->done.notify_all();
    }).detach();
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  std::unique_lock lock(crew->mutex);
  while (crew->left > 0) {
    if (crew->done.wait_for(lock, kGlance) == std::cv_status::no_timeout) continue;
    if (Clock::now() > deadline || (cancelled && cancelled())) return false;
  }
  if (crew->problem) std::rethrow_exception(crew->problem);
  return true;
}

}  // namespace

class KernelRunner::Impl {
 public:
  Impl(const std::array<OpenClDevice, 2>& devices, KernelSetup setup)
      : cl_(ClLibrary::get()), setup_(std::move(setup)) {
    shares_memory_ = devices[0].is_cpu && devices[1].is_cpu && devices[0].unified_memory &&
                     devices[1].unified_memory;
    open(devices);
  }

  void prepare() {
    guard("build it", {[this] {
            for (Side& side : sides_) build(side);
          }});
    if (!setup_.overrun_file.empty()) watch_overruns(setup_.overrun_file);
    for (Side& side : sides_) make_memory(side);
    if (shares_memory_) make_shared_memory();
  }

  double run_whole(int device) {
    Side& side = sides_[static_cast<std::size_t>(device)];
    const Part part = whole(setup_.range);
    bind(side, side.whole, side.own, false);
    last_ = device == 0 ? Last::kFirst : Last::kSecond;
    Launch launch{&side, side.whole, part, {}, {}};
    run({&launch});
    return ms_between(launch.begin, launch.end);
  }

  SplitTime run_split(const SplitPlan& plan, bool separate) {
    const bool shared = !separate && shares_memory_;
    const Part parts[2] = {plan.first, plan.second};
    Launch launches[2];
    std::vector<Launch*> wanted;
    for (std::size_t i = 0; i < 2; ++i) {
      Side& side = sides_[i];
      cl_kernel kernel = side.split ? side.split : side.whole;
      if (parts[i].empty()) continue;
      bind(side, kernel, shared && i == 1 ? side.shared : side.own, setup_.takes_range);
      launches[i] = {&side, kernel, parts[i], {}, {}};
      wanted.push_back(&launches[i]);
    }
    if (shared) reset(sides_[0]);  // device 1 alone also works on this copy
    last_ = shared ? Last::kShared : Last::kSeparate;
    idle_ = {parts[0].empty(), parts[1].empty()};
    run(wanted);
    return times(launches, parts);
  }

  std::vector<Bytes> results() {
    const bool both = last_ == Last::kSeparate;
    const std::size_t main = last_ == Last::kSecond || (both && idle_[0]) ? 1 : 0;
    check_memory();
    const auto begin = Clock::now();
    std::vector<Bytes> found;
    for (std::size_t i = 0; i < setup_.arguments.size(); ++i) {
      if (!is_written(i)) continue;
      Bytes bytes = read(sides_[main], i);
      if (both && !idle_[0] && !idle_[1]) bytes = merged(i, bytes, read(sides_[1], i));
      found.push_back(std::move(bytes));
    }
    merge_ms_ = ms_between(begin, Clock::now());
    return found;
  }

  double merge_ms() const { return merge_ms_; }
  bool shares_memory() const { return shares_memory_; }
  bool abandoned() const { return abandoned_; }

 private:
  enum class Last { kFirst, kSecond, kSeparate, kShared };

  // Drivers' threads still let go of events when clFinish has returned (PoCL 3.1), so what an event
  // reaches is never released: a few small objects for each run, until the worker ends. Buffers
  // are.
  struct Side {
    OpenClDevice facts;
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    cl_program whole_program = nullptr, split_program = nullptr;
    cl_kernel whole = nullptr, split = nullptr;
    std::vector<std::unique_ptr<GuardedMemory>> memory;  // by argument
    std::vector<ClHeld<cl_mem>> own, shared;             // by argument
  };

  struct Launch {
    Side* side = nullptr;
    cl_kernel kernel = nullptr;
    Part part;
    Clock::time_point begin, end;
  };

  bool is_buffer(std::size_t i) const { return setup_.arguments[i].kind == ParameterKind::kBuffer; }
  bool is_written(std::size_t i) const { return is_buffer(i) && setup_.written[i]; }

  void guard(const std::string& what, std::vector<std::function<void()>> tasks) {
    if (run_tasks(std::move(tasks), setup_.timeout_s, setup_.cancelled)) return;
    abandoned_ = true;
    if (setup_.cancelled && setup_.cancelled())
      throw Error(OMEN_CANCELLED, "the run of " + setup_.kernel + " was cancelled");
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", setup_.timeout_s);
    throw Error(
        OMEN_TIMEOUT,
        "kernel " + setup_.kernel + ": OpenCL did not " + what + " within " + seconds + " s",
        "it may wait for something that never comes; a slow kernel needs a smaller range or "
        "a larger --kernel-timeout");
  }

  void open(const std::array<OpenClDevice, 2>& devices) {
    sides_.reserve(devices.size());
    for (const OpenClDevice& device : devices) {
      sides_.emplace_back();
      sides_.back().facts = device;
    }
    find_devices();
    for (Side& side : sides_) {
      cl_int status = 0;
      side.context = cl_.clCreateContext(nullptr, 1, &side.device, nullptr, nullptr, &status);
      cl_check(status, "make a context on " + side.facts.name);
      side.queue = cl_.clCreateCommandQueue(side.context, side.device, 0, &status);
      cl_check(status, "make a queue on " + side.facts.name);
    }
  }

  cl_device_id find_device(const OpenClDevice& wanted) const {
    cl_uint count = 0;
    cl_check(cl_.clGetPlatformIDs(0, nullptr, &count), "list platforms");
    std::vector<cl_platform_id> platforms(count);
    cl_check(cl_.clGetPlatformIDs(count, platforms.data(), nullptr), "list platforms");
    cl_platform_id platform = platforms.at(static_cast<std::size_t>(wanted.platform));
    cl_check(cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count), "list devices");
    std::vector<cl_device_id> ids(count);
    cl_check(cl_.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr),
             "list devices");
    return ids.at(static_cast<std::size_t>(wanted.device));
  }

  // Sub-devices of one device are made in one call, so that they do not overlap.
  void find_devices() {
    const OpenClDevice &a = sides_[0].facts, &b = sides_[1].facts;
    const bool same = a.platform == b.platform && a.device == b.device;
    for (std::size_t i = 0; i < 2; ++i) {
      Side& side = sides_[i];
      side.device = find_device(side.facts);
      if (!side.facts.units_of || (same && i == 1 && sides_[0].facts.units_of)) continue;
      const bool pair = same && i == 0 && b.units_of;
      const cl_device_partition_property counts[] = {
          CL_DEVICE_PARTITION_BY_COUNTS,
          static_cast<cl_device_partition_property>(side.facts.units_of),
          static_cast<cl_device_partition_property>(pair ? b.units_of : 0), 0, 0};
      cl_device_id made[2] = {};
      cl_check(cl_.clCreateSubDevices(side.device, counts, pair ? 2 : 1, made, nullptr),
               "divide " + side.facts.name);
      side.device = made[0];
      if (!pair) continue;
      sides_[1].device = made[1];
      return;
    }
  }

  cl_program build_program(const Side& side, const std::string& source) {
    const char* text = source.c_str();
    cl_int status = 0;
    cl_program program = cl_.clCreateProgramWithSource(side.context, 1, &text, nullptr, &status);
    cl_check(status, "take the source");
    status = cl_.clBuildProgram(program, 1, &side.device, setup_.build_options.c_str(), nullptr,
                                nullptr);
    if (status == CL_SUCCESS) return program;
    std::size_t size = 0;
    cl_.clGetProgramBuildInfo(program, side.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    cl_.clGetProgramBuildInfo(program, side.device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                              nullptr);
    cl_.clReleaseProgram(program);
    // The log ends with a NUL of its own.
    log.resize(std::min({log.size(), log.find('\0'), std::size_t{2000}}));
    throw Error(OMEN_INVALID_DATA,
                side.facts.name + " cannot build the kernel: " + cl_error_name(status) + "\n" + log,
                "pass what its compiler needs with -D, or choose other devices with --on");
  }

  void build(Side& side) {
    side.whole_program = build_program(side, setup_.source);
    side.whole = find_kernel(side.whole_program);
    if (setup_.split_source == setup_.source) return;
    side.split_program = build_program(side, setup_.split_source);
    side.split = find_kernel(side.split_program);
  }

  cl_kernel find_kernel(cl_program program) const {
    cl_int status = 0;
    cl_kernel kernel = cl_.clCreateKernel(program, setup_.kernel.c_str(), &status);
    cl_check(status, "find the kernel " + setup_.kernel);
    return kernel;
  }

  ClHeld<cl_mem> make_buffer(const Side& side, std::size_t bytes, void* place) const {
    cl_int status = 0;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (place ? CL_MEM_USE_HOST_PTR : 0);
    ClHeld<cl_mem> made(cl_.clCreateBuffer(side.context, flags, bytes, place, &status),
                        cl_.clReleaseMemObject);
    cl_check(status, "take " + std::to_string(bytes) + " bytes on " + side.facts.name);
    return made;
  }

  void make_memory(Side& side) {
    for (std::size_t i = 0; i < setup_.arguments.size(); ++i) {
      side.own.emplace_back(nullptr, cl_.clReleaseMemObject);
      side.memory.emplace_back();
      if (!is_buffer(i)) continue;
      const Bytes& bytes = setup_.arguments[i].bytes;
      if (side.facts.unified_memory && side.facts.is_cpu)
        side.memory.back() = std::make_unique<GuardedMemory>(bytes.size(), argument_name(i));
      side.own.back() = make_buffer(side, bytes.size(),
                                    side.memory.back() ? side.memory.back()->data() : nullptr);
      write(side, side.own.back().get(), bytes);
    }
  }

  // The second device sees the first one's copy through buffers of its own.
  void make_shared_memory() {
    for (std::size_t i = 0; i < setup_.arguments.size(); ++i) {
      sides_[1].shared.emplace_back(nullptr, cl_.clReleaseMemObject);
      if (is_buffer(i))
        sides_[1].shared.back() =
            make_buffer(sides_[1], setup_.arguments[i].bytes.size(), sides_[0].memory[i]->data());
    }
  }

  void write(const Side& side, cl_mem to, const Bytes& bytes) const {
    cl_check(cl_.clEnqueueWriteBuffer(side.queue, to, CL_TRUE, 0, bytes.size(), bytes.data(), 0,
                                      nullptr, nullptr),
             "copy to " + side.facts.name);
  }

  Bytes read(const Side& side, std::size_t i) const {
    Bytes bytes(setup_.arguments[i].bytes.size());
    cl_check(cl_.clEnqueueReadBuffer(side.queue, side.own[i].get(), CL_TRUE, 0, bytes.size(),
                                     bytes.data(), 0, nullptr, nullptr),
             "copy from " + side.facts.name);
    return bytes;
  }

  // Gives the buffers that a kernel may have changed their first contents back.
  void reset(const Side& side) const {
    for (std::size_t i = 0; i < setup_.arguments.size(); ++i)
      if (is_written(i)) write(side, side.own[i].get(), setup_.arguments[i].bytes);
  }

  void bind(Side& side, cl_kernel kernel, const std::vector<ClHeld<cl_mem>>& memory,
            bool with_range) {
    if (&memory == &side.own) reset(side);
    const auto set = [&](std::size_t place, std::size_t bytes, const void* value) {
      cl_check(cl_.clSetKernelArg(kernel, static_cast<cl_uint>(place), bytes, value),
               "pass argument " + std::to_string(place) + " to " + setup_.kernel);
    };
    for (std::size_t i = 0; i < setup_.arguments.size(); ++i) {
      const Argument& argument = setup_.arguments[i];
      cl_mem buffer = is_buffer(i) ? memory[i].get() : nullptr;
      if (buffer)
        set(i, sizeof(cl_mem), &buffer);
      else if (argument.kind == ParameterKind::kLocal)
        set(i, argument.local_bytes, nullptr);
      else
        set(i, argument.bytes.size(), argument.bytes.data());
    }
    if (!with_range) return;
    const cl_ulong sizes[4] = {setup_.range.global[0], setup_.range.global[1],
                               setup_.range.global[2], 1};
    set(setup_.arguments.size(), sizeof sizes, sizes);
  }

  // With memory of its own a device pays for the way there and back.
  void launch(Launch& launch) const {
    const Side& side = *launch.side;
    const bool copies = !side.facts.unified_memory;
    launch.begin = Clock::now();
    if (copies) {
      for (std::size_t i = 0; i < setup_.arguments.size(); ++i)
        if (is_buffer(i)) write(side, side.own[i].get(), setup_.arguments[i].bytes);
    }
    cl_check(cl_.clEnqueueNDRangeKernel(side.queue, launch.kernel, setup_.range.dimensions,
                                        launch.part.offset.data(), launch.part.size.data(),
                                        setup_.range.local.data(), 0, nullptr, nullptr),
             "start " + setup_.kernel + " on " + side.facts.name);
    cl_check(cl_.clFlush(side.queue), "start " + setup_.kernel);
    cl_check(cl_.clFinish(side.queue), "finish " + setup_.kernel);
    if (copies) {
      for (std::size_t i = 0; i < setup_.arguments.size(); ++i)
        if (is_written(i)) read(side, i);
    }
    launch.end = Clock::now();
  }

  void run(const std::vector<Launch*>& launches) {
    const auto start = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(launches.size()));
    std::vector<std::function<void()>> tasks;
    std::vector<std::shared_ptr<Launch>> copies;
    for (const Launch* one : launches) {
      // On the heap: a thread that is given up must not write into a dead frame.
      const auto kept = std::make_shared<Launch>(*one);
      copies.push_back(kept);
      tasks.push_back([this, kept, start] {
        start->arrive_and_wait();
        launch(*kept);
      });
    }
    guard("finish it", std::move(tasks));
    for (std::size_t i = 0; i < launches.size(); ++i) *launches[i] = *copies[i];
  }

  static SplitTime times(const Launch (&launches)[2], const Part (&parts)[2]) {
    SplitTime time;
    if (!parts[0].empty()) time.first_ms = ms_between(launches[0].begin, launches[0].end);
    if (!parts[1].empty()) time.second_ms = ms_between(launches[1].begin, launches[1].end);
    if (parts[0].empty() || parts[1].empty())
      time.total_ms = time.first_ms + time.second_ms;
    else
      time.total_ms = ms_between(std::min(launches[0].begin, launches[1].begin),
                                 std::max(launches[0].end, launches[1].end));
    return time;
  }

  std::string argument_name(std::size_t i) const {
    return "argument " + std::to_string(i) + " ('" + setup_.parameters[i].name + "', " +
           std::to_string(setup_.arguments[i].bytes.size()) + " bytes)";
  }

  void check_memory() const {
    for (const Side& side : sides_)
      for (std::size_t i = 0; i < side.memory.size(); ++i)
        if (side.memory[i] && !side.memory[i]->intact())
          throw Error(OMEN_INVALID_DATA,
                      "kernel " + setup_.kernel + " writes outside of " + argument_name(i),
                      "mend the kernel, or give the buffer its size: --arg " + std::to_string(i) +
                          "=buffer:BYTES");
  }

  Bytes merged(std::size_t i, const Bytes& first, const Bytes& second) const {
    const Overlap overlap = setup_.exclusive.at(i) ? Overlap::kNone : Overlap::kAlike;
    Merged joined = merge_results(setup_.arguments[i].bytes, first, second,
                                  setup_.parameters[i].scalar_bytes, overlap);
    if (joined.conflicts)
      throw Error(
          OMEN_INVALID_DATA,
          "kernel " + setup_.kernel + " cannot be split: both devices wrote element " +
              std::to_string(joined.first_conflict) + " of " + argument_name(i) + " and " +
              std::to_string(joined.conflicts - 1) + " others" +
              (overlap == Overlap::kAlike ? ", differently" : ", which only one may change"),
          "run it on one device");
    return std::move(joined.bytes);
  }

  const ClLibrary& cl_;
  KernelSetup setup_;
  std::vector<Side> sides_;
  bool shares_memory_ = false, abandoned_ = false;
  Last last_ = Last::kFirst;
  std::array<bool, 2> idle_{};
  double merge_ms_ = 0;
};

KernelRunner::KernelRunner(const std::array<OpenClDevice, 2>& devices, KernelSetup setup)
    : impl_(std::make_unique<Impl>(devices, std::move(setup))) {
  try {
    impl_->prepare();
  } catch (...) {
    let_go();
    throw;
  }
}

KernelRunner::~KernelRunner() {
  let_go();
}

// A launch that never ends uses its objects for ever.
void KernelRunner::let_go() {
  if (impl_->abandoned())
    static_cast<void>(impl_.release());
  else
    impl_.reset();
}

double KernelRunner::run_whole(int device) {
  return impl_->run_whole(device);
}
SplitTime KernelRunner::run_split(const SplitPlan& plan, bool separate) {
  return impl_->run_split(plan, separate);
}
std::vector<Bytes> KernelRunner::results() {
  return impl_->results();
}
double KernelRunner::merge_ms() const {
  return impl_->merge_ms();
}
bool KernelRunner::shares_memory() const {
  return impl_->shares_memory();
}

}  // namespace omen::loadbalance
