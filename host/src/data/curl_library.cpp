// SPDX-License-Identifier: Apache-2.0
// Opens libcurl, so that only a download pays for it and omen does not depend on it.
#include "data/curl_library.hpp"

#include <dlfcn.h>

#include <string>

#include "omen/error.hpp"

namespace omen::host::curl {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw Error(OMEN_UNAVAILABLE, std::string("libcurl has no function ") + name,
                "Install the package libcurl4.");
}

Library open() {
  void* handle = nullptr;
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if (!handle) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Error(OMEN_UNAVAILABLE,
                std::string("downloads need libcurl.so.4, which cannot be opened: ") + dlerror(),
                "Install the package libcurl4.");
  Library library{};
  find(handle, "curl_global_init", library.global_init);
  find(handle, "curl_easy_init", library.easy_init);
  find(handle, "curl_easy_cleanup", library.easy_cleanup);
  find(handle, "curl_easy_setopt", library.easy_setopt);
  find(handle, "curl_easy_perform", library.easy_perform);
  find(handle, "curl_easy_getinfo", library.easy_getinfo);
  find(handle, "curl_easy_strerror", library.easy_strerror);
  find(handle, "curl_slist_append", library.slist_append);
  find(handle, "curl_slist_free_all", library.slist_free_all);
  constexpr long kEverything = 3;
  if (library.global_init(kEverything) != kOk)
    throw Error(OMEN_UNAVAILABLE, "libcurl cannot be initialised");
  return library;
}

}  // namespace

const Library& library() {
  static const Library opened = open();
  return opened;
}

}  // namespace omen::host::curl
