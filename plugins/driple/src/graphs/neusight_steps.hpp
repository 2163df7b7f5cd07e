// SPDX-License-Identifier: Apache-2.0
// Steps of transformers as NeuSight timed them (doi:10.1145/3669940.3707265), from its tables.
#pragma once

#include <map>
#include <omen/opgraph/op_graph.hpp>
#include <omen/opgraph/transformer.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace omen::driple {

// A table whose first line names the columns.
class NamedCells {
 public:
  // `where` names the text in errors.
  NamedCells(std::string_view text, std::string where);
  std::size_t rows() const { return rows_.size(); }
  // OMEN_INVALID_DATA where there is no such column.
  const std::string& cell(std::size_t row, const std::string& column) const;

 private:
  std::string where_;
  std::map<std::string, std::size_t> place_;
  std::vector<std::vector<std::string>> rows_;
};

// Configurations by the names of the models.
std::map<std::string, opgraph::TransformerConfig> neusight_models(const NamedCells& models);

// One step: loss and optimizer stand outside of what was timed, gradients are added to older ones.
opgraph::Job neusight_job(const opgraph::TransformerConfig& config, bool training,
                          std::int64_t batch, std::int64_t length);

}  // namespace omen::driple
