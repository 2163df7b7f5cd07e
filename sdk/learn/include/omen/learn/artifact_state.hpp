// SPDX-License-Identifier: Apache-2.0
// A fitted model's tensors in the container that the host keeps models in.
#pragma once

#include <omen/artifact.hpp>

#include "omen/learn/errors.hpp"
#include "omen/learn/state.hpp"

namespace omen::learn {

class ArtifactState final : public StateWriter {
 public:
  explicit ArtifactState(ArtifactWriter& out) : out_(out) {}
  void put(const std::string& name, const Tensor& tensor) override {
    out_.put_raw(name, tensor.dtype.c_str(), tensor.shape, tensor.bytes.data(),
                 tensor.bytes.size());
  }

 private:
  ArtifactWriter& out_;
};

class ArtifactSource final : public StateReader {
 public:
  explicit ArtifactSource(const ArtifactReader& in) : in_(in) {}
  Tensor get(const std::string& name) const override {
    const TensorView view = in_.tensor(name);
    const auto* bytes = static_cast<const std::byte*>(view.bytes);
    return {view.dtype, view.shape, {bytes, bytes + view.size}};
  }

 private:
  const ArtifactReader& in_;
};

/// Where a model names the component `id` that wrote it.
inline std::string component_key(const std::string& id) {
  return id.substr(0, id.find('.')) + ".component";
}

/// Writes what `model` points to under the name of its component.
template <class Pointer>
void save_model(const Pointer& model, const std::string& id, ArtifactWriter& out) {
  const auto& fitted = require_model(model, id);
  out.put_meta(component_key(id), id);
  ArtifactState state(out);
  fitted.save(state);
}

/// The state that save_model() wrote; refuses models of other components.
inline ArtifactSource saved_model(const ArtifactReader& in, const std::string& id) {
  require_component(in.meta(component_key(id)), id);
  return ArtifactSource(in);
}

}  // namespace omen::learn
