// SPDX-License-Identifier: Apache-2.0
// What the checking proxy knows of an object and of each call that is under way.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "omen/abi.h"
#include "omen/conformance/checking_proxy.hpp"

namespace omen::conformance::checking {

struct Proxy {
  CheckedComponent component;
  std::shared_ptr<Findings> findings;
  const void* vt = nullptr;  // the plugin's own table
  omen_object* object = nullptr;
  void (*destroy)(omen_object*) = nullptr;
  std::mutex mutex;
  const char* running = nullptr;  // the slot that runs now
  int concurrent = 0;             // predicts at once, where that is claimed
  int open_outputs = 0;
  bool destroyed = false;
};

// Adds to the findings of the proxy, with the component's name before `text`.
void note(Proxy& proxy, Rule rule, bool by_plugin, const std::string& text);

// One call of a slot: stands in for its inputs, and is over when the slot has returned and every
// stream that it gave out is released.
class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<Proxy> proxy, const char* slot, const omen_run* run);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const omen_run* run() { return real_run_ ? &run_ : nullptr; }
  const omen_dataset* dataset(const omen_dataset* real);
  const omen_tables_out* tables(const omen_tables_out* real);
  // Replaces a stream that the plugin gave out by one that watches it.
  void wrap_output(ArrowArrayStream* stream);
  void finish();  // the slot has returned
  void output_released();

 private:
  struct Input {
    Call* call;
    const omen_dataset* real;
    omen_dataset view{};
  };
  struct OpenTable {  // private_data of an input stream
    std::shared_ptr<Call> call;
    ArrowArrayStream real{};
    std::string table;
  };
  struct Output {  // private_data of an output stream
    std::shared_ptr<Call> call;
    ArrowArrayStream real{};
    std::string thrown = {};  // what the plugin let out of its stream
    // Runs a function of the plugin's stream; an exception becomes a finding and EIO.
    template <class Body>
    int guarded(Body&& body);
  };

  bool used_after(const char* what);
  void watch_input(const std::string& table, ArrowArrayStream* stream);
  void close_if_over();
  void fill_run();

  std::shared_ptr<Proxy> proxy_;
  const char* slot_;
  const omen_run* real_run_;
  omen_run run_{};
  std::deque<Input> inputs_;
  const omen_tables_out* real_tables_ = nullptr;
  omen_tables_out tables_{};

  std::mutex mutex_;  // everything below
  std::multiset<std::string> open_inputs_;
  int open_outputs_ = 0;
  bool returned_ = false;
  bool over_ = false;
};

// Proxies and calls stay for a while after their end, so that late use finds them instead of freed
// memory.
void bury(std::shared_ptr<void> dead);

}  // namespace omen::conformance::checking
