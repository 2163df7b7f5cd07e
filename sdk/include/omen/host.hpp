// SPDX-License-Identifier: Apache-2.0
// What a plugin asks of its host: logging, its own directory, calls to other components, figures.
#ifndef OMEN_HOST_HPP
#define OMEN_HOST_HPP

#include <string>

#include "omen/dataset.hpp"
#include "omen/run.hpp"

namespace omen {
namespace detail {

// Hidden visibility makes this one variable per plugin; it is set before any object exists.
inline const omen_host*& host_slot() {
  static const omen_host* host = nullptr;
  return host;
}

template <class Extension>
const Extension& host_extension(const char* id) {
  const omen_host* host = host_slot();
  const void* found = host ? host->get_extension(host, id) : nullptr;
  if (!found)
    throw Error(OMEN_UNSUPPORTED, std::string("this host has no extension ") + id,
                "Use a newer omen.");
  return *static_cast<const Extension*>(found);
}

}  // namespace detail

inline void log(std::int32_t level, const char* who, const std::string& message) {
  const omen_host* host = detail::host_slot();
  if (host && host->log_enabled(host, level)) host->log(host, level, who, message.c_str());
}

// Where the models and data files of this plugin lie.
inline std::string plugin_dir() {
  const omen_host* host = detail::host_slot();
  return host && host->plugin_dir ? host->plugin_dir : "";
}

// Calls between components. An empty options text means defaults, an empty model the default one.
namespace call {

inline const char* or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

inline TableStream predict(const Run& run, const char* component, const Dataset& in,
                           const std::string& options_json = {}, const std::string& model = {}) {
  ArrowArrayStream out{};
  ErrorOut error;
  error.check(detail::host_extension<omen_call_ext>(OMEN_EXT_CALL)
                  .predict(detail::host_slot(), run.c(), component, or_null(options_json),
                           or_null(model), in.c(), &out, error));
  return TableStream::import(&out);
}

inline TableStream score(const Run& run, const char* component, const Dataset& in,
                         const std::string& options_json = {}, const std::string& model = {}) {
  ArrowArrayStream out{};
  ErrorOut error;
  error.check(detail::host_extension<omen_call_ext>(OMEN_EXT_CALL)
                  .score(detail::host_slot(), run.c(), component, or_null(options_json),
                         or_null(model), in.c(), &out, error));
  return TableStream::import(&out);
}

inline std::map<std::string, Table> lower(const Run& run, const char* component,
                                          const std::string& path,
                                          const std::string& options_json = {}) {
  TableCollector tables;
  ErrorOut error;
  error.check(detail::host_extension<omen_call_ext>(OMEN_EXT_CALL)
                  .lower(detail::host_slot(), run.c(), component, or_null(options_json),
                         or_null(path), tables.c(), error));
  return tables.take();
}

inline TableStream collect(const Run& run, const char* component, const std::string& workload_json,
                           const std::string& options_json = {}) {
  ArrowArrayStream out{};
  ErrorOut error;
  error.check(detail::host_extension<omen_call_ext>(OMEN_EXT_CALL)
                  .collect(detail::host_slot(), run.c(), component, or_null(options_json),
                           workload_json.c_str(), &out, error));
  return TableStream::import(&out);
}

}  // namespace call

// Hands the host a Plotly figure and the table behind it.
inline void put_figure(const Run& run, const std::string& name, const std::string& plotly_json,
                       Table table = {}) {
  ArrowArrayStream stream{};
  if (!table.empty()) TableStream(std::move(table)).export_to(&stream);
  ErrorOut error;
  error.check(detail::host_extension<omen_figure_ext>(OMEN_EXT_FIGURE)
                  .put(detail::host_slot(), run.c(), name.c_str(), plotly_json.c_str(),
                       stream.release ? &stream : nullptr, error));
}

}  // namespace omen

#endif  // OMEN_HOST_HPP
