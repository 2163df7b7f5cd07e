// SPDX-License-Identifier: Apache-2.0
// `omen profile`: runs or watches a workload and reports what was measured.
#include <algorithm>
#include <map>

#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "json_writer.hpp"
#include "omen/host/table_io.hpp"

namespace omen::host::cli {
namespace {

ComponentRef find_profiler(const Registry& registry, const std::string& component) {
  if (!component.empty()) return registry.component(OMEN_PROFILER, component);
  const std::vector<ComponentRef> all = registry.components(OMEN_PROFILER);
  if (all.empty())
    throw ExitError(kUsage, Error(OMEN_NOT_FOUND, "no profiler is installed",
                                  "the telemetry plugin provides profilers; see where plugins are "
                                  "looked for with: omen doctor"));
  for (const ComponentRef& ref : all)
    if (ref.info->caps & OMEN_CAP_DEFAULT) return ref;
  if (all.size() == 1) return all[0];
  std::string ids;
  for (const ComponentRef& ref : all) ids += (ids.empty() ? "" : ", ") + ref.info->id;
  usage_error("several profilers are installed: " + ids,
              "choose one with --with " + all[0].info->id);
}

std::string workload_json(const ProfileRequest& request) {
  JsonWriter json;
  json.object();
  if (request.pid > 0)
    json.field("pid", request.pid);
  else
    json.strings("command", request.command);
  return json.end().text();
}

struct Series {
  std::int64_t count = 0;
  double sum = 0, least = 0, most = 0, last = 0;
  void add(double value) {
    least = count ? std::min(least, value) : value;
    most = count ? std::max(most, value) : value;
    ++count;
    sum += value;
    last = value;
  }
};

// One line per metric and device: how many samples, and what they were.
TextTable summary(const Table& counters) {
  std::map<std::pair<std::string, std::int64_t>, Series> series;
  const auto values = counters.numbers("value");
  const auto devices =
      counters.has("device") ? counters.numbers("device") : std::vector<double>(values.size(), 0);
  const StringColumn metrics = counters.strings("metric");
  for (std::int64_t row = 0; row < counters.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    series[{std::string(metrics[row]), static_cast<std::int64_t>(devices[at])}].add(values[at]);
  }
  TextTable table({{"metric"},
                   {"device", true},
                   {"samples", true},
                   {"mean", true},
                   {"least", true},
                   {"most", true},
                   {"last", true}});
  for (const auto& [key, s] : series)
    table.add({key.first,
               std::to_string(key.second),
               std::to_string(s.count),
               {format_number(s.sum / static_cast<double>(s.count)), Style::kStrong},
               format_number(s.least),
               format_number(s.most),
               format_number(s.last)});
  return table;
}

}  // namespace

int run_profile(const Globals& globals, const ProfileRequest& request) {
  Session session(globals, request.run, request.flags, "profile", request.output);
  const ComponentRef ref = find_profiler(session.registry(), request.component);
  const OptionValues options = resolve_options(*ref.info, session.flags().sources_for(*ref.info));
  session.flags().finish();
  if (!request.probe && request.command.empty() && request.pid == 0)
    usage_error("nothing to profile",
                "write omen profile -- COMMAND, --pid PID, or --probe to see the devices");
  ProfilerHandle handle = session.components().profiler(ref, options);
  const std::string devices = handle.probe();
  if (request.probe) {
    session.progress().finish();
    JsonWriter json;
    json.object()
        .field("format_version", 1)
        .field("profiler", ref.info->id)
        .key("devices")
        .raw(devices)
        .end();
    print(globals.json ? json.text() : devices + "\n");
    return kOk;
  }
  const RunContext run(session.components().settings().run, session.components().settings().hooks);
  const Table counters = handle.collect(run.c(), workload_json(request)).read_all();
  session.progress().finish();
  counters.validate();
  for (const char* column : {"metric", "value"})
    if (!counters.has(column))
      throw Error(OMEN_INTERNAL,
                  "plugin misbehaving: " + ref.info->id + " measured without a column " + column);
  if (!session.output_directory().empty())
    write_rows(session.output_directory() / "counters.csv", "counters", counters);
  else if (!request.output.empty())
    write_rows(request.output, "counters", counters);
  if (!request.output.empty()) note(globals, "wrote " + request.output);
  if (globals.json) {
    JsonWriter json;
    json.object()
        .field("format_version", 1)
        .field("profiler", ref.info->id)
        .key("devices")
        .raw(devices);
    print(json.key("rows").raw(to_json_rows(counters)).end().text());
  } else {
    print_table(globals, summary(counters));
  }
  return kOk;
}

}  // namespace omen::host::cli
