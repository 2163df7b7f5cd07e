// SPDX-License-Identifier: Apache-2.0
// Tells the forms apart.
#include "nets/net_source.hpp"

#include <filesystem>

#include "nets/mobile_names.hpp"
#include "nets/nets_json.hpp"
#include "nets/text_file.hpp"
#include "nets/topology_csv.hpp"

namespace omen::power {

std::vector<Net> read_nets(const std::string& path_or_name) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_or_name, ignored))
    if (auto net = mobile_net(path_or_name)) return {std::move(*net)};
  const std::string text = read_text_file(path_or_name), source = file_name(path_or_name);
  if (is_topology(text)) return {parse_topology(text, source)};
  return parse_nets(text, source);
}

}  // namespace omen::power
