// SPDX-License-Identifier: Apache-2.0
// Reads a JSON document field by field; every complaint names the field. Heavy to compile: for the
// few files that parse documents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "omen/error.hpp"

namespace omen::host {

// A node of the document that knows its place, so that every complaint can name it; the name is put
// together only then, because a list of plugins reads thousands of nodes. A parent outlives its
// children.
class JsonNode {
 public:
  using json = nlohmann::json;

  explicit JsonNode(const json& root) : value_(&root) {}

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const {
    throw Error(OMEN_INVALID_DATA, (parent_ ? "field '" + path() + "' " : "the document ") + what,
                hint);
  }
  const json& value() const noexcept { return *value_; }
  const json& expect_object() const {
    if (!value_->is_object()) fail("is not an object");
    return *value_;
  }
  bool has(const char* key) const { return find(key) != nullptr; }
  JsonNode at(const char* key) const {
    const json* found = find(key);
    if (!found) JsonNode(nullptr, this, key).fail("is missing");
    return JsonNode(found, this, key);
  }
  // The items of a list; none where it is absent.
  std::vector<JsonNode> items(const char* key) const {
    std::vector<JsonNode> nodes;
    const json* list = find(key);
    if (!list) return nodes;
    if (!list->is_array()) at(key).fail("is not a list");
    nodes.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i)
      nodes.push_back(JsonNode(&(*list)[i], this, key, i));
    return nodes;
  }
  const std::string& text() const {
    if (!value_->is_string()) fail("is not a string");
    const auto& text = value_->get_ref<const std::string&>();
    if (text.find('\0') != std::string::npos) fail("holds a NUL character");
    return text;
  }
  const std::string& text(const char* key) const { return at(key).text(); }
  std::string text_or(const char* key, const char* otherwise) const {
    return has(key) ? text(key) : otherwise;
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> list;
    for (const JsonNode& item : items(key)) list.push_back(item.text());
    return list;
  }
  // One of a few words.
  std::string choice(const char* key, const std::vector<std::string>& known) const {
    const std::string& word = text(key);
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    if (std::find(known.begin(), known.end(), word) == known.end())
      at(key).fail("is '" + word + "'; known: " + list);
    return word;
  }
  template <class T>
  T natural(const char* key) const {
    const JsonNode node = at(key);
    if (!node.value_->is_number_unsigned() ||
        node.value_->get<std::uint64_t>() > std::numeric_limits<T>::max())
      node.fail("is not a natural number in range");
    return static_cast<T>(node.value_->get<std::uint64_t>());
  }
  template <class T>
  T natural_or(const char* key, T otherwise) const {
    return has(key) ? natural<T>(key) : otherwise;
  }
  double number(const char* key) const {
    const JsonNode node = at(key);
    if (!node.value_->is_number()) node.fail("is not a number");
    return node.value_->get<double>();
  }
  double number_or_nan(const char* key) const {
    return has(key) ? number(key) : std::numeric_limits<double>::quiet_NaN();
  }
  bool flag(const char* key) const {
    if (!has(key)) return false;
    const JsonNode node = at(key);
    if (!node.value_->is_boolean()) node.fail("is neither true nor false");
    return node.value_->get<bool>();
  }
  std::string digest(const char* key) const {
    const std::string& hex = text(key);
    if (hex.size() != 64 || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
      at(key).fail("is not 64 lower-case hexadecimal digits");
    return hex;
  }

 private:
  static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();

  JsonNode(const json* value, const JsonNode* parent, const char* key, std::size_t index = kNoIndex)
      : value_(value), parent_(parent), key_(key), index_(index) {}

  // NULL for a member that is absent or null.
  const json* find(const char* key) const {
    const json& object = expect_object();
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }
  std::string path() const {
    if (!parent_) return {};
    const std::string before = parent_->path();
    return before + (before.empty() ? "" : ".") + key_ +
           (index_ == kNoIndex ? "" : "[" + std::to_string(index_) + "]");
  }

  const json* value_;
  const JsonNode* parent_ = nullptr;
  const char* key_ = "";
  std::size_t index_ = kNoIndex;
};

}  // namespace omen::host
