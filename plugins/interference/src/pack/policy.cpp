// SPDX-License-Identifier: Apache-2.0
// Memory first, then wishes, then the policy.
#include "pack/policy.hpp"

#include <algorithm>
#include <cstdio>
#include <omen/error.hpp>

namespace omen::interference {
namespace {

struct PolicyName {
  PackPolicy policy;
  const char* name;
};
constexpr PolicyName kPolicyNames[] = {{PackPolicy::kProtect, "protect"},
                                       {PackPolicy::kPack, "pack"},
                                       {PackPolicy::kBalanced, "balanced"},
                                       {PackPolicy::kDeadline, "deadline"}};

// Tenths of a percent.
std::string percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * part);
  return text;
}
std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}
std::string mib(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f MiB", value);
  return text;
}

bool shuns(const QueuedJob& a, const QueuedJob& b) {
  return std::any_of(a.never_with.begin(), a.never_with.end(), [&](const std::string& other) {
    return other == b.name || other == b.family;
  });
}

// Deadlines that are missed when both run together, and when one waits for the other.
int missed(const QueuedJob& a, const QueuedJob& b, const PairTimes& ends) {
  return (a.deadline_s >= 0 && ends.first > a.deadline_s ? 1 : 0) +
         (b.deadline_s >= 0 && ends.second > b.deadline_s ? 1 : 0);
}
int missed_in_turn(const QueuedJob& a, const QueuedJob& b) {
  return std::min(missed(a, b, {a.solo_s, a.solo_s + b.solo_s}),
                  missed(a, b, {a.solo_s + b.solo_s, b.solo_s}));
}

// The reason why the pair may not share at all; empty where it may.
std::string forbidden(const QueuedJob& a, const QueuedJob& b, double capacity_mib,
                      const PackRules& rules) {
  if (shuns(a, b) || shuns(b, a)) return "never to share with " + b.name;
  if (capacity_mib <= 0 || a.memory_mib < 0 || b.memory_mib < 0) return {};
  const double needed = a.memory_mib + b.memory_mib + 2 * rules.context_mib;
  if (needed <= rules.memory_share * capacity_mib) return {};
  return mib(needed) + " do not fit into " + mib(rules.memory_share * capacity_mib);
}

std::string too_slow(const PairVerdict& verdict, const QueuedJob& a, const QueuedJob& b,
                     const PackRules& rules) {
  const auto limit = [&](const QueuedJob& job) {
    return rules.policy == PackPolicy::kProtect || job.is_protected ? rules.cap : rules.hard_cap;
  };
  if (verdict.worst_1 > limit(a))
    return a.name + " could be " + percent(verdict.worst_1) + " slower, the cap is " +
           percent(limit(a));
  if (verdict.worst_2 > limit(b))
    return b.name + " could be " + percent(verdict.worst_2) + " slower, the cap is " +
           percent(limit(b));
  return {};
}

}  // namespace

PackPolicy parse_policy(const std::string& name) {
  for (const PolicyName& known : kPolicyNames)
    if (name == known.name) return known.policy;
  throw Error(OMEN_INVALID_ARGUMENT, "there is no policy '" + name + "'",
              "Known are protect, pack, balanced and deadline.");
}

std::string refuses_alone(const QueuedJob& job, double capacity_mib, const PackRules& rules) {
  if (capacity_mib <= 0 || job.memory_mib < 0) return {};
  const double needed = job.memory_mib + rules.context_mib;
  if (needed <= rules.memory_share * capacity_mib) return {};
  return mib(needed) + " do not fit into " + mib(rules.memory_share * capacity_mib) +
         ", not even alone";
}

std::string unpack_advice(double observed_rho, const Speed& expected) {
  if (!(observed_rho >= 0) || observed_rho >= expected.low) return {};
  return "unpack: runs at " + two_digits(observed_rho) + " of its speed, below the " +
         two_digits(expected.low) + " that was expected at worst";
}

PairVerdict judge_pair(const QueuedJob& a, const QueuedJob& b, const Speed& speed_a,
                       const Speed& speed_b, double capacity_mib, const PackRules& rules) {
  PairVerdict verdict;
  const PairTimes alone{a.solo_s, b.solo_s};
  verdict.expected = pack_pair(alone, {speed_a.mean, speed_b.mean});
  const Packing worst = pack_pair(alone, {speed_a.low, speed_b.low});
  verdict.worst_1 = worst.slowdown_1;
  verdict.worst_2 = worst.slowdown_2;
  const auto refuse = [&](std::string why) {
    verdict.feasible = false;
    verdict.score = -1;
    verdict.reason = std::move(why);
    return verdict;
  };
  if (std::string why = forbidden(a, b, capacity_mib, rules); !why.empty()) return refuse(why);
  if (std::string why = too_slow(verdict, a, b, rules); !why.empty()) return refuse(why);
  const double saving = verdict.expected.saving;
  switch (rules.policy) {
    case PackPolicy::kProtect:
      verdict.score = saving;
      break;
    case PackPolicy::kPack:
      if (speed_a.mean + speed_b.mean <= rules.least_gain)
        return refuse("speeds of " + two_digits(speed_a.mean) + " and " + two_digits(speed_b.mean) +
                      " gain nothing over taking turns");
      verdict.score = saving;
      break;
    case PackPolicy::kBalanced:
      verdict.score = rules.weight * saving / 0.5 - (1 - rules.weight) *
                                                        std::max(verdict.worst_1, verdict.worst_2) /
                                                        rules.hard_cap;
      break;
    case PackPolicy::kDeadline: {
      const int more = missed(a, b, worst.together) - missed_in_turn(a, b);
      if (more > 0) return refuse("would miss " + std::to_string(more) + " more deadlines");
      verdict.score = -more + saving;
      break;
    }
  }
  verdict.reason = "slower by " + percent(verdict.expected.slowdown_1) + " (at most " +
                   percent(verdict.worst_1) + "), " + b.name + " by " +
                   percent(verdict.expected.slowdown_2) + " (at most " + percent(verdict.worst_2) +
                   "); together " + percent(saving) + " less time than in turn";
  if (capacity_mib > 0 && a.memory_mib >= 0 && b.memory_mib >= 0)
    verdict.reason += "; " +
                      mib(rules.memory_share * capacity_mib - a.memory_mib - b.memory_mib -
                          2 * rules.context_mib) +
                      " left";
  else
    verdict.reason += "; memory not judged";
  if (speed_a.is_extrapolating || speed_b.is_extrapolating)
    verdict.reason += "; unlike what was measured";
  return verdict;
}

}  // namespace omen::interference
