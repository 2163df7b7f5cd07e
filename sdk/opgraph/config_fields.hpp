// SPDX-License-Identifier: Apache-2.0
// Fields of a config.json under any of their names, with bounds, and a list of those nobody asked
// for.
#ifndef OMEN_OPGRAPH_CONFIG_FIELDS_HPP
#define OMEN_OPGRAPH_CONFIG_FIELDS_HPP

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace omen::opgraph {

class ConfigFields {
 public:
  using Names = std::initializer_list<const char*>;

  ConfigFields(const nlohmann::json& object, std::string source);

  // The first name that is there and not null; a number out of its bounds is an error.
  std::optional<std::int64_t> whole(Names names, std::int64_t least, std::int64_t most);
  std::optional<double> real(Names names, double least, double most);
  std::optional<bool> flag(Names names);
  std::optional<std::string> text(Names names);
  std::vector<std::string> texts(Names names);
  const nlohmann::json* object(Names names);

  std::int64_t needed(Names names, std::int64_t least, std::int64_t most);

  // Sentences on fields that were not asked for and are not known to be harmless.
  std::vector<std::string> leftovers() const;

 private:
  const nlohmann::json* find(Names names);
  [[noreturn]] void fail(const std::string& what) const;

  const nlohmann::json& object_;
  std::string source_, found_;
  std::set<std::string> seen_;
};

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_CONFIG_FIELDS_HPP
