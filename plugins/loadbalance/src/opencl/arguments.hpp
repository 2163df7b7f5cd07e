// SPDX-License-Identifier: Apache-2.0
// What a kernel wants to be called with, and the arguments that are made for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opencl/bound.hpp"
#include "opencl/launch.hpp"

namespace omen::loadbalance {

enum class ParameterKind : std::uint8_t { kBuffer, kLocal, kValue, kUnsupported };
enum class ScalarKind : std::uint8_t { kSigned, kUnsigned, kFloat, kOpaque };

struct Parameter {
  std::string name, type;  // as the source says
  ParameterKind kind = ParameterKind::kValue;
  ScalarKind scalar = ScalarKind::kOpaque;  // of the value, or of what the pointer points to
  std::size_t scalar_bytes = 1;             // of one scalar
  std::size_t bytes = 1;                    // of the value, or of one element of the buffer
  bool constant = false;                    // the kernel cannot write it
  std::vector<Bound> reach = {};            // where accesses end, in bytes from its start
};

struct Signature {
  std::string kernel;
  std::vector<Parameter> parameters;
  std::array<std::size_t, 3> required_group{};  // zeros: none
};

struct Argument {
  ParameterKind kind = ParameterKind::kValue;
  std::vector<unsigned char> bytes;  // the value, or the first contents of the buffer
  std::size_t local_bytes = 0;
  bool made = false;    // from the signature, not from the user
  std::string meaning;  // for people: "1048576 x float, random"
};

struct ArgumentRequest {
  LaunchRange range;
  std::vector<std::string>
      given;                    // "i=VALUE", "i=buffer:BYTES[:file|zero|random]", "i=local:BYTES"
  std::size_t input_bytes = 0;  // of all buffers that are made; 0: by the range
  std::uint64_t seed = 0;
};

// One argument for each parameter. Buffers that are not given hold one element for each work-item,
// and as much as the kernel is known to reach where that is below kMostReached; whole numbers are
// set to the size of the range in the dimension that their name speaks of. OMEN_INVALID_ARGUMENT
// for a text that does not fit, OMEN_UNSUPPORTED for images and the like.
inline constexpr std::size_t kMostReached = std::size_t{1} << 30;
std::vector<Argument> make_arguments(const Signature& signature, const ArgumentRequest& request);

// The value of an argument that is one whole number; nothing for others.
std::optional<std::int64_t> whole_number(const Parameter& parameter, const Argument& argument);

// Bytes of all buffers that they would have; what the kernel reaches counts however much it is.
double wanted_bytes(const Signature& signature, const ArgumentRequest& request);

}  // namespace omen::loadbalance
