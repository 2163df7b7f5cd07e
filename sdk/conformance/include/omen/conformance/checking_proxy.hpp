// SPDX-License-Identifier: Apache-2.0
// Wraps an object of a component and names whoever breaks the contract: plugin or host.
#ifndef OMEN_CONFORMANCE_CHECKING_PROXY_HPP
#define OMEN_CONFORMANCE_CHECKING_PROXY_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "omen/abi.h"
#include "omen/error.hpp"

namespace omen::conformance {

enum class Rule {
  kStreamNotReleased,  // an input stream was still open when the call and its outputs were over
  kOutOnFailure,       // an out-parameter was written although the slot failed
  kNoStream,           // OMEN_OK without the stream or object that was promised
  kException,          // a C++ exception crossed the boundary
  kErrorText,          // a failure without a message, or a message with OMEN_OK
  kStructSize,         // a sized struct that is too small for what it must hold
  kAfterTheCall,       // inputs of a call used after the call and its outputs were over
  kProgress,           // progress that is not a number or beyond 1
  kSerial,             // two slots of one object at once
  kDestroy             // destroyed twice, or with a stream open
};

struct Finding {
  Rule rule;
  bool by_plugin;  // otherwise by the host
  std::string
      text;  // "plugin misbehaving: mine.mean returned OMEN_OK from predict without a stream"
};

// What proxies noticed; shared by all objects that are checked together. [any-thread]
class Findings {
 public:
  using Report = std::function<void(const Finding&)>;
  // `report` hears each finding as it is made, for a log.
  explicit Findings(Report report = {}) : report_(std::move(report)) {}
  void add(Rule rule, bool by_plugin, const std::string& text);
  std::vector<Finding> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Finding> found_;
  Report report_;
};

// An object behind a table that checks every call; destroy it through `vt`.
template <class Vt>
struct CheckedObject {
  const Vt* vt = nullptr;
  omen_object* object = nullptr;
};

struct CheckedComponent {
  std::string id;
  std::uint64_t caps = 0;
};

// Calls `create` of the component's own table and wraps what comes out; throws what create reports.
// Defined for the five tables of abi.h.
template <class Vt>
CheckedObject<Vt> checked_create(const Vt& vt, const CheckedComponent& component,
                                 const omen_option* options, std::size_t count,
                                 std::shared_ptr<Findings> findings);

// omen.observe/1 of the plugin on a predictor that checked_create made.
omen_status checked_observe(const omen_observe_ext& extension, omen_object* predictor,
                            const omen_run* run, const omen_dataset* measured, omen_error* error);

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_CHECKING_PROXY_HPP
