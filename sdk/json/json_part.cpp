// SPDX-License-Identifier: Apache-2.0
// Checked reading of JSON.
#include "omen/json/json_part.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <omen/error.hpp>
#include <omen/join.hpp>

namespace omen {

using nlohmann::json;

JsonPart::JsonPart(const json& document, std::string source, std::string hint,
                   const std::set<std::string>& known)
    : JsonPart(document, std::move(source), std::move(hint), "", known) {}

JsonPart::JsonPart(const json& value, std::string source, std::string hint, std::string path,
                   const std::set<std::string>& known)
    : value_(value), source_(std::move(source)), hint_(std::move(hint)), path_(std::move(path)) {
  if (!value.is_object()) fail("", "is not an object");
  for (const auto& item : value.items())
    if (known.count(item.key()) == 0) fail(item.key(), "is not known; known are " + join(known));
}

bool JsonPart::has(const char* key) const {
  return value_.contains(key);
}

const json& JsonPart::at(const char* key) const {
  const auto found = value_.find(key);
  if (found == value_.end()) fail(key, "is missing");
  return *found;
}

JsonPart JsonPart::part(const char* key, const std::set<std::string>& known) const {
  return part_at(at(key), place(key), known);
}

JsonPart JsonPart::part_at(const json& value, std::string path,
                           const std::set<std::string>& known) const {
  return {value, source_, hint_, std::move(path), known};
}

double JsonPart::number(const char* key, double low, double high) const {
  return checked(at(key), key, low, high);
}

double JsonPart::number(const char* key, double low, double high, double otherwise) const {
  return has(key) ? number(key, low, high) : otherwise;
}

std::vector<double> JsonPart::numbers(const char* key, double low, double high,
                                      std::size_t most) const {
  const json& list = at(key);
  if (!list.is_array() || list.empty() || list.size() > most)
    fail(key, "is not a list of 1 to " + std::to_string(most) + " numbers");
  std::vector<double> values;
  for (const json& value : list) values.push_back(checked(value, key, low, high));
  return values;
}

std::int64_t JsonPart::count(const char* key) const {
  return whole(at(key), key, 1);
}

std::int64_t JsonPart::count(const char* key, std::int64_t otherwise, std::int64_t least,
                             std::int64_t most) const {
  return has(key) ? whole(at(key), key, least, most) : otherwise;
}

std::pair<std::int64_t, std::int64_t> JsonPart::pair(const char* key, std::int64_t otherwise,
                                                     std::int64_t least) const {
  if (!has(key)) return {otherwise, otherwise};
  const json& value = at(key);
  if (!value.is_array()) {
    const std::int64_t both = whole(value, key, least);
    return {both, both};
  }
  if (value.size() != 2) fail(key, "is neither a number nor a list of two");
  return {whole(value[0], key, least), whole(value[1], key, least)};
}

bool JsonPart::flag(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!at(key).is_boolean()) fail(key, "is neither true nor false");
  return at(key).get<bool>();
}

std::string JsonPart::text(const char* key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::string JsonPart::text(const char* key) const {
  if (!at(key).is_string()) fail(key, "is not a string");
  return at(key).get<std::string>();
}

void JsonPart::fail(const std::string& key, const std::string& what) const {
  const std::string where = key.empty() ? path_ : place(key);
  throw Error(OMEN_INVALID_DATA,
              source_ + ": " + (where.empty() ? "the document" : where) + " " + what, hint_);
}

std::string JsonPart::place(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

double JsonPart::checked(const json& value, const char* key, double low, double high) const {
  if (!value.is_number()) fail(key, "is not a number");
  const double number = value.get<double>();
  if (!(number >= low && number <= high)) {
    char text[96];
    std::snprintf(text, sizeof text, "is %g; allowed are %g to %g", number, low, high);
    fail(key, text);
  }
  return number;
}

std::int64_t JsonPart::whole(const json& value, const char* key, std::int64_t least,
                             std::int64_t most) const {
  const double number = checked(value, key, static_cast<double>(least), static_cast<double>(most));
  if (number != std::floor(number)) fail(key, "is not a whole number");
  return static_cast<std::int64_t>(number);
}

json parse_json(const std::string& text, const std::string& source) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    // The library says where in the middle of its message: "... at line 3, column 7: ...".
    const std::string what = error.what();
    const std::size_t from = what.find("at line"), to = what.find(':', from);
    const std::string where = from == std::string::npos ? "" : " " + what.substr(from, to - from);
    throw Error(OMEN_INVALID_DATA, source + ": not valid JSON" + where,
                "Check the file there for a missing comma, quote or bracket.");
  }
}

}  // namespace omen
