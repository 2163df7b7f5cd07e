// SPDX-License-Identifier: Apache-2.0
// Grids of jobs: named lists of values, and commands with places for them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace omen::driple {

struct Dimension {
  std::string name;
  std::vector<std::string> values;
};

// One value of every dimension, in their order.
using Point = std::vector<std::pair<std::string, std::string>>;

class Grid {
 public:
  // `model=vgg11,resnet50 batch=8,16`, separated by blanks, semicolons or lines; or the name of a
  // file that holds such lines, where # begins a comment. OMEN_INVALID_ARGUMENT with the part that
  // is wrong; a grid has at most a million points.
  static Grid parse(const std::string& text_or_file);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  std::size_t size() const;
  // The last dimension changes fastest.
  Point point(std::size_t index) const;

 private:
  void add(const std::string& part);
  std::vector<Dimension> dimensions_;
};

// A name for files: values joined by underscores, with what a file name should not hold replaced.
std::string point_name(const Point& point);

// Words with every {name} replaced. OMEN_INVALID_ARGUMENT where a name is not among `values`.
std::vector<std::string> filled_in(const std::vector<std::string>& words,
                                   const std::map<std::string, std::string>& values);

}  // namespace omen::driple
