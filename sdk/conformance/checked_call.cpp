// SPDX-License-Identifier: Apache-2.0
// Stands in for the inputs and outputs of a call, and names whoever uses them wrongly.
#include "checked_call.hpp"

#include <cerrno>
#include <cmath>
#include <exception>
#include <utility>

namespace omen::conformance::checking {
namespace {

class Graveyard {
 public:
  static Graveyard& get() {
    static auto* const graveyard = new Graveyard;
    return *graveyard;
  }
  void keep(std::shared_ptr<void> dead) {
    const std::lock_guard lock(mutex_);
    dead_.push_back(std::move(dead));
    if (dead_.size() > kKept) dead_.pop_front();
  }

 private:
  static constexpr std::size_t kKept = 4096;
  std::mutex mutex_;
  std::deque<std::shared_ptr<void>> dead_;
};

}  // namespace

void note(Proxy& proxy, Rule rule, bool by_plugin, const std::string& text) {
  proxy.findings->add(rule, by_plugin, proxy.component.id + " " + text);
}

void bury(std::shared_ptr<void> dead) {
  Graveyard::get().keep(std::move(dead));
}

Call::Call(std::shared_ptr<Proxy> proxy, const char* slot, const omen_run* run)
    : proxy_(std::move(proxy)), slot_(slot), real_run_(run) {
  if (!run) return;
  if (run->struct_size < offsetof(omen_run, metric) + sizeof run->metric)
    note(*proxy_, Rule::kStructSize, false, std::string(slot) + " got an omen_run without a size");
  fill_run();
}

void Call::fill_run() {
  run_ = *real_run_;
  run_.run_data = this;
  run_.is_cancelled = [](const omen_run* run) {
    auto& self = *static_cast<Call*>(run->run_data);
    if (self.used_after("is_cancelled") || !self.real_run_->is_cancelled) return true;
    return self.real_run_->is_cancelled(self.real_run_);
  };
  run_.progress = [](const omen_run* run, double fraction, const char* stage) {
    auto& self = *static_cast<Call*>(run->run_data);
    if (self.used_after("progress")) return;
    if (std::isnan(fraction) || fraction > 1)
      note(*self.proxy_, Rule::kProgress, true,
           "reported progress " + std::to_string(fraction) + " in " + self.slot_);
    if (self.real_run_->progress) self.real_run_->progress(self.real_run_, fraction, stage);
  };
  run_.metric = [](const omen_run* run, const char* name, std::int64_t step, double value) {
    auto& self = *static_cast<Call*>(run->run_data);
    if (self.used_after("metric")) return;
    if (self.real_run_->metric) self.real_run_->metric(self.real_run_, name, step, value);
  };
}

bool Call::used_after(const char* what) {
  const std::lock_guard lock(mutex_);
  if (over_)
    note(*proxy_, Rule::kAfterTheCall, true,
         std::string("used ") + what + " of " + slot_ + " after the call was over");
  return over_;
}

const omen_dataset* Call::dataset(const omen_dataset* real) {
  if (!real) return nullptr;
  if (real->struct_size < offsetof(omen_dataset, open) + sizeof real->open)
    note(*proxy_, Rule::kStructSize, false,
         std::string(slot_) + " got an omen_dataset without a size");
  Input& input = inputs_.emplace_back(Input{this, real, *real});
  input.view.data = &input;
  input.view.rows = [](const omen_dataset* view, const char* table) -> std::int64_t {
    const auto& self = *static_cast<const Input*>(view->data);
    return self.call->used_after("a dataset") ? -1 : self.real->rows(self.real, table);
  };
  input.view.open = [](const omen_dataset* view, const char* table, ArrowArrayStream* out,
                       omen_error* error) -> omen_status {
    const auto& self = *static_cast<const Input*>(view->data);
    if (self.call->used_after("a dataset"))
      return detail::fail(error, OMEN_INVALID_STATE, "the call is over");
    const omen_status status = self.real->open(self.real, table, out, error);
    if (status == OMEN_OK) self.call->watch_input(table, out);
    return status;
  };
  return &input.view;
}

void Call::watch_input(const std::string& table, ArrowArrayStream* stream) {
  auto* open = new OpenTable{shared_from_this(), *stream, table};
  {
    const std::lock_guard lock(mutex_);
    open_inputs_.insert(table);
  }
  stream->private_data = open;
  stream->get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    auto& self = *static_cast<OpenTable*>(s->private_data);
    if (self.call->used_after("a stream")) return EINVAL;
    return self.real.get_schema(&self.real, out);
  };
  stream->get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    auto& self = *static_cast<OpenTable*>(s->private_data);
    if (self.call->used_after("a stream")) return EINVAL;
    return self.real.get_next(&self.real, out);
  };
  stream->get_last_error = [](ArrowArrayStream* s) {
    ArrowArrayStream& real = static_cast<OpenTable*>(s->private_data)->real;
    return real.get_last_error(&real);
  };
  stream->release = [](ArrowArrayStream* s) {
    const std::unique_ptr<OpenTable> open(static_cast<OpenTable*>(s->private_data));
    open->real.release(&open->real);
    s->release = nullptr;
    const std::lock_guard lock(open->call->mutex_);
    const auto at = open->call->open_inputs_.find(open->table);
    if (at != open->call->open_inputs_.end()) open->call->open_inputs_.erase(at);
  };
}

