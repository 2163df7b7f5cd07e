// SPDX-License-Identifier: Apache-2.0
// Rates alone and together become speeds, features and a record of where they come from.
#include "measure/corun_table.hpp"

#include <sys/utsname.h>

#include <fstream>
#include <map>
#include <omen/table.hpp>
#include <thread>

namespace omen::interference {
namespace {

struct Speeds {
  std::vector<double> alone, together;  // by repeat
};

// By job, partner and place; a pair of a load with itself has both of its halves.
class Measurements {
 public:
  Measurements(std::size_t loads, const std::vector<CampaignWindow>& windows)
      : share_(loads, 0), memory_(loads, 0), rate_(loads, 0) {
    std::map<std::pair<int, int>, double> alone;  // by load and repeat
    std::vector<double> count(loads, 0);
    for (const CampaignWindow& window : windows) {
      if (window.place != Place::kAlone) continue;
      const auto load = static_cast<std::size_t>(window.load[0]);
      alone[{window.load[0], window.repeat}] = window.rate_per_s[0];
      share_[load] += window.cpu_share[0];
      rate_[load] += window.rate_per_s[0];
      memory_[load] = std::max(memory_[load], window.memory_mib);
      ++count[load];
    }
    for (std::size_t load = 0; load < loads; ++load) {
      share_[load] /= count[load];
      rate_[load] /= count[load];
    }
    for (const CampaignWindow& window : windows) {
      if (window.place == Place::kAlone) continue;
      for (const int side : {0, 1}) {
        const int job = window.load[side], partner = window.load[1 - side];
        Speeds& speeds = speeds_[{window.place, job, partner}];
        speeds.alone.push_back(alone.at({job, window.repeat}));
        speeds.together.push_back(window.rate_per_s[side]);
      }
    }
  }
  CorunSpeed speed(Place place, std::size_t job, std::size_t partner) const {
    const Speeds& speeds = speeds_.at({place, static_cast<int>(job), static_cast<int>(partner)});
    return speed_of(speeds.alone, speeds.together);
  }
  double util_pct(Place place, std::size_t job) const {
    return 100 * share_[job] / cores_of(place);
  }
  double memory_mib(std::size_t job) const { return memory_[job]; }
  double step_ms(std::size_t job) const { return 1000 / rate_[job]; }

 private:
  std::vector<double> share_, memory_, rate_;
  std::map<std::tuple<Place, int, int>, Speeds> speeds_;
};

// Columns by name, in the order in which they were first put.
class Columns {
 public:
  void put(const std::string& name, double value) {
    for (auto& [known, values] : columns_)
      if (known == name) return values.push_back(value);
    columns_.emplace_back(name, std::vector<double>{value});
  }
  void add_to(TableBuilder& table) {
    for (auto& [name, values] : columns_) table.add(name, std::move(values));
  }

