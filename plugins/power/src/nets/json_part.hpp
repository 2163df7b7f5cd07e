// SPDX-License-Identifier: Apache-2.0
// An object of a description that must know each of its keys; complaints name their place.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

namespace omen::power {

class JsonPart {
 public:
  JsonPart(const nlohmann::json& value, std::string source, std::string path,
           const std::set<std::string>& known);

  bool has(const char* key) const { return value_.contains(key); }
  const nlohmann::json& at(const char* key) const;
  JsonPart part(const char* key, const std::set<std::string>& known) const;
  double number(const char* key, double low, double high) const;
  double number(const char* key, double low, double high, double otherwise) const;
  std::int64_t count(const char* key) const;
  std::int64_t count(const char* key, std::int64_t otherwise, std::int64_t least = 1) const;
  // One number for both directions, or a list of two.
  std::pair<std::int64_t, std::int64_t> pair(const char* key, std::int64_t otherwise,
                                             std::int64_t least = 1) const;
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key, const std::string& otherwise) const;
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;
  const std::string& source() const { return source_; }
  const std::string& path() const { return path_; }

 private:
  std::string place(const std::string& key) const;
  double checked(const nlohmann::json& value, const char* key, double low, double high) const;
  std::int64_t whole(const nlohmann::json& value, const char* key, std::int64_t least) const;

  const nlohmann::json& value_;
  std::string source_, path_;
};

nlohmann::json parse_json(const std::string& text, const std::string& source);

}  // namespace omen::power
