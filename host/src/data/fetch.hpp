// SPDX-License-Identifier: Apache-2.0
// Downloads over HTTPS: resumed where they stopped, checked by digest, put in place in one step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace omen::host {

struct FetchPlan {
  std::string url;
  std::filesystem::path target;
  std::string sha256;  // empty: nothing to compare with
  int attempts = 5;    // in a row without a new byte
};

struct FetchHooks {
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // total 0: unknown
  std::function<bool()> is_cancelled;
};

struct FetchResult {
  std::string sha256;
  std::uint64_t bytes = 0;    // of the file
  std::uint64_t resumed = 0;  // bytes that were here already
};

// What arrives is kept in `<target>.part` until it is whole, also across runs. Plain http is taken
// from this machine, or with a digest. libcurl is opened by the first call.
// OMEN_UNAVAILABLE without libcurl, OMEN_NOT_FOUND for what the server does not have, OMEN_IO for a
// server or network that fails, OMEN_INVALID_DATA for another digest: `target` is then untouched.
FetchResult fetch_file(const FetchPlan& plan, const FetchHooks& hooks = {});

}  // namespace omen::host
