// SPDX-License-Identifier: Apache-2.0
// Fills the omen_host of a plugin; every callback may come from any thread.
#include "components/host_services.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

#include "components/calls.hpp"
#include "data/registry_services.hpp"
#include "omen/error.hpp"
#include "report/figure.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace {

void check_figure(const std::string& name, const char* plotly_json) {
  const bool is_file_name =
      !name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-", c);
      });
  if (!is_file_name)
    throw Error(OMEN_INVALID_ARGUMENT, "figure name '" + name + "' is not a file name",
                "Use letters, digits, '.', '_' and '-'.");
  const auto figure = nlohmann::json::parse(plotly_json ? plotly_json : "", nullptr, false);
  if (!figure.is_object() || !figure.contains("data") || !figure["data"].is_array())
    throw Error(OMEN_INVALID_ARGUMENT, "figure '" + name + "' is not a Plotly figure",
                R"(Give {"data": [...], "layout": {...}}.)");
}

omen_status put_figure(const omen_host*, const omen_run* run, const char* name,
                       const char* plotly_json, ArrowArrayStream* stream, omen_error* error) {
  return detail::guard(error, [&] {
    Table table;
    if (stream && stream->release) table = TableStream::import(stream).read_all();
    check_figure(name ? name : "", plotly_json);
    if (run && run->output_dir) write_figure(run->output_dir, name, plotly_json, table);
  });
}

const void* find_extension(const omen_host*, const char* id) {
  static const omen_figure_ext figure = {sizeof(omen_figure_ext), 0, put_figure};
  if (std::strcmp(id, OMEN_EXT_CALL) == 0) return call_extension();
  if (std::strcmp(id, OMEN_EXT_FIGURE) == 0) return &figure;
  if (std::strcmp(id, OMEN_EXT_DEVICES) == 0) return devices_extension();
  if (std::strcmp(id, OMEN_EXT_DATASETS) == 0) return datasets_extension();
  return nullptr;
}

}  // namespace

HostServices::HostServices(const Manifest& manifest)
    : plugin_id_(manifest.id), plugin_dir_(manifest.directory.string()) {
  host_.struct_size = sizeof host_;
  host_.abi_major = OMEN_ABI_MAJOR;
  host_.abi_minor = OMEN_ABI_MINOR;
  host_.name = "omen";
  host_.version = OMEN_VERSION;
  host_.plugin_dir = plugin_dir_.c_str();
  host_.host_data = this;
  host_.get_extension = find_extension;
  host_.log_enabled = [](const omen_host*, std::int32_t level) { return host::log_enabled(level); };
  host_.log = [](const omen_host* host, std::int32_t level, const char* who, const char* message) {
    const auto* self = static_cast<const HostServices*>(host->host_data);
    try {
      host::log(level, who && *who ? who : self->plugin_id_.c_str(), message ? message : "");
    } catch (...) {  // a full disk must not reach the plugin as an exception
    }
  };
}

}  // namespace omen::host
