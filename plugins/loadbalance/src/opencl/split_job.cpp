// SPDX-License-Identifier: Apache-2.0
// Prepares a job from options, and measures it.
#include "opencl/split_job.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "omen/host.hpp"
#include "opencl/overruns.hpp"

namespace omen::loadbalance {
namespace {

constexpr double kEnoughMs = 40;  // for one look of the search at a share

RunnableKernel read_kernel(const Run& run, const std::string& path, const SplitOptions& options) {
  const std::map<std::string, Table> tables =
      call::lower(run, "loadbalance.kernels", path, front_end_options(options, options.kernel));
  RunnableKernel kernel =
      runnable_kernel_from(std::string(tables.at("workloads").strings(kRunnableColumn)[0]));
  if (!kernel.verdict.splittable() && !options.force)
    throw Error(
        OMEN_UNSUPPORTED,
        "kernel " + kernel.signature.kernel + " cannot be divided: " + kernel.verdict.reason(),
        "run it on one device; --force divides it nevertheless and compares the results");
  return kernel;
}

LaunchRange launch_range(const SplitOptions& options, const Signature& signature,
                         std::size_t largest_group) {
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
  request.largest_group = largest_group;
  return make_range(request);
}

// Nobody asked for the default range: where it is the side of a matrix it becomes smaller.
void shrink(const Signature& signature, ArgumentRequest& request) {
  constexpr double kEnoughBytes = 256 << 20;
  std::size_t& items = request.range.global[0];
  const std::size_t group = request.range.local[0];
  while (items / 2 % group == 0 && items / 2 / group > 1 &&
         wanted_bytes(signature, request) > kEnoughBytes)
    items /= 2;
}

// What the judge could not prove without knowing the launch.
void check_conditions(const KernelLaunch& launch) {
  const WholeNumbers number = [&](std::size_t i) {
    return whole_number(launch.parameters().at(i), launch.arguments.at(i));
  };
  for (const LaunchCondition& condition : launch.kernel.verdict.conditions)
    if (largest_value(condition.shortfall, launch.range, number).value_or(0) > 0)
      throw Error(OMEN_UNSUPPORTED,
                  "kernel " + launch.kernel.signature.kernel +
                      " cannot be divided with these arguments and this range: its rows overlap "
                      "unless " +
                      condition.text,
                  "give it other sizes with --arg and --global; --force divides it nevertheless "
                  "and compares the results");
}

KernelLaunch launch_of(RunnableKernel kernel, const SplitOptions& options, std::uint64_t seed,
                       std::size_t largest_group) {
  KernelLaunch launch;
  launch.kernel = std::move(kernel);
  const SplitVerdict& verdict = launch.kernel.verdict;
  ArgumentRequest request;
  request.range = launch_range(options, launch.kernel.signature, largest_group);
  request.given = options.arg;
  request.input_bytes = static_cast<std::size_t>(options.input_size);
  request.seed = seed;
  if (options.global.empty() && options.input_size == 0) shrink(launch.kernel.signature, request);
  launch.range = request.range;
  launch.dimension = split_dimension(launch.range, verdict.splittable() ? verdict.dimensions : 7);
  launch.arguments = make_arguments(launch.kernel.signature, request);
  if (!options.force) check_conditions(launch);
  return launch;
}

KernelSetup setup_of(const SplitJob& job, const SplitOptions& options, const Run& run) {
  KernelSetup setup;
  setup.source = job.kernel.text;
  setup.split_source = job.kernel.split_text;
  setup.takes_range = job.kernel.takes_range;
  setup.build_options = job.kernel.build_options;
  setup.kernel = job.kernel.signature.kernel;
  setup.range = job.range;
  setup.arguments = job.arguments;
  setup.parameters = job.parameters();
  setup.written = job.kernel.verdict.written;
  setup.exclusive = job.kernel.verdict.exclusive;
  setup.timeout_s = options.kernel_timeout;
  setup.overrun_file = overrun_file(run);
  setup.cancelled = [&run] { return run.cancelled(); };
  return setup;
}

// Few groups give fewer plans than shares; each stands here once, by the share that it has.
std::vector<double> distinct_plans(const KernelLaunch& launch, const std::vector<double>& shares) {
  std::vector<double> distinct;
  for (const double share : shares) {
    const double planned = launch.plan(share).share();
    if (std::find(distinct.begin(), distinct.end(), planned) == distinct.end())
      distinct.push_back(planned);
  }
  return distinct;
}

}  // namespace

std::size_t KernelLaunch::buffer_bytes() const {
  std::size_t bytes = 0;
  for (const Argument& argument : arguments)
    if (argument.kind == ParameterKind::kBuffer) bytes += argument.bytes.size();
  return bytes;
}

std::string overrun_file(const Run& run) {
  return run.scratch_dir().empty() ? "" : run.scratch_dir() + "/" + kOverrunFile;
}

std::string front_end_options(const SplitOptions& options, const std::string& kernel) {
  return nlohmann::json{{"kernel", kernel},
                        {"cl_std", options.cl_std},
                        {"define", options.define},
                        {"include_dir", options.include_dir},
                        {"include", options.include}}
      .dump();
}

KernelLaunch prepare_launch(const Run& run, const std::string& path, const SplitOptions& options) {
  return launch_of(read_kernel(run, path, options), options, run.seed(), 0);
}

SplitJob prepare_job(const Run& run, const std::string& path, const SplitOptions& options) {
  RunnableKernel kernel = read_kernel(run, path, options);
  const std::array<OpenClDevice, 2> devices = choose_devices(options.on, list_opencl_devices());
  return {launch_of(std::move(kernel), options, run.seed(),
                    std::min(devices[0].largest_group, devices[1].largest_group)),
          devices};
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
  for (std::size_t i = 0; i < job_.parameters().size(); ++i) {
    if (job_.arguments[i].kind != ParameterKind::kBuffer || !job_.kernel.verdict.written[i])
      continue;
    const Parameter& parameter = job_.parameters()[i];
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

std::vector<SplitSample> SplitMeter::sweep(const std::vector<double>& wanted) {
  const std::vector<double> shares = distinct_plans(job_, wanted);
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
    samples.push_back({shares[i], median_run(std::move(runs[i])), SearchStep::kSweep});
  return samples;
}

SplitSearch SplitMeter::find(double start_share) {
  SearchOptions search;
  search.start_share = start_share;
  search.granularity = job_.granularity();
  search.min_gain = options_.min_gain;
  search.repeats = options_.repeats;
  search.enough_ms = kEnoughMs;
  search.halves = job_.same_device();
  return find_split([this](double share) { return once(share); }, search);
}

}  // namespace omen::loadbalance
