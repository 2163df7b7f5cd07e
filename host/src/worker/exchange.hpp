// SPDX-License-Identifier: Apache-2.0
// What host and worker hand each other: errors and run settings as JSON, tables as containers in a
// shared directory.
#ifndef OMEN_HOST_SRC_EXCHANGE_HPP
#define OMEN_HOST_SRC_EXCHANGE_HPP

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "components/options.hpp"
#include "omen/error.hpp"
#include "omen/table.hpp"

namespace omen::host::exchange {

using Json = nlohmann::json;

// Bytes that are no UTF-8 are replaced: a message must arrive even where its text is damaged.
inline std::string dump(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}
// OMEN_INVALID_DATA where the line is no JSON object.
Json parse(const std::string& line);

Json to_json(const Error& error);
Error error_from(const Json& json);

Json to_json(const omen_option* options, std::size_t count);
Json to_json(const omen_run& run);

// NaN and infinities survive, which JSON numbers cannot say.
Json number(double value);
double number_from(const Json& json);

// The directory that host and worker share; names are unique over both sides through the prefix.
class PartDirectory {
 public:
  PartDirectory(std::filesystem::path directory, std::string prefix)
      : directory_(std::move(directory)), prefix_(std::move(prefix)) {}
  const std::filesystem::path& path() const noexcept { return directory_; }
  std::filesystem::path next_name(const char* suffix);
  // Writes one batch and returns its file name.
  std::string write(const Table& table);
  // Maps a batch; its file is gone afterwards, its memory stays with the table.
  Table take(const std::string& name) const;
  // A name that the other side sent, as a path inside the directory.
  std::filesystem::path inside(const std::string& name) const;
  // What the other side has put there and this side has not taken yet.
  std::uint64_t bytes_of_other_side() const;

 private:
  std::filesystem::path directory_;
  std::string prefix_;
  std::atomic<std::uint64_t> count_{0};
};

// The sending end of a stream: joins small batches, writes each as a part, and keeps a failure
// until the rows before it went out.
class PartSource {
 public:
  PartSource(TableStream stream, PartDirectory& parts)
      : stream_(std::move(stream)), parts_(parts) {}
  // {"part": name, "last": bool}; an empty part where the stream has no rows, because it carries
  // the schema.
  Json first();
  // {"part": ..., "last": ...}, {"end": true} or {"error": ...}.
  Json next();

 private:
  Json describe(const Table& batch);
  std::optional<Table> pull();

  TableStream stream_;
  PartDirectory& parts_;
  std::optional<Error> failure_;
  bool ended_ = false;
};

// The receiving end: `fetch` asks the other side for its next().
TableStream receive_parts(const Json& first, const PartDirectory& parts,
                          std::function<Json()> fetch);

}  // namespace omen::host::exchange

#endif  // OMEN_HOST_SRC_EXCHANGE_HPP
