// SPDX-License-Identifier: Apache-2.0
// Prepares a job from options, and measures it.
#include "opencl/split_job.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

constexpr double kEnoughMs = 40;  // for one look of the search at a share

std::string read_source(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(OMEN_NOT_FOUND, "there is no file " + path, "name an OpenCL source, such as k.cl");
  return {std::istreambuf_iterator<char>(in), {}};
}

LaunchRange launch_range(const SplitOptions& options, const Signature& signature,
                         const std::array<OpenClDevice, 2>& devices) {
  RangeRequest request;
  request.global = parse_sizes(options.global, "--global");
  request.local = parse_sizes(options.local, "--local");
  std::size_t buffers = 0;
  for (const Parameter& parameter : signature.parameters)
    buffers += parameter.kind == ParameterKind::kBuffer;
  request.input_bytes =
      static_cast<std::size_t>(options.input_size) / std::max<std::size_t>(buffers, 1);
  request.group_items = static_cast<std::size_t>(options.wgsize);
  request.required = signature.required_group;
  request.largest_group = std::min(devices[0].largest_group, devices[1].largest_group);
  return make_range(request);
}

KernelSetup setup_of(const SplitJob& job, const SplitOptions& options, const Run& run) {
  KernelSetup setup;
  setup.source = job.code.text;
  setup.split_source = job.code.split_text;
  setup.takes_range = job.takes_range();
  setup.build_options = job.code.build_options;
  setup.kernel = job.signature.kernel;
  setup.range = job.range;
  setup.arguments = job.arguments;
  setup.parameters = job.signature.parameters;
  setup.written = job.verdict.written;
  setup.timeout_s = options.kernel_timeout;
  setup.cancelled = [&run] { return run.cancelled(); };
  return setup;
}

}  // namespace

std::size_t SplitJob::buffer_bytes() const {
  std::size_t bytes = 0;
  for (const Argument& argument : arguments)
    if (argument.kind == ParameterKind::kBuffer) bytes += argument.bytes.size();
  return bytes;
}

SplitJob prepare_job(const std::string& path, const SplitOptions& options, std::uint64_t seed) {
  SplitJob job;
  const std::string source = read_source(path);
  job.code = read_kernels(source, path, options.compile());
  job.signature = job.code.kernel(options.kernel);
  job.verdict = judge_split(source, path, options.compile(), job.signature.kernel);
  if (!job.verdict.splittable() && !options.force)
    throw Error(OMEN_UNSUPPORTED,
                "kernel " + job.signature.kernel + " cannot be divided: " + job.verdict.reason(),
                "run it on one device; --force divides it nevertheless and compares the results");
  job.devices = choose_devices(options.on, list_opencl_devices());
  job.range = launch_range(options, job.signature, job.devices);
  job.dimension = split_dimension(job.range, job.verdict.splittable() ? job.verdict.dimensions : 7);
  ArgumentRequest request;
  request.range = job.range;
  request.given = options.arg;
  request.input_bytes = static_cast<std::size_t>(options.input_size);
  request.seed = seed;
  job.arguments = make_arguments(job.signature, request);
  return job;
}

SplitMeter::SplitMeter(const SplitJob& job, const SplitOptions& options, const Run& run)
    : job_(job), options_(options), run_(run), runner_(job.devices, setup_of(job, options, run)) {}

Agreement SplitMeter::check(double share) {
  whole_ms_[1] = runner_.run_whole(1);
  runner_.results();
  whole_ms_[0] = runner_.run_whole(0);
  const std::vector<Bytes> expected = runner_.results();
  runner_.run_split(job_.plan(share), true);
  const std::vector<Bytes> actual = runner_.results();
  merge_ms_ = runner_.merge_ms();
  Agreement agreement;
  std::size_t place = 0;
  for (std::size_t i = 0; i < job_.signature.parameters.size(); ++i) {
    if (job_.arguments[i].kind != ParameterKind::kBuffer || !job_.verdict.written[i]) continue;
    const Parameter& parameter = job_.signature.parameters[i];
    const Difference difference =
        compare_results(expected[place], actual[place], parameter.scalar, parameter.scalar_bytes);
    ++place;
    if (difference.unequal == 0) continue;
    agreement.in_every_bit = false;
    agreement.equal &=
        difference.equal_within(job_.same_device() ? 0 : options_.tolerance, parameter.scalar);
    const double error = difference.scale > 0 ? difference.largest_absolute / difference.scale
                                              : difference.largest_absolute;
    if (agreement.parameter >= 0 && error <= agreement.largest_error) continue;
    agreement.largest_error = error;
    agreement.largest_absolute = difference.largest_absolute;
    agreement.parameter = static_cast<int>(i);
  }
  return agreement;
}

SplitTime SplitMeter::once(double share) {
  const SplitTime time = runner_.run_split(job_.plan(share), false);
  run_.step(-1, "run");
  return time;
}

std::vector<SplitSample> SplitMeter::sweep(const std::vector<double>& shares) {
  std::vector<std::vector<SplitTime>> runs(shares.size());
  // In a fixed order each share would always meet the caches and cores that the one before it left.
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::minstd_rand random;
  const std::size_t count = shares.size() * static_cast<std::size_t>(options_.repeats);
  for (std::size_t done = 0; done < count; ++done) {
    if (done % shares.size() == 0) std::shuffle(order.begin(), order.end(), random);
    const std::size_t i = order[done % shares.size()];
    runs[i].push_back(once(shares[i]));
    run_.step(static_cast<double>(done + 1) / static_cast<double>(count), "sweep");
  }
  std::vector<SplitSample> samples;
  for (std::size_t i = 0; i < shares.size(); ++i)
    samples.push_back(
        {job_.plan(shares[i]).share(), median_run(std::move(runs[i])), SearchStep::kSweep});
  return samples;
}

SplitSearch SplitMeter::find(double start_share) {
  SearchOptions search;
  search.start_share = start_share;
  search.granularity = job_.granularity();
  search.min_gain = options_.min_gain;
  search.repeats = options_.repeats;
  search.enough_ms = kEnoughMs;
  return find_split([this](double share) { return once(share); }, search);
}

}  // namespace omen::loadbalance
