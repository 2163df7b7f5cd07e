// SPDX-License-Identifier: Apache-2.0
// Option texts of any kind, against a component that has every type of option.
// covers: host/src/components/options.cpp
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "components/options.hpp"
#include "omen/error.hpp"

namespace {

using namespace omen::host;

void require(bool condition) {
  if (!condition) std::abort();
}

OptionInfo option(const char* key, std::uint32_t type, const char* default_text,
                  std::uint32_t flags = 0) {
  OptionInfo info;
  info.key = key;
  info.type = type;
  info.flags = flags;
  info.min = info.max = NAN;
  if (default_text) info.default_text = default_text;
  return info;
}

ComponentInfo component() {
  ComponentInfo all;
  all.kind = OMEN_PREDICTOR;
  all.id = "fuzz.all";
  all.options = {option("flag", OMEN_OPT_BOOL, "false"),
                 option("width", OMEN_OPT_INT, "64"),
                 option("rate", OMEN_OPT_REAL, "1e-3"),
                 option("name", OMEN_OPT_STRING, ""),
                 option("pool", OMEN_OPT_CHOICE, "mean"),
                 option("file", OMEN_OPT_PATH, "", OMEN_OPTF_NO_EFFECT_ON_RESULT),
                 option("need", OMEN_OPT_INT, nullptr, OMEN_OPTF_REQUIRED),
                 option("many", OMEN_OPT_INT, nullptr, OMEN_OPTF_REPEATED)};
  all.options[1].min = 1;
  all.options[1].max = 4096;
  all.options[2].min = 0;
  all.options[4].choices = {"mean", "sum", "max"};
  return all;
}

// The input is lines "key=value" up to an empty line, then the configuration file.
OptionSources sources_from(std::string_view text) {
  OptionSources sources;
  sources.use_environment = false;
  const std::size_t end = text.find("\n\n");
  std::string_view lines = text.substr(0, end);
  if (end != text.npos) sources.config_json = text.substr(end + 2);
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals != line.npos)
      sources.flags.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return sources;
}

void check_values(const ComponentInfo& all, const OptionValues& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const omen_option& value = values.data()[i];
    const OptionInfo* info = all.option(value.key);
    require(info && info->type == value.type);
    if (value.type == OMEN_OPT_BOOL) require(value.i == 0 || value.i == 1);
    if (value.type == OMEN_OPT_REAL) require(std::isfinite(value.r) && value.r >= 0);
    if (info->key == "width") require(value.i >= 1 && value.i <= 4096);
    if (value.type >= OMEN_OPT_STRING) require(value.s != nullptr);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const ComponentInfo all = component();
  for (const OptionInfo& info : all.options) describe_range(info);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const OptionSources sources = sources_from(text);
    const OptionValues values = resolve_options(all, sources);
    check_values(all, values);
    require(values.hash() == resolve_options(all, sources).hash());
  } catch (const omen::Error& error) {
    require(error.code() == OMEN_INVALID_ARGUMENT);
  }
  return 0;
}
