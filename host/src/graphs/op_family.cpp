// SPDX-License-Identifier: Apache-2.0
// The family of an operation, from parts of its name.
#include <cctype>
#include <string>

#include "graphs/graph_output.hpp"

namespace omen::host {

OpFamily op_family(std::string_view op) {
  struct Word {
    const char* part;
    OpFamily family;
  };
  using enum OpFamily;
  // First match wins, so the special names stand before the short ones that they contain.
  static constexpr Word kWords[] = {{"batchnorm", kReduce},    {"layernorm", kReduce},
                                    {"norm", kReduce},         {"softmax", kReduce},
                                    {"pool", kReduce},         {"reduce", kReduce},
                                    {"mean", kReduce},         {"argmax", kReduce},
                                    {"cumsum", kReduce},       {"conv", kCompute},
                                    {"matmul", kCompute},      {"gemm", kCompute},
                                    {"dense", kCompute},       {"linear", kCompute},
                                    {"einsum", kCompute},      {"attention", kCompute},
                                    {"lstm", kCompute},        {"gru", kCompute},
                                    {"fma", kCompute},         {"biasadd", kElementwise},
                                    {"addn", kElementwise},    {"getelementptr", kMemory},
                                    {"load", kMemory},         {"store", kMemory},
                                    {"alloca", kMemory},       {"memcpy", kMemory},
                                    {"gather", kMemory},       {"scatter", kMemory},
                                    {"concat", kMemory},       {"reshape", kMemory},
                                    {"transpose", kMemory},    {"slice", kMemory},
                                    {"split", kMemory},        {"pad", kMemory},
                                    {"pack", kMemory},         {"squeeze", kMemory},
                                    {"expanddims", kMemory},   {"tile", kMemory},
                                    {"flatten", kMemory},      {"copy", kMemory},
                                    {"embedding", kMemory},    {"const", kData},
                                    {"placeholder", kData},    {"variable", kData},
                                    {"param", kData},          {"input", kData},
                                    {"identity", kData},       {"output", kData},
                                    {"switch", kControl},      {"while", kControl},
                                    {"loop", kControl},        {"branch", kControl},
                                    {"merge", kControl},       {"ret", kControl},
                                    {"phi", kControl},         {"call", kControl},
                                    {"barrier", kControl},     {"select", kControl},
                                    {"relu", kElementwise},    {"sigmoid", kElementwise},
                                    {"tanh", kElementwise},    {"gelu", kElementwise},
                                    {"add", kElementwise},     {"sub", kElementwise},
                                    {"mul", kElementwise},     {"div", kElementwise},
                                    {"rem", kElementwise},     {"exp", kElementwise},
                                    {"log", kElementwise},     {"sqrt", kElementwise},
                                    {"pow", kElementwise},     {"max", kElementwise},
                                    {"min", kElementwise},     {"cmp", kElementwise},
                                    {"cast", kElementwise},    {"ext", kElementwise},
                                    {"trunc", kElementwise},   {"shl", kElementwise},
                                    {"shr", kElementwise},     {"xor", kElementwise},
                                    {"dropout", kElementwise}, {"sum", kReduce}};
  std::string lower;
  for (const char c : op)
    if (c != '_') lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "br") return kControl;
  if (lower == "and" || lower == "or") return kElementwise;
  for (const Word& word : kWords)
    if (lower.find(word.part) != std::string::npos) return word.family;
  return kOther;
}

}  // namespace omen::host
