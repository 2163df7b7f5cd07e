// SPDX-License-Identifier: Apache-2.0
// sha256 through libcrypto's EVP interface. The library is opened by the first digest: its
// relocations cost more than all else that a short command does.
#include <dlfcn.h>
#include <openssl/evp.h>
#include <openssl/opensslv.h>

#include <array>
#include <cstdio>

#include "hash.hpp"
#include "omen/container.hpp"

namespace omen::container {
namespace {

#define OMEN_TEXT_OF(macro) OMEN_TEXT(macro)
#define OMEN_TEXT(text) #text
constexpr const char* kLibrary = "libcrypto.so." OMEN_TEXT_OF(OPENSSL_SHLIB_VERSION);

// The functions in use, found once and kept for ever.
struct Crypto {
  decltype(&EVP_MD_CTX_new) context_new;
  decltype(&EVP_MD_CTX_free) context_free;
  decltype(&EVP_sha256) sha256;
  decltype(&EVP_DigestInit_ex) init;
  decltype(&EVP_DigestUpdate) update;
  decltype(&EVP_DigestFinal_ex) finish;

  static const Crypto& get() {
    static const Crypto crypto = open();
    return crypto;
  }

 private:
  static Crypto open() {
    void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw Error(
          OMEN_UNAVAILABLE,
          std::string("digests need ") + kLibrary + ", which cannot be opened: " + dlerror(),
          "Install the package libssl3.");
    Crypto crypto{};
    find(library, "EVP_MD_CTX_new", crypto.context_new);
    find(library, "EVP_MD_CTX_free", crypto.context_free);
    find(library, "EVP_sha256", crypto.sha256);
    find(library, "EVP_DigestInit_ex", crypto.init);
    find(library, "EVP_DigestUpdate", crypto.update);
    find(library, "EVP_DigestFinal_ex", crypto.finish);
    return crypto;
  }
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function)
      throw Error(OMEN_UNAVAILABLE, std::string(kLibrary) + " has no function " + name);
  }
};

void require(int ok) {
  if (ok != 1) throw Error(OMEN_INTERNAL, "libcrypto cannot compute sha256");
}

EVP_MD_CTX* raw(const std::shared_ptr<void>& context) {
  return static_cast<EVP_MD_CTX*>(context.get());
}

}  // namespace

Sha256::Sha256()
    : context_(Crypto::get().context_new(),
               [](void* c) { Crypto::get().context_free(static_cast<EVP_MD_CTX*>(c)); }) {
  if (!context_) throw std::bad_alloc();
  require(Crypto::get().init(raw(context_), Crypto::get().sha256(), nullptr));
}

void Sha256::update(const void* bytes, std::size_t size) {
  require(Crypto::get().update(raw(context_), bytes, size));
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned length = 0;
  require(Crypto::get().finish(raw(context_), digest.data(), &length));
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