 private:
  std::vector<std::pair<std::string, std::vector<double>>> columns_;
};

void put_features(Columns& columns, const std::string& prefix, Place place, std::size_t job,
                  const std::vector<DescribedLoad>& loads, const Measurements& measured) {
  columns.put(prefix + "util_pct", measured.util_pct(place, job));
  columns.put(prefix + "step_ms", measured.step_ms(job));
  columns.put(prefix + "rss_mib", measured.memory_mib(job));
  for (std::size_t probe = 0; probe < loads.size(); ++probe) {
    if (!loads[probe].is_probe) continue;
    columns.put(prefix + "beside_" + loads[probe].name, measured.speed(place, job, probe).median);
    columns.put(prefix + "slows_" + loads[probe].name, measured.speed(place, probe, job).median);
  }
}

std::vector<Place> places_of(const std::vector<CampaignWindow>& windows) {
  std::vector<Place> places;
  for (const CampaignWindow& window : windows)
    if (window.place != Place::kAlone &&
        std::find(places.begin(), places.end(), window.place) == places.end())
      places.push_back(window.place);
  std::sort(places.begin(), places.end());
  return places;
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return "not known";
}

// Major and minor number: what follows may name a machine.
std::string kernel_name() {
  utsname name{};
  ::uname(&name);
  const std::string release = name.release;
  const std::size_t minor = release.find('.');
  return std::string(name.sysname) + " " +
         release.substr(0, minor == std::string::npos ? minor : release.find('.', minor + 1));
}

}  // namespace

Table corun_table(const std::vector<DescribedLoad>& loads,
                  const std::vector<CampaignWindow>& windows) {
  const Measurements measured(loads.size(), windows);
  const std::vector<Place> places = places_of(windows);
  std::vector<std::string> job, family, partner, partner_family, device, mode, group;
  Columns numbers;
  for (const Place place : places)
    for (std::size_t i = 0; i < loads.size(); ++i)
      for (std::size_t j = 0; j < loads.size(); ++j) {
        job.push_back(loads[i].name);
        family.push_back(loads[i].family);
        partner.push_back(loads[j].name);
        partner_family.push_back(loads[j].family);
        group.push_back(loads[std::min(i, j)].name + "+" + loads[std::max(i, j)].name);
        device.emplace_back(kCoresDevice);
        mode.emplace_back(place_name(place));
        put_features(numbers, "", place, i, loads, measured);
        put_features(numbers, "partner_", place, j, loads, measured);
        numbers.put("rho", measured.speed(place, i, j).median);
      }
  TableBuilder table;
  table.add_strings("job", job)
      .add_strings("family", family)
      .add_strings("partner", partner)
      .add_strings("partner_family", partner_family)
      .add_strings("pair", group)
      .add_strings("device", device)
      .add_strings("mode", mode);
  numbers.add_to(table);
  return table.finish();
}

Table interval_table(const std::vector<DescribedLoad>& loads,
                     const std::vector<CampaignWindow>& windows) {
  const Measurements measured(loads.size(), windows);
  std::vector<std::string> job, partner, mode;
  std::vector<double> rho, low, high;
  std::vector<std::int64_t> precise;
  for (const Place place : places_of(windows))
    for (std::size_t i = 0; i < loads.size(); ++i)
      for (std::size_t j = 0; j < loads.size(); ++j) {
        const CorunSpeed speed = measured.speed(place, i, j);
        job.push_back(loads[i].name);
        partner.push_back(loads[j].name);
        mode.emplace_back(place_name(place));
        rho.push_back(speed.median);
        low.push_back(speed.low);
        high.push_back(speed.high);
        precise.push_back(speed.is_precise ? 1 : 0);
      }
  return TableBuilder()
      .add_strings("job", job)
      .add_strings("partner", partner)
      .add_strings("mode", mode)
      .add("rho", std::move(rho))
      .add("rho_low", std::move(low))
      .add("rho_high", std::move(high))
      .add("precise", std::move(precise))
      .finish();
}

Table window_table(const std::vector<DescribedLoad>& loads,
                   const std::vector<CampaignWindow>& windows) {
  std::vector<std::int64_t> repeat;
  std::vector<std::string> place, job, partner;
  std::vector<double> rate, partner_rate, share, partner_share;
  for (const CampaignWindow& window : windows) {
    repeat.push_back(window.repeat);
    place.emplace_back(place_name(window.place));
    job.push_back(loads[static_cast<std::size_t>(window.load[0])].name);
    partner.push_back(window.load[1] < 0 ? ""
                                         : loads[static_cast<std::size_t>(window.load[1])].name);
    rate.push_back(window.rate_per_s[0]);
    partner_rate.push_back(window.rate_per_s[1]);
    share.push_back(window.cpu_share[0]);
    partner_share.push_back(window.cpu_share[1]);
  }
  return TableBuilder()
      .add("round", std::move(repeat))
      .add_strings("mode", place)
      .add_strings("job", job)
      .add_strings("partner", partner)
      .add("rate_per_s", std::move(rate))
      .add("partner_rate_per_s", std::move(partner_rate))
      .add("cpu_share", std::move(share))
      .add("partner_cpu_share", std::move(partner_share))
      .finish();
}

Table provenance_table(const CampaignOptions& options) {
  std::ifstream load_file("/proc/loadavg");
  std::string busy;
  load_file >> busy;
  std::vector<std::string> what, value;
  const auto put = [&](const char* name, const std::string& text) {
    what.emplace_back(name);
    value.push_back(text);
  };
  put("processor", processor_name());
  put("cores", std::to_string(std::thread::hardware_concurrency()));
  put("kernel", kernel_name());
  put("rounds", std::to_string(options.repeats));
  put("window_ms", std::to_string(static_cast<int>(options.window_s * 1000)));
  put("warm-up_ms", std::to_string(static_cast<int>(options.warmup_s * 1000)));
  put("seed", std::to_string(options.seed));
  put("load_average_at_end", busy);
  return TableBuilder().add_strings("what", what).add_strings("value", value).finish();
}

}  // namespace omen::interference
