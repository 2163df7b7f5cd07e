// SPDX-License-Identifier: Apache-2.0
// Incremental sha256 for data that does not lie in one piece.
#ifndef OMEN_CONTAINER_HASH_HPP
#define OMEN_CONTAINER_HASH_HPP

#include <cstddef>
#include <memory>
#include <string>

namespace omen::container {

class Sha256 {
 public:
  Sha256();
  void update(const void* bytes, std::size_t size);
  std::string finish();  // lower-case hexadecimal; ends the use of the object

 private:
  std::shared_ptr<void> context_;
};

}  // namespace omen::container

#endif  // OMEN_CONTAINER_HASH_HPP
