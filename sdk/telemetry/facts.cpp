// SPDX-License-Identifier: Apache-2.0
// Reads workload descriptions and writes devices and notes as JSON.
#include "facts.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "omen/telemetry/recording.hpp"

namespace omen::telemetry {
namespace {

using Json = nlohmann::ordered_json;

// Commands and sensor labels need not be UTF-8; JSON must be.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char* kind_name(NoteKind kind) {
  switch (kind) {
    case NoteKind::kAbsent:
      return "absent";
    case NoteKind::kDetail:
      return "detail";
    case NoteKind::kWarning:
      break;
  }
  return "warning";
}

Json json_of(const std::vector<DeviceInfo>& devices) {
  Json list = Json::array();
  for (const DeviceInfo& device : devices) {
    Json entry{{"family", device.family}, {"index", device.index}, {"name", device.name}};
    for (const auto& [key, value] : device.facts) entry[key] = value;
    list.push_back(std::move(entry));
  }
  return list;
}

Json json_of(const std::vector<Note>& notes) {
  Json list = Json::array();
  for (const Note& note : notes) {
    Json entry{{"kind", kind_name(note.kind)},
               {"source", note.source},
               {"message", note.message},
               {"count", note.count}};
    if (!note.hint.empty()) entry["hint"] = note.hint;
    list.push_back(std::move(entry));
  }
  return list;
}

[[noreturn]] void bad_workload(const std::string& what) {
  throw Error(OMEN_INVALID_ARGUMENT, "the workload description " + what,
              "Use {\"command\": [...]}, {\"pid\": n} or {\"duration_s\": s}.");
}

double positive(const Json& value, const char* key) {
  if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>()))
    bad_workload(std::string("has a '") + key + "' that is no positive number");
  return value.get<double>();
}

}  // namespace

std::string devices_json(const std::vector<DeviceInfo>& devices) {
  return text_of(json_of(devices));
}
std::string notes_json(const std::vector<Note>& notes) {
  return text_of(json_of(notes));
}
std::string words_json(const std::vector<std::string>& words) {
  return text_of(Json(words));
}

std::string description_json(const std::vector<DeviceInfo>& devices,
                             const std::vector<Note>& notes) {
  return text_of(Json{{"devices", json_of(devices)}, {"notes", json_of(notes)}});
}

Workload parse_workload(const std::string& json) {
  const Json parsed = Json::parse(json.empty() ? "{}" : json, nullptr, false);
  if (!parsed.is_object()) bad_workload("is no JSON object");
  Workload workload;
  for (const auto& [key, value] : parsed.items()) {
    if (key == "command") {
      if (!value.is_array() || value.empty())
        bad_workload("has a 'command' that is no list of words");
      for (const Json& word : value) {
        if (!word.is_string()) bad_workload("has a 'command' that is no list of words");
        workload.command.push_back(word.get<std::string>());
      }
    } else if (key == "pid") {
      if (!value.is_number_integer() || value.get<std::int64_t>() <= 0 ||
          value.get<std::int64_t>() > 0x7FFFFFFF)
        bad_workload("has a 'pid' that is no process number");
      workload.pid = value.get<pid_t>();
    } else if (key == "duration_s") {
      workload.duration_s = positive(value, "duration_s");
    } else if (key == "repeat") {
      workload.repeat = static_cast<std::int64_t>(positive(value, "repeat"));
    } else {
      bad_workload("has an unknown key '" + key + "'");
    }
  }
  if (!workload.command.empty() && workload.pid != 0) bad_workload("has both a command and a pid");
  if (workload.repeat > 1 && workload.command.empty())
    bad_workload("repeats something that is no command");
  if (workload.command.empty() && workload.pid == 0 && !workload.duration_s)
    workload.duration_s = 1;
  return workload;
}

}  // namespace omen::telemetry
