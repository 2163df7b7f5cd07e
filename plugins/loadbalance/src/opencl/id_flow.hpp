// SPDX-License-Identifier: Apache-2.0
// Which values of a kernel depend on the ids of work-items.
#pragma once

#include <map>
#include <vector>

namespace llvm {
class CallBase;
class Function;
class Instruction;
class PHINode;
class Value;
}  // namespace llvm

namespace omen::loadbalance {

// What a value depends on.
constexpr unsigned kGroupBits = 7;   // bit d: the group or the global id in dimension d
constexpr unsigned kLocalBit = 8;    // the place within the group
constexpr unsigned kDataBit = 16;    // something that was loaded
constexpr unsigned kFoldedBit = 32;  // several ids may give the same value

class IdFlow {
 public:
  explicit IdFlow(llvm::Function& kernel);

  // The bits of a value; 0: it is the same for everyone.
  unsigned of(const llvm::Value* value) const;

 private:
  bool remember(const llvm::Value* pointer, unsigned stored);
  unsigned bits_of(const llvm::Instruction& instruction) const;
  unsigned bits_of_call(const llvm::CallBase& call) const;

  std::map<const llvm::Value*, unsigned> bits_, contents_;
  std::map<const llvm::PHINode*, std::vector<const llvm::Value*>> deciders_;
};

}  // namespace omen::loadbalance