const omen_tables_out* Call::tables(const omen_tables_out* real) {
  if (!real) return nullptr;
  real_tables_ = real;
  tables_ = *real;
  tables_.data = this;
  tables_.put = [](void* data, const char* table, ArrowArrayStream* stream,
                   omen_error* error) -> omen_status {
    auto& self = *static_cast<Call*>(data);
    if (!stream || !stream->release) {
      note(*self.proxy_, Rule::kNoStream, true,
           std::string("put table '") + (table ? table : "") + "' without a stream");
      return detail::fail(error, OMEN_INVALID_ARGUMENT, "stream was not filled");
    }
    if (self.used_after("tables")) {
      stream->release(stream);
      return detail::fail(error, OMEN_INVALID_STATE, "the call is over");
    }
    return self.real_tables_->put(self.real_tables_->data, table, stream, error);
  };
  return &tables_;
}

template <class Body>
int Call::Output::guarded(Body&& body) {
  std::string what;
  try {
    return body();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "of unknown type";
  }
  const std::string text =
      std::string("let an exception cross the boundary in the stream of ") + call->slot_ + ": ";
  note(*call->proxy_, Rule::kException, true, text + what);
  thrown = "plugin misbehaving: " + call->proxy_->component.id + " " + text + what;
  return EIO;
}

void Call::wrap_output(ArrowArrayStream* stream) {
  auto* output = new Output{shared_from_this(), *stream};
  {
    const std::lock_guard lock(mutex_);
    ++open_outputs_;
  }
  {
    const std::lock_guard lock(proxy_->mutex);
    ++proxy_->open_outputs;
  }
  stream->private_data = output;
  stream->get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    auto& self = *static_cast<Output*>(s->private_data);
    return self.guarded([&] { return self.real.get_schema(&self.real, out); });
  };
  stream->get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    auto& self = *static_cast<Output*>(s->private_data);
    *out = ArrowArray{};
    const int code = self.guarded([&] { return self.real.get_next(&self.real, out); });
    if (code == 0) return 0;
    Proxy& proxy = *self.call->proxy_;
    if (out->release)
      note(proxy, Rule::kOutOnFailure, true,
           std::string("filled a batch of ") + self.call->slot_ + " although its stream failed");
    const char* text = s->get_last_error(s);
    if (!text || !*text)
      note(proxy, Rule::kErrorText, true,
           std::string("failed in the stream of ") + self.call->slot_ + " without a message");
    return code;
  };
  stream->get_last_error = [](ArrowArrayStream* s) -> const char* {
    auto& self = *static_cast<Output*>(s->private_data);
    if (!self.thrown.empty()) return self.thrown.c_str();
    return self.real.get_last_error ? self.real.get_last_error(&self.real) : nullptr;
  };
  stream->release = [](ArrowArrayStream* s) {
    const std::unique_ptr<Output> self(static_cast<Output*>(s->private_data));
    self->real.release(&self->real);
    s->release = nullptr;
    if (self->real.release)
      note(*self->call->proxy_, Rule::kStreamNotReleased, true,
           std::string("did not mark the stream of ") + self->call->slot_ + " as released");
    self->call->output_released();
  };
}

void Call::output_released() {
  {
    const std::lock_guard lock(proxy_->mutex);
    --proxy_->open_outputs;
  }
  const std::lock_guard lock(mutex_);
  --open_outputs_;
  close_if_over();
}

void Call::finish() {
  {
    const std::lock_guard lock(mutex_);
    returned_ = true;
    close_if_over();
  }
  bury(shared_from_this());
}

void Call::close_if_over() {
  if (!returned_ || open_outputs_ > 0 || over_) return;
  over_ = true;
  for (const std::string& table : open_inputs_)
    note(*proxy_, Rule::kStreamNotReleased, true,
         std::string("left a stream of '") + table + "' open after " + slot_);
}

}  // namespace omen::conformance::checking
