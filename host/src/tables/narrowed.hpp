// SPDX-License-Identifier: Apache-2.0
// Some columns of a table without a look at their names or a copy of their values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "omen/table.hpp"

namespace omen::host {

// A struct of Arrow whose children are some of those of another, which it owns.
template <class Arrow>
struct Narrowed {
  Arrow inner{};
  std::vector<Arrow*> children;

  static Arrow make(std::unique_ptr<Narrowed> held, const std::vector<std::size_t>& kept) {
    for (const std::size_t c : kept) held->children.push_back(held->inner.children[c]);
    Arrow outer = held->inner;
    outer.n_children = static_cast<std::int64_t>(held->children.size());
    outer.children = held->children.data();
    outer.private_data = held.release();
    outer.release = [](Arrow* arrow) {
      const std::unique_ptr<Narrowed> own(static_cast<Narrowed*>(arrow->private_data));
      own->inner.release(&own->inner);
      arrow->release = nullptr;
    };
    return outer;
  }
};

}  // namespace omen::host
