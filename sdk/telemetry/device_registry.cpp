// SPDX-License-Identifier: Apache-2.0
// Reads the registry and finds devices by the many ways to spell them.
#include "omen/telemetry/device_registry.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "device_data.hpp"
#include "omen/error.hpp"
#include "omen/join.hpp"

namespace omen::telemetry {
namespace {

using RegistryJson = nlohmann::json;

[[noreturn]] void bad(const std::string& origin, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, origin + ": " + what,
              "See data/devices/gpus.json for the form of an entry.");
}

std::vector<std::string> texts_of(const RegistryJson& list) {
  std::vector<std::string> texts;
  for (const RegistryJson& entry : list) texts.push_back(entry.get<std::string>());
  return texts;
}

PublishedDevice device_of(const RegistryJson& entry) {
  PublishedDevice device;
  device.name = entry.at("name").get<std::string>();
  device.aliases = texts_of(entry.at("aliases"));
  device.kind = entry.at("kind").get<std::string>();
  device.vendor = entry.at("vendor").get<std::string>();
  device.architecture = entry.at("architecture").get<std::string>();
  device.note = entry.value("note", "");
  device.year = entry.at("year").get<int>();
  for (const auto& [key, value] : entry.at("figures").items())
    device.figures[key] = value.get<double>();
  for (const RegistryJson& source : entry.at("sources"))
    device.sources.push_back({source.at("url").get<std::string>(), texts_of(source.at("figures")),
                              source.value("opened", true)});
  return device;
}

// Words that vendors add and people leave out, and those that tell no two devices apart.
bool is_filler(const std::string& word) {
  constexpr std::string_view kFillers[] = {
      "nvidia",   "amd",      "intel",       "geforce", "tesla",  "quadro",    "radeon",
      "instinct", "r",        "tm",          "cpu",     "gpu",    "processor", "core",
      "cores",    "graphics", "corporation", "xeon",    "tensor", "with",      "accelerator"};
  return std::find(std::begin(kFillers), std::end(kFillers), word) != std::end(kFillers);
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Lower case; "GTX1080" is gtx 1080, "16GB" is 16 gb, what stands behind @ is a clock.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text.substr(0, text.find('@'))) {
    const char low = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool alnum = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+';
    std::string& word = words.back();
    // A number that follows three letters or more is a word of its own: v100 and i7 are not cut.
    const bool cut = !word.empty() && is_digit(low) && !is_digit(word.back()) && word.size() >= 3 &&
                     std::none_of(word.begin(), word.end(), is_digit);
    if (!alnum || cut) words.emplace_back();
    if (alnum) words.back().push_back(low);
  }
  // 16gb, 40 gb, 16gib: one way to write a size.
  std::vector<std::string> kept;
  for (std::string& word : words) {
    if (word == "gb" && !kept.empty() && is_digit(kept.back()[0])) {
      kept.back() += "gb";
      continue;
    }
    if (!word.empty() && !is_filler(word)) kept.push_back(std::move(word));
  }
  return kept;
}

bool has_digit(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::any_of(word.begin(), word.end(), is_digit);
  });
}

bool contains_all(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  });
}

struct Spelling {
  const PublishedDevice* device;
  std::vector<std::string> words;
  std::string joined;
};

const std::vector<Spelling>& spellings() {
  static const std::vector<Spelling> all = [] {
    std::vector<Spelling> made;
    for (const PublishedDevice& device : published_devices()) {
      std::vector<std::string> names = device.aliases;
      names.push_back(device.name);
      for (const std::string& name : names) {
        std::vector<std::string> words = words_of(name);
        std::string text = join(words, "");  // titan x and titanx are the same
        made.push_back({&device, std::move(words), std::move(text)});
      }
    }
    return made;
  }();
  return all;
}

// Bigrams that two spellings share, over all that they have.
double likeness(const std::string& a, const std::string& b) {
  if (a.size() < 2 || b.size() < 2) return a == b ? 1 : 0;
  int shared = 0;
  std::vector<bool> used(b.size(), false);
  for (std::size_t i = 0; i + 1 < a.size(); ++i)
    for (std::size_t k = 0; k + 1 < b.size(); ++k) {
      if (used[k] || a[i] != b[k] || a[i + 1] != b[k + 1]) continue;
      used[k] = true;
      ++shared;
      break;
    }
  return 2.0 * shared / static_cast<double>(a.size() + b.size() - 2);
}

}  // namespace

std::optional<double> PublishedDevice::figure(const std::string& key) const {
  const auto at = figures.find(key);
  return at == figures.end() ? std::nullopt : std::optional(at->second);
}

const PublishedDevice::Source* PublishedDevice::find_source(const std::string& key) const {
  for (const Source& source : sources)
    if (std::find(source.figures.begin(), source.figures.end(), key) != source.figures.end())
      return &source;
  return nullptr;
}

std::string PublishedDevice::source_of(const std::string& key) const {
  const Source* const source = find_source(key);
  return source ? source->url : "";
}

std::vector<PublishedDevice> parse_devices(std::string_view json, const std::string& origin) {
  const RegistryJson document = RegistryJson::parse(json, nullptr, false);
  if (!document.is_object() || document.value("format_version", 0) != 1 ||
      !document.contains("devices") || !document["devices"].is_array())
    bad(origin, "is no registry of devices");
  std::vector<PublishedDevice> devices;
  for (const RegistryJson& entry : document["devices"]) {
    try {
      devices.push_back(device_of(entry));
    } catch (const RegistryJson::exception& problem) {
      bad(origin, "device " + std::to_string(devices.size() + 1) + ": " + problem.what());
    }
  }
  return devices;
}

const std::vector<PublishedDevice>& published_devices() {
  static const std::vector<PublishedDevice> all = [] {
    std::vector<PublishedDevice> devices = parse_devices(kGpusJson, "gpus.json");
    for (PublishedDevice& device : parse_devices(kProcessorsJson, "processors.json"))
      devices.push_back(std::move(device));
    return devices;
  }();
  return all;
}

const PublishedDevice* find_device(std::string_view spelling) {
  const std::vector<std::string> words = words_of(spelling);
  const std::string text = join(words, "");
  const PublishedDevice* best = nullptr;
  std::size_t most = 0;
  for (const Spelling& known : spellings()) {
    if (known.joined == text && !text.empty()) return known.device;
    // A name without a number, such as Orin, must be the whole of what was asked for.
    if (!has_digit(known.words) || !contains_all(words, known.words)) continue;
    if (known.words.size() <= most) continue;
    most = known.words.size();
    best = known.device;
  }
  return best;
}

std::vector<std::string> near_devices(std::string_view spelling, std::size_t most) {
  const std::string text = join(words_of(spelling), "");
  std::map<const PublishedDevice*, double> best;
  for (const Spelling& known : spellings()) {
    double& score = best[known.device];
    score = std::max(score, likeness(text, known.joined));
  }
  std::vector<std::pair<double, std::string>> ranked;
  for (const auto& [device, score] : best)
    if (score >= 0.4) ranked.emplace_back(-score, device->name);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ranked.size() && i < most; ++i) names.push_back(ranked[i].second);
  return names;
}

}  // namespace omen::telemetry
