// SPDX-License-Identifier: Apache-2.0
// Plans the windows, measures those that are missing, and keeps a journal.
#include "measure/campaign.hpp"

#include <sched.h>

#include <fstream>
#include <map>
#include <omen/error.hpp>
#include <omen/learn/random.hpp>
#include <omen/telemetry/clock.hpp>
#include <sstream>
#include <tuple>

#include "measure/held_load.hpp"

namespace omen::interference {
namespace {

struct PlaceName {
  Place place;
  const char* name;
};
constexpr PlaceName kPlaceNames[] = {
    {Place::kAlone, "alone"}, {Place::kTwoCores, "two-cores"}, {Place::kOneCore, "one-core"}};
constexpr std::int64_t kLongestNap = 200'000'000;  // ns

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  return cores;
}

void nap_until(std::int64_t end, const std::function<void()>& check) {
  telemetry::Clock& clock = telemetry::machine_clock();
  for (std::int64_t now = clock.now_ns(); now < end; now = clock.now_ns()) {
    check();
    clock.sleep_until(std::min(end, now + kLongestNap));
  }
}

using WindowKey = std::tuple<int, Place, int, int>;
WindowKey key_of(const CampaignWindow& window) {
  return {window.repeat, window.place, window.load[0], window.load[1]};
}

// One line for each window; a line that was cut off is measured again.
std::map<WindowKey, CampaignWindow> read_journal(const std::filesystem::path& file) {
  std::map<WindowKey, CampaignWindow> done;
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line) && !in.eof()) {
    std::istringstream words(line);
    CampaignWindow window;
    int place = 0;
    if (words >> window.repeat >> place >> window.load[0] >> window.load[1] >>
        window.rate_per_s[0] >> window.rate_per_s[1] >> window.cpu_share[0] >>
        window.cpu_share[1] >> window.memory_mib) {
      window.place = static_cast<Place>(place);
      done[key_of(window)] = window;
    }
  }
  return done;
}

void append_journal(const std::filesystem::path& file, const CampaignWindow& window) {
  if (file.empty()) return;
  std::ofstream out(file, std::ios::app);
  out.precision(17);
  out << window.repeat << ' ' << static_cast<int>(window.place) << ' ' << window.load[0] << ' '
      << window.load[1] << ' ' << window.rate_per_s[0] << ' ' << window.rate_per_s[1] << ' '
      << window.cpu_share[0] << ' ' << window.cpu_share[1] << ' ' << window.memory_mib << '\n';
}

// Lets the loads of a window run. Cores change places from round to round.
void measure_window(std::vector<HeldLoad*> running, const std::vector<int>& cores,
                    const CampaignOptions& options, const std::function<void()>& check,
                    CampaignWindow& window) {
  const auto first = static_cast<std::size_t>(window.repeat);
  for (std::size_t i = 0; i < running.size(); ++i) {
    const std::size_t shift = window.place == Place::kTwoCores ? i : 0;
    running[i]->pin(cores[(first + shift) % cores.size()]);
  }
  for (HeldLoad* load : running) load->go_on();
  const telemetry::Clock& clock = telemetry::machine_clock();
  const auto ns = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
  nap_until(clock.now_ns() + ns(options.warmup_s), check);
  double before[2] = {0, 0};
  for (std::size_t i = 0; i < running.size(); ++i) before[i] = running[i]->cpu_s();
  const std::int64_t from = clock.now_ns();
  nap_until(from + ns(options.window_s), check);
  const std::int64_t to = clock.now_ns();
  for (std::size_t i = 0; i < running.size(); ++i)
    window.cpu_share[i] = (running[i]->cpu_s() - before[i]) * 1e9 / static_cast<double>(to - from);
  for (HeldLoad* load : running) load->hold();
  for (std::size_t i = 0; i < running.size(); ++i) {
    running[i]->require_running();
    window.rate_per_s[i] = running[i]->rate_between(from, to);
  }
  window.memory_mib = running[0]->memory_mib();
}

}  // namespace

const char* place_name(Place place) {
  for (const PlaceName& known : kPlaceNames)
    if (known.place == place) return known.name;
  return "";
}

Place shared_place() {
  return allowed_cores().size() > 1 ? Place::kTwoCores : Place::kOneCore;
}

double cores_of(Place place) {
  return place == Place::kTwoCores ? 2 : 1;
}

Place parse_place(const std::string& name) {
  for (const PlaceName& known : kPlaceNames)
    if (known.place != Place::kAlone && name == known.name) return known.place;
  throw Error(OMEN_INVALID_ARGUMENT, "two loads cannot be put on '" + name + "'",
              "Known are two-cores and one-core.");
}

std::vector<CampaignWindow> plan_campaign(std::size_t loads, const CampaignOptions& options) {
  std::vector<CampaignWindow> plan;
  const int count = static_cast<int>(loads);
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    std::vector<CampaignWindow> round;
    CampaignWindow window;
    window.repeat = repeat;
    for (window.load[0] = 0; window.load[0] < count; ++window.load[0]) round.push_back(window);
    for (const Place place : options.places) {
      window.place = place;
      for (window.load[0] = 0; window.load[0] < count; ++window.load[0])
        for (window.load[1] = window.load[0]; window.load[1] < count; ++window.load[1])
          round.push_back(window);
    }
    learn::Random random(options.seed, static_cast<std::uint64_t>(repeat));
    for (const std::ptrdiff_t at : random.permutation(static_cast<std::ptrdiff_t>(round.size())))
      plan.push_back(round[static_cast<std::size_t>(at)]);
  }
  return plan;
}

std::vector<CampaignWindow> run_campaign(const std::vector<CampaignLoad>& loads,
                                         const CampaignOptions& options,
                                         const std::function<void(double)>& step) {
  const std::vector<int> cores = allowed_cores();
  for (const Place place : options.places)
    if (place == Place::kTwoCores && cores.size() < 2)
      throw Error(OMEN_UNAVAILABLE, "there is only one core to run on",
                  "Measure with --places one-core, or on a machine with two.");
  std::vector<CampaignWindow> windows = plan_campaign(loads.size(), options);
  const std::map<WindowKey, CampaignWindow> done = read_journal(options.journal);
  std::vector<HeldLoad> held;
  held.reserve(2 * loads.size());
  for (const int copy : {0, 1})
    for (const CampaignLoad& load : loads)
      held.emplace_back(load.name, load.command,
                        options.directory / (std::to_string(held.size()) + (copy ? "b" : "a")),
                        options.patience_s, [&] { step(0); });
  double finished = 0;
  for (CampaignWindow& window : windows) {
    const double part = finished++ / static_cast<double>(windows.size());
    const auto known = done.find(key_of(window));
    if (known != done.end()) {
      window = known->second;
      continue;
    }
    std::vector<HeldLoad*> running{&held[static_cast<std::size_t>(window.load[0])]};
    if (window.load[1] >= 0)
      running.push_back(&held[loads.size() + static_cast<std::size_t>(window.load[1])]);
    measure_window(
        running, cores, options, [&] { step(part); }, window);
    append_journal(options.journal, window);
  }
  return windows;
}

}  // namespace omen::interference
