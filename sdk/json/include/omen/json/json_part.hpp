// SPDX-License-Identifier: Apache-2.0
// An object of a description that must know each of its keys; complaints name their place.
#ifndef OMEN_JSON_JSON_PART_HPP
#define OMEN_JSON_JSON_PART_HPP

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace omen {

// The JSON of a file; what cannot be parsed is an error that says where.
nlohmann::json parse_json(const std::string& text, const std::string& source);

class JsonPart {
 public:
  static constexpr std::int64_t kMostCount = 1 << 24;

  // A whole document; `hint` tells the reader of an error where its form is described. Values are
  // borrowed.
  JsonPart(const nlohmann::json& document, std::string source, std::string hint,
           const std::set<std::string>& known);

  bool has(const char* key) const;
  const nlohmann::json& at(const char* key) const;
  JsonPart part(const char* key, const std::set<std::string>& known) const;
  // A value of the same document that stands at `path`, such as an element of a list.
  JsonPart part_at(const nlohmann::json& value, std::string path,
                   const std::set<std::string>& known) const;
  double number(const char* key, double low, double high) const;
  double number(const char* key, double low, double high, double otherwise) const;
  std::vector<double> numbers(const char* key, double low, double high, std::size_t most) const;
  std::int64_t count(const char* key) const;
  std::int64_t count(const char* key, std::int64_t otherwise, std::int64_t least = 1,
                     std::int64_t most = kMostCount) const;
  // One number for both directions, or a list of two.
  std::pair<std::int64_t, std::int64_t> pair(const char* key, std::int64_t otherwise,
                                             std::int64_t least = 1) const;
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key) const;
  std::string text(const char* key, const std::string& otherwise) const;
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;
  const std::string& source() const { return source_; }
  const std::string& path() const { return path_; }

 private:
  JsonPart(const nlohmann::json& value, std::string source, std::string hint, std::string path,
           const std::set<std::string>& known);
  std::string place(const std::string& key) const;
  double checked(const nlohmann::json& value, const char* key, double low, double high) const;
  std::int64_t whole(const nlohmann::json& value, const char* key, std::int64_t least,
                     std::int64_t most = kMostCount) const;

  const nlohmann::json& value_;
  std::string source_, hint_, path_;
};

}  // namespace omen

#endif  // OMEN_JSON_JSON_PART_HPP
