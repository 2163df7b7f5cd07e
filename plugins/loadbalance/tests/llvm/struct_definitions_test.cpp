// SPDX-License-Identifier: Apache-2.0
// Structures are written out with their members.
#include "llvm/struct_definitions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llvm/read_module.hpp"

namespace omen::loadbalance {
namespace {

TEST(StructDefinitions, WriteMembersOut) {
  const IrModule module = read_module(
      "%pair = type { i32, %inner* }\n"
      "%inner = type <{ [2 x float], void (%pair*, ...)* }>\n"
      "%list = type { %list*, <4 x i8> }\n"
      "%\"a b\" = type opaque\n"
      "define void @f(%pair* %p, %list* %l, %\"a b\"* %o) { ret void }\n",
      "s.ll");
  EXPECT_THAT(struct_definitions(module.get()),
              testing::IsSupersetOf(
                  StructDefinitions{{"%pair", "{ i32, <{ [2 x float], void (opaque*, ...)* }>* }"},
                                    {"%list", "{ opaque*, <4 x i8> }"},
                                    {"%\"a b\"", "opaque"}}));
}

TEST(StructDefinitions, StopWhereTheyWouldExplode) {
  std::string text = "%s0 = type { i32 }\n";
  for (int i = 1; i < 40; ++i) {
    const std::string inner = "%s" + std::to_string(i - 1);
    text += "%s" + std::to_string(i) + " = type { " + inner + "*, " + inner + "* }\n";
  }
  text += "define void @f(%s39* %p) { ret void }\n";
  const IrModule module = read_module(text, "s.ll");
  for (const auto& [name, definition] : struct_definitions(module.get()))
    EXPECT_LT(definition.size(), 100000u) << name;
}

}  // namespace
}  // namespace omen::loadbalance
