// SPDX-License-Identifier: Apache-2.0
// Reads the pickle of torch.save as data: names what it would call, and calls nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omen::torch_kit {

// A value of a pickle. Containers are shared, as a pickle may refer to them again.
struct PickleValue {
  enum class Kind {
    kNone,
    kInteger,  // also booleans
    kReal,
    kText,
    kSequence,  // tuples and lists
    kMapping,   // dictionaries, ordered or not
    kGlobal,    // "module name" of a function or class
    kCall,      // items[0] is the global, items[1] its arguments
    kStored,    // a reference outside of the pickle: items[0] is its id
  };
  using Ref = std::shared_ptr<PickleValue>;

  Kind kind = Kind::kNone;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Ref> items;
  std::vector<std::pair<Ref, Ref>> entries;
};

// OMEN_INVALID_DATA for a pickle that is cut off or uses what torch.save does not write.
PickleValue::Ref read_pickle(std::string_view bytes);

}  // namespace omen::torch_kit
