// SPDX-License-Identifier: Apache-2.0
// sha256 through libcrypto's EVP interface.
#include <openssl/evp.h>

#include <array>
#include <cstdio>

#include "hash.hpp"
#include "omen/container.hpp"

namespace omen::container {
namespace {

void require(int ok) {
  if (ok != 1) throw Error(OMEN_INTERNAL, "libcrypto cannot compute sha256");
}

EVP_MD_CTX* raw(const std::shared_ptr<void>& context) {
  return static_cast<EVP_MD_CTX*>(context.get());
}

}  // namespace

Sha256::Sha256()
    : context_(EVP_MD_CTX_new(), [](void* c) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(c)); }) {
  if (!context_) throw std::bad_alloc();
  require(EVP_DigestInit_ex(raw(context_), EVP_sha256(), nullptr));
}

void Sha256::update(const void* bytes, std::size_t size) {
  require(EVP_DigestUpdate(raw(context_), bytes, size));
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned length = 0;
  require(EVP_DigestFinal_ex(raw(context_), digest.data(), &length));
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256(const void* bytes, std::size_t size) {
  Sha256 hash;
  hash.update(bytes, size);
  return hash.finish();
}

std::string sha256_file(const std::filesystem::path& path) {
  const auto fail = [&path] {
    throw Error(OMEN_IO, "cannot read '" + path.string() + "': " + std::strerror(errno),
                "Check the path and its permissions.");
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                       std::fclose);
  if (!file) fail();
  Sha256 hash;
  std::vector<char> buffer(std::size_t{1} << 18);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    hash.update(buffer.data(), count);
  if (std::ferror(file.get())) fail();
  return hash.finish();
}

}  // namespace omen::container
