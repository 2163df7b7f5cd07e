// SPDX-License-Identifier: Apache-2.0
// Checks a JSON document on stdin against a schema file: prints "ok", or every place that differs.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  throw std::runtime_error("schema names the unknown type '" + type + "'");
}

class Checker {
 public:
  void check(const json& schema, const json& value, const std::string& place) {
    for (const auto& [word, rule] : schema.items()) {
      if (word == "type")
        check_type(rule, value, place);
      else if (word == "const")
        expect(value == rule, place, "is not " + rule.dump());
      else if (word == "enum")
        expect(std::find(rule.begin(), rule.end(), value) != rule.end(), place,
               "is none of " + rule.dump());
      else if (word == "required")
        check_required(rule, value, place);
      else if (word == "properties")
        check_properties(rule, value, place);
      else if (word == "additionalProperties")
        check_additional(schema, rule, value, place);
      else if (word == "items")
        check_items(rule, value, place);
      else if (word != "$schema" && word != "title" && word != "description")
        throw std::runtime_error("schema uses '" + word + "', which this checker does not know");
    }
  }
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  void expect(bool good, const std::string& place, const std::string& fault) {
    if (!good) faults_.push_back((place.empty() ? "the document" : place) + " " + fault);
  }
  void check_type(const json& rule, const json& value, const std::string& place) {
    bool good = rule.is_string() && has_type(value, rule.get<std::string>());
    if (rule.is_array())
      for (const auto& type : rule) good |= has_type(value, type.get<std::string>());
    expect(good, place, "is not of type " + rule.dump());
  }
  void check_required(const json& rule, const json& value, const std::string& place) {
    if (!value.is_object()) return;
    for (const auto& name : rule)
      expect(value.contains(name.get<std::string>()), place, "has no " + name.dump());
  }
  void check_properties(const json& rule, const json& value, const std::string& place) {
    if (!value.is_object()) return;
    for (const auto& [name, schema] : rule.items())
      if (value.contains(name)) check(schema, value[name], place + "/" + name);
  }
  void check_additional(const json& schema, const json& rule, const json& value,
                        const std::string& place) {
    if (!value.is_object()) return;
    const json known = schema.value("properties", json::object());
    for (const auto& [name, member] : value.items()) {
      if (known.contains(name)) continue;
      if (rule.is_boolean())
        expect(rule.get<bool>(), place, "has the unknown member '" + name + "'");
      else
        check(rule, member, place + "/" + name);
    }
  }
  void check_items(const json& rule, const json& value, const std::string& place) {
    if (!value.is_array()) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      check(rule, value[i], place + "/" + std::to_string(i));
  }

  std::vector<std::string> faults_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s SCHEMA < DOCUMENT\n", argv[0]);
    return 2;
  }
  try {
    std::ifstream file(argv[1]);
    const json schema = json::parse(file);
    const json document = json::parse(std::cin);
    Checker checker;
    checker.check(schema, document, "");
    for (const std::string& fault : checker.faults()) std::printf("%s\n", fault.c_str());
    if (checker.faults().empty()) std::printf("ok\n");
    return checker.faults().empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", argv[1], error.what());
    return 1;
  }
}
