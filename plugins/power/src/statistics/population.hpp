// SPDX-License-Identifier: Apache-2.0
// Networks on accelerators with what was measured or simulated of them, from any table.
#pragma once

#include <limits>
#include <map>
#include <omen/table.hpp>
#include <string>
#include <vector>

#include "tables/own_tables.hpp"

namespace omen::power {

struct NetFacts {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::string name;
  double flops = kUnknown, weights = kUnknown, depth = kUnknown;  // depth: layers that multiply
};

struct Population {
  std::vector<NetFacts> nets;
  std::vector<std::size_t> net;   // of each row
  std::vector<std::string> part;  // of each row, such as train and test; "all" where none is said
  struct Parameter {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Parameter> parameters;  // of the accelerators; choices as one column for each word
  // Watts by the names of their columns; not a number where a row has none.
  std::map<std::string, std::vector<double>> watts, predicted;

  std::size_t rows() const { return net.size(); }
};

// Columns of numbers where every field is one, else of texts. OMEN_INVALID_DATA with the line.
Table parse_csv(const std::string& text, const std::string& source);

// OMEN_INVALID_DATA where no column of watts is there.
Population population_of(const NamedTables& tables);
// Takes predicted watts by workload_id, or row by row where there is none.
void add_predictions(Population& population, const NamedTables& asked, const Table& predicted);

}  // namespace omen::power
