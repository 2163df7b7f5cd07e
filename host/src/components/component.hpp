// SPDX-License-Identifier: Apache-2.0
// Exception-style handles over the C tables of a component; the mirror of the author layer.
#ifndef OMEN_HOST_COMPONENT_HPP
#define OMEN_HOST_COMPONENT_HPP

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "components/kept_directory.hpp"
#include "components/options.hpp"
#include "omen/dataset.hpp"
#include "omen/error.hpp"

namespace omen::host {

// Owns one object of a component. The table is the plugin's own, a checking proxy, or a remote one.
template <class Vt>
class Object {
 public:
  Object(const Vt& vt, const OptionValues& options) : vt_(&vt) {
    const KeptDirectory directory;
    ErrorOut error;
    error.check(vt.create(options.data(), options.size(), &object_, error));
    if (!object_)
      throw Error(OMEN_INTERNAL, "plugin misbehaving: create returned OMEN_OK without an object");
  }
  // Takes over an object that was made elsewhere.
  Object(const Vt& vt, omen_object* object) : vt_(&vt), object_(object) {}
  Object(Object&& other) noexcept
      : vt_(other.vt_), object_(std::exchange(other.object_, nullptr)) {}
  Object& operator=(Object&&) = delete;
  ~Object() {
    if (object_) vt_->destroy(object_);
  }

 protected:
  // Calls a slot that fills a stream, and insists that it did.
  template <class Call>
  static TableStream stream_of(const char* slot, Call&& call) {
    ArrowArrayStream stream{};
    const KeptDirectory directory;
    ErrorOut error;
    error.check(call(&stream, static_cast<omen_error*>(error)));
    if (!stream.release)
      throw Error(OMEN_INTERNAL, std::string("plugin misbehaving: ") + slot +
                                     " returned OMEN_OK without a stream");
    return TableStream::import(&stream);
  }
  const Vt& vt() const noexcept { return *vt_; }
  omen_object* get() const noexcept { return object_; }

 private:
  const Vt* vt_;
  omen_object* object_ = nullptr;
};

class PredictorHandle : public Object<omen_predictor_vt> {
 public:
  using Object::Object;
  void fit(const omen_run* run, const omen_dataset* train, const omen_dataset* valid) {
    const KeptDirectory directory;
    ErrorOut error;
    error.check(vt().fit(get(), run, train, valid, error));
  }
  TableStream predict(const omen_run* run, const omen_dataset* in) {
    return stream_of(
        "predict", [&](auto* out, omen_error* e) { return vt().predict(get(), run, in, out, e); });
  }
  void save(const omen_sink* sink) {
    const KeptDirectory directory;
    ErrorOut error;
    error.check(vt().save(get(), sink, error));
  }
  void load(const omen_source* source) {
    const KeptDirectory directory;
    ErrorOut error;
    error.check(vt().load(get(), source, error));
  }
  omen_object* object() const noexcept { return get(); }
};

class FrontendHandle : public Object<omen_graph_frontend_vt> {
 public:
  using Object::Object;
  void lower(const omen_run* run, const char* path, const omen_tables_out* out) {
    const KeptDirectory directory;
    ErrorOut error;
    error.check(vt().lower(get(), run, path, out, error));
  }
};

class ProfilerHandle : public Object<omen_profiler_vt> {
 public:
  using Object::Object;
  std::string probe() {
    std::size_t length = 0;
    const KeptDirectory directory;
    ErrorOut error;
    error.check(vt().probe(get(), nullptr, &length, error));
    std::string json(length + 1, '\0');
    length = json.size();
    error.check(vt().probe(get(), json.data(), &length, error));
    json.resize(length);
    return json;
  }
  TableStream collect(const omen_run* run, const std::string& workload_json) {
    return stream_of("collect", [&](auto* out, omen_error* e) {
      return vt().collect(get(), run, workload_json.c_str(), out, e);
    });
  }
};

class ScorerHandle : public Object<omen_scorer_vt> {
 public:
  using Object::Object;
  bool enumerates() const noexcept { return vt().enumerate != nullptr; }
  bool loads() const noexcept { return vt().load != nullptr; }
  TableStream score(const omen_run* run, const omen_dataset* in) {
    return stream_of("score",
                     [&](auto* out, omen_error* e) { return vt().score(get(), run, in, out, e); });
  }
  TableStream enumerate(const omen_run* run, const omen_dataset* in) {
    return stream_of("enumerate", [&](auto* out, omen_error* e) {
      return vt().enumerate(get(), run, in, out, e);
    });
  }
  void load(const omen_source* source) {
    const KeptDirectory directory;
    ErrorOut error;
    error.check(vt().load(get(), source, error));
  }
};

class CommandHandle : public Object<omen_command_vt> {
 public:
  using Object::Object;
  int run(const omen_run* run, const std::vector<std::string>& args, const omen_tables_out* out) {
    std::vector<const char*> words;
    for (const std::string& arg : args) words.push_back(arg.c_str());
    std::int32_t exit_code = 0;
    const KeptDirectory directory;
    ErrorOut error;
    error.check(vt().run(get(), run, words.data(), words.size(), out, &exit_code, error));
    return exit_code;
  }
};

}  // namespace omen::host

#endif  // OMEN_HOST_COMPONENT_HPP
