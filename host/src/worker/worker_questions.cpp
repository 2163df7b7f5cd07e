// SPDX-License-Identifier: Apache-2.0
// What a worker tells and asks during a call, answered from what the caller lent to it.
#include "worker_link.hpp"

#include <utility>

#include "text/log.hpp"

namespace omen::host {
namespace {

using Json = exchange::Json;

}  // namespace

void WorkerLink::handle_event(const Json& event) {
  const std::string kind = event.at("event");
  if (kind == "log") {
    log(event.at("level"), event.at("who").get<std::string>(),
        event.at("message").get<std::string>());
    return;
  }
  if (kind == "release") {
    inputs_.erase(event.at("stream").get<std::uint64_t>());
    return;
  }
  const auto known = calls_.find(event.at("call").get<std::uint64_t>());
  const omen_run* run = known == calls_.end() ? nullptr : known->second.given.run;
  if (!run) return;
  if (kind == "progress" && run->progress) {
    const std::string stage =
        event.at("stage").is_string() ? event.at("stage").get<std::string>() : std::string();
    run->progress(run, exchange::number_from(event.at("fraction")),
                  event.at("stage").is_string() ? stage.c_str() : nullptr);
  } else if (kind == "metric" && run->metric) {
    run->metric(run, event.at("name").get<std::string>().c_str(), event.at("step"),
                exchange::number_from(event.at("value")));
  }
}

CallContext& WorkerLink::context(const Json& message) {
  const auto known = calls_.find(message.at("call").get<std::uint64_t>());
  if (known == calls_.end())
    throw Error(OMEN_INVALID_STATE,
                "plugin misbehaving: " + component_ + " uses the inputs of a call that is over");
  return known->second.given;
}

Json WorkerLink::answer(const Json& question) {
  const std::string ask = question.at("ask");
  if (ask == "open") return open_table(question);
  if (ask == "put") return put_table(question);
  if (ask == "rows") {
    const omen_dataset* dataset =
        context(question).datasets.at(question.at("dataset").get<std::size_t>());
    return {{"rows", dataset->rows(dataset, question.at("table").get<std::string>().c_str())}};
  }
  if (ask == "next") {
    const auto input = inputs_.find(question.at("stream").get<std::uint64_t>());
    if (input == inputs_.end()) return {{"end", true}};
    Json reply = input->second.next();
    if (!reply.contains("part") || reply.at("last").get<bool>()) inputs_.erase(input);
    return reply;
  }
  if (ask == "meta") {
    const omen_source* source = context(question).source;
    if (!source) throw Error(OMEN_INVALID_STATE, "this call has no model");
    const char* value = nullptr;
    ErrorOut error;
    error.check(source->get_meta(source->data, question.at("key").get<std::string>().c_str(),
                                 &value, error));
    return {{"value", value ? value : ""}};
  }
  throw Error(OMEN_UNSUPPORTED, "host does not answer '" + ask + "'");
}

Json WorkerLink::open_table(const Json& question) {
  const omen_dataset* dataset =
      context(question).datasets.at(question.at("dataset").get<std::size_t>());
  ArrowArrayStream stream{};
  ErrorOut error;
  error.check(
      dataset->open(dataset, question.at("table").get<std::string>().c_str(), &stream, error));
  exchange::PartSource source(TableStream::import(&stream), *parts_);
  Json reply = source.first();
  if (!reply.at("last").get<bool>()) {
    const std::uint64_t id = ++last_id_;
    reply["stream"] = id;
    inputs_.emplace(id, std::move(source));
  }
  return reply;
}

Json WorkerLink::put_table(const Json& question) {
  const omen_tables_out* tables = context(question).tables;
  if (!tables) throw Error(OMEN_INVALID_STATE, "this call takes no tables");
  Json parts = question.at("parts");
  const Json first = parts.at(0);
  TableStream rows = exchange::receive_parts(
      first, *parts_,
      [parts = std::move(parts), at = std::size_t{1}]() mutable { return parts.at(at++); });
  ArrowArrayStream stream{};
  std::move(rows).export_to(&stream);
  ErrorOut error;
  error.check(
      tables->put(tables->data, question.at("table").get<std::string>().c_str(), &stream, error));
  return Json::object();
}

}  // namespace omen::host
