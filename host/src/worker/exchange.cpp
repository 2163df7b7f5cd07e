// SPDX-License-Identifier: Apache-2.0
// What host and worker hand each other.
#include "exchange.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "omen/container.hpp"

namespace omen::host::exchange {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A part holds at least this many rows, unless the stream takes longer than the pause to give them.
constexpr std::int64_t kPartRows = 65536;
constexpr auto kPartPause = std::chrono::milliseconds(100);
constexpr const char* kTable = "part";

std::string text(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

Json text_or_null(const char* value) {
  return value ? Json(value) : Json(nullptr);
}

}  // namespace

Json parse(const std::string& line) {
  Json message = Json::parse(line, nullptr, false);
  if (!message.is_object())
    throw Error(OMEN_INVALID_DATA, "message between host and worker is no JSON object");
  return message;
}

Json to_json(const Error& error) {
  return {{"code", error.code()},
          {"message", error.what()},
          {"hint", error.hint()},
          {"details", error.details_json()}};
}

Error error_from(const Json& json) {
  if (!json.is_object()) return Error(OMEN_INTERNAL, "worker failed and did not say how");
  const auto code = json.find("code");
  const bool known =
      code != json.end() && code->is_number_integer() && *code > OMEN_OK && *code <= OMEN_INTERNAL;
  return Error(known ? code->get<omen_status>() : OMEN_INTERNAL, text(json, "message"),
               text(json, "hint"), text(json, "details"));
}

Json to_json(const omen_option* options, std::size_t count) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const omen_option& option = options[i];
    list.push_back({{"key", option.key},
                    {"type", option.type},
                    {"i", option.i},
                    {"r", number(option.r)},
                    {"s", text_or_null(option.s)}});
  }
  return list;
}

Json to_json(const omen_run& run) {
  return {{"threads", run.threads},
          {"seed", run.seed},
          {"interval_level", number(run.interval_level)},
          {"devices", text_or_null(run.devices)},
          {"scratch_dir", text_or_null(run.scratch_dir)},
          {"output_dir", text_or_null(run.output_dir)},
          {"state_dir", text_or_null(run.state_dir)}};
}

Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double number_from(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nan("");
}

fs::path PartDirectory::next_name(const char* suffix) {
  return directory_ / (prefix_ + std::to_string(count_++) + suffix);
}

std::string PartDirectory::write(const Table& table) {
  const fs::path path = next_name(".omt");
  container::Writer writer;
  container::put_table(writer, kTable, table);
  writer.write(path);
  return path.filename().string();
}

std::uint64_t PartDirectory::bytes_of_other_side() const {
  std::uint64_t bytes = 0;
  std::error_code gone;  // a file may be taken while we look
  for (fs::directory_iterator at(directory_, gone), end; !gone && at != end; at.increment(gone)) {
    if (at->path().filename().string().starts_with(prefix_)) continue;
    std::error_code missing;
    const auto size = fs::file_size(at->path(), missing);
    if (!missing) bytes += size;
  }
  return bytes;
}

fs::path PartDirectory::inside(const std::string& name) const {
  if (name.empty() || name.front() == '.' || name.find('/') != std::string::npos)
    throw Error(OMEN_INVALID_DATA, "'" + name + "' is no file of the exchange directory");
  return directory_ / name;
}

Table PartDirectory::take(const std::string& name) const {
  const fs::path path = inside(name);
  const container::Reader reader = container::Reader::open(path);
  std::error_code ignored;  // the directory as a whole is removed later
  fs::remove(path, ignored);
  Table table = container::get_table(reader, kTable);
  table.validate();
  return table;
}

std::optional<Table> PartSource::pull() {
  std::vector<Table> batches;
  std::int64_t rows = 0;
  const auto deadline = Clock::now() + kPartPause;
  try {
    while (!ended_ && rows < kPartRows && (batches.empty() || Clock::now() < deadline)) {
      std::optional<Table> batch = stream_.next();
      if (!batch) {
        ended_ = true;
      } else {
        rows += batch->rows();
        batches.push_back(*std::move(batch));
      }
    }
  } catch (const Error& error) {
    failure_ = error;
    ended_ = true;
  }
  if (batches.empty()) return std::nullopt;
  return batches.size() == 1 ? batches.front() : concat(batches);
}

Json PartSource::describe(const Table& batch) {
  return {{"part", parts_.write(batch)}, {"last", ended_ && !failure_}};
}

Json PartSource::first() {
  const std::optional<Table> batch = pull();
  return describe(batch ? *batch : concat({stream_.schema()}));
}

Json PartSource::next() {
  if (const std::optional<Table> batch = ended_ ? std::nullopt : pull()) return describe(*batch);
  if (!failure_) return {{"end", true}};
  return {{"error", to_json(*std::exchange(failure_, std::nullopt))}};
}

TableStream receive_parts(const Json& first, const PartDirectory& parts,
                          std::function<Json()> fetch) {
  Table head = parts.take(first.at("part").get<std::string>());
  const Table schema = head.slice(0, 0);
  bool last = first.value("last", Json()) == true;
  std::optional<Table> ready;
  if (head.rows() > 0) ready = std::move(head);
  return TableStream(schema,
                     [&parts, fetch = std::move(fetch), last,
                      ready = std::move(ready)]() mutable -> std::optional<Table> {
                       if (ready) return std::exchange(ready, std::nullopt);
                       if (last) return std::nullopt;
                       const Json reply = fetch();
                       if (const auto error = reply.find("error"); error != reply.end()) {
                         last = true;
                         throw error_from(*error);
                       }
                       last = !reply.contains("part") || reply.value("last", Json()) == true;
                       if (!reply.contains("part")) return std::nullopt;
                       return parts.take(reply.at("part").get<std::string>());
                     });
}

}  // namespace omen::host::exchange
