// SPDX-License-Identifier: Apache-2.0
// Tables of any bytes: a complaint, or cells that can all be read as text or number.
// needs: interference_core
// covers: plugins/interference/src/tables/csv_text.cpp
#include <cstdint>
#include <cstdlib>
#include <string>

#include "omen/error.hpp"
#include "tables/csv_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omen;
  using namespace omen::interference;
  try {
    const CsvText csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
    for (std::size_t row = 0; row < csv.rows(); ++row)
      for (std::size_t column = 0; column < csv.header().size(); ++column) {
        if (csv.text(row, column).size() > size) std::abort();
        csv.number(row, column);
      }
  } catch (const Error& error) {
    if (std::string(error.what()).find("fuzz.csv") == std::string::npos) std::abort();
  }
  return 0;
}
