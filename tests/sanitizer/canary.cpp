// SPDX-License-Identifier: Apache-2.0
// Commits one mistake on purpose; a sanitizer build in which it goes unnoticed proves nothing.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace {

// Volatile keeps the compiler from seeing through the mistakes.
volatile int zero = 0;
int shared_counter = 0;

int overflow_heap() {
  char* bytes = static_cast<char*>(std::malloc(8));
  std::memset(bytes, 1, 8);
  const int value = bytes[8 + zero];
  std::free(bytes);
  return value;
}

int overflow_int() {
  int value = 2147483647 - zero;
  value += 1;
  return value;
}

int leak() {
  void* volatile lost = std::malloc(64);
  lost = nullptr;
  return lost == nullptr ? 0 : 1;
}

int race() {
  const auto count = [] {
    for (int i = 0; i < 100000; ++i) ++shared_counter;
  };
  std::thread first(count);
  std::thread second(count);
  first.join();
  second.join();
  return shared_counter > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "heap") return overflow_heap();
  if (what == "undefined") return overflow_int() == 0 ? 1 : 0;
  if (what == "leak") return leak();
  if (what == "race") return race();
  std::fprintf(stderr, "usage: %s heap|undefined|leak|race\n", argv[0]);
  return 2;
}
