// SPDX-License-Identifier: Apache-2.0
// Walks a forward pass backwards and emits the operations of each gradient.
#include "omen/opgraph/training.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "omen/opgraph/words.hpp"
#include "optimizer_costs.hpp"

namespace omen::opgraph {
namespace {

// Sums of gradients over ranks are started for parts of this size, as soon as a part is complete.
constexpr double kSmallestBucket = 25e6;
constexpr double kMostBuckets = 32;

// A size worked out of others, some of which a file may have made zero or absurd.
std::int64_t whole(double size) {
  constexpr double kMost = 1e18;
  return std::isnan(size) ? 0 : static_cast<std::int64_t>(std::clamp(size, 0.0, kMost));
}

class BackwardPass {
 public:
  BackwardPass(ForwardGraph forward, const TrainingOptions& options)
      : forward_(std::move(forward)),
        options_(options),
        gradient_width_(bytes_of(options.precision)),
        graph_(forward_.graph()),
        parts_(static_cast<std::size_t>(forward_.size())),
        wanted_(static_cast<std::size_t>(forward_.size())),
        kept_(static_cast<std::size_t>(forward_.size())),
        squares_(static_cast<std::size_t>(forward_.size())) {
    const auto more = 4 * static_cast<std::size_t>(forward_.size());
    graph_.ops.reserve(more);
    graph_.edges.reserve(3 * more);
  }

  OpGraph run() {
    mark_wanted();
    if (options_.weight_decay_as_loss) add_weight_decay();
    const OpId last = forward_.size() - 1;
    std::size_t segment = forward_.recomputed().size();
    for (OpId id = last; id >= 0; --id) {
      while (segment > 0 && forward_.recomputed()[segment - 1].last == id)
        replay(forward_.recomputed()[--segment]);
      if (wanted(id)) differentiate(id, id == last);
    }
    close_bucket();
    if (options_.optimizer != Optimizer::none && !options_.update_by_variable) update_all();
    return std::move(graph_);
  }

 private:
  static std::size_t at(OpId id) { return static_cast<std::size_t>(id); }
  bool wanted(OpId id) const { return wanted_[at(id)] != 0; }

  void mark_wanted() {
    for (OpId id = 0; id < forward_.size(); ++id) {
      kept_[at(id)] = id;
      if (forward_.gradient(id) == Gradient::none) continue;
      bool any = forward_.parameters(id).count > 0 || forward_.gradient(id) == Gradient::sent_back;
      for (const Edge& edge : forward_.inputs(id)) any = any || wanted(edge.src);
      wanted_[at(id)] = any ? 1 : 0;
    }
  }

  OpId emit(Op op, std::string name, std::initializer_list<OpId> inputs) {
    return emit(std::move(op), std::move(name),
                std::span<const OpId>(inputs.begin(), inputs.size()));
  }
  OpId emit(Op op, std::string name, std::span<const OpId> inputs) {
    const auto id = static_cast<OpId>(graph_.ops.size());
    if (op.phase == Phase::forward) op.phase = Phase::backward;
    op.name = std::move(name);
    graph_.ops.push_back(std::move(op));
    for (const OpId input : inputs) graph_.edges.push_back({input, id});
    return id;
  }
  std::string gradient_name(OpId id, const char* of = "/gradient") const {
    return forward_.op(id).name + of;
  }
  void give(OpId to, OpId gradient) {
    if (wanted(to)) parts_[at(to)].push_back(gradient);
  }

  void replay(const Recomputed& segment) {
    for (OpId id = segment.first; id <= segment.last; ++id) {
      std::vector<OpId> inputs;
      for (const Edge& edge : forward_.inputs(id)) inputs.push_back(kept_[at(edge.src)]);
      kept_[at(id)] = emit(forward_.op(id), gradient_name(id, "/again"), inputs);
    }
  }

  // Several readers of a tensor each give a part of its gradient.
  OpId joined(OpId id) {
    const std::vector<OpId>& parts = parts_[at(id)];
    if (parts.size() == 1) return parts.front();
    if (forward_.gradient(id) == Gradient::split) {
      Op whole = elementwise_op(OpClass::move, forward_.op(id).precision, forward_.op(id).shape);
      whole.flops = 0;
      return emit(std::move(whole), gradient_name(id, "/join"), parts);
    }
    Op sum = elementwise_op(OpClass::elementwise, forward_.op(id).precision, forward_.op(id).shape,
                            static_cast<double>(parts.size()));
    sum.output_bytes = 0;  // into the first part
    return emit(std::move(sum), gradient_name(id, "/sum"), parts);
  }

  void differentiate(OpId id, bool last) {
    if (parts_[at(id)].empty()) {
      if (!last) return;
      start_from(id);
      if (parts_[at(id)].empty()) return;
    }
    const OpId gradient = joined(id);
    switch (forward_.gradient(id)) {
      case Gradient::none:
        break;
      case Gradient::pass:
      case Gradient::split:
        return pass(id, gradient);
      case Gradient::same:
        return mirror(id, gradient);
      case Gradient::from_input:
        return reread(id, gradient, true, false);
      case Gradient::from_output:
        return reread(id, gradient, false, true);
      case Gradient::from_both:
        return reread(id, gradient, true, true);
      case Gradient::mask:
        return masked(id, gradient);
      case Gradient::factors:
        return factors(id, gradient);
      case Gradient::matmul:
        return products(id, gradient);
      case Gradient::conv:
        return convolutions(id, gradient);
      case Gradient::attention:
        return attention(id, gradient);
      case Gradient::gather:
        return scatter(id, gradient);
      case Gradient::sent_back:
        emit(forward_.op(id), gradient_name(id), {gradient});
        return;
      case Gradient::all_reduce: {
        const Op sum = collective_op(OpClass::all_reduce, forward_.op(id).precision,
                                     forward_.size_of(id), forward_.op(id).ranks);
        return pass(id, emit(sum, gradient_name(id), {gradient}));
      }
    }
  }

  // A loss is the start of its own gradient; any other last operation gets a tensor of ones.
  void start_from(OpId id) {
    if (forward_.op(id).kind == OpClass::loss) {
      for (const Edge& edge : forward_.inputs(id)) {
        if (!wanted(edge.src)) continue;
        Op op =
            elementwise_op(OpClass::loss, forward_.op(id).precision, forward_.op(edge.src).shape);
        op.bytes_written = op.output_bytes = forward_.size_of(edge.src);
        give(edge.src, emit(std::move(op), gradient_name(id), {kept_[at(id)]}));
      }
      return;
    }
    Op ones =
        elementwise_op(OpClass::elementwise, forward_.op(id).precision, forward_.op(id).shape);
    ones.bytes_read = 0;
    parts_[at(id)].push_back(emit(std::move(ones), gradient_name(id, "/ones"), {id}));
  }

  void pass(OpId id, OpId gradient) {
    if (forward_.parameters(id).count > 0) learnt(id, sum_of_bias(id, gradient));
    for (const Edge& edge : forward_.inputs(id)) give(edge.src, gradient);
  }

  OpId sum_of_bias(OpId id, OpId gradient) {
    const double count = forward_.parameters(id).bias;
    Op op =
        shrinking_op(OpClass::reduce, forward_.op(id).precision, elements_of(forward_.op(id).shape),
                     shape_of({static_cast<std::int64_t>(count)}));
    op.output_bytes = 0;
    return emit(std::move(op), gradient_name(id, "/bias"), {gradient});
  }

  void mirror(OpId id, OpId gradient) {
    const Op& source = forward_.op(id);
    for (const Edge& edge : forward_.inputs(id)) {
      if (!wanted(edge.src)) continue;
      Op op = source;
      op.parameter_bytes = 0;
      op.bytes_written = op.output_bytes = forward_.size_of(edge.src);
      op.bytes_read = std::min(forward_.size_of(id), forward_.size_of(edge.src));
      op.shape = forward_.op(edge.src).shape;
      give(edge.src, emit(std::move(op), gradient_name(id), {gradient}));
    }
  }

  void reread(OpId id, OpId gradient, bool input, bool output) {
    const Op& source = forward_.op(id);
    std::vector<OpId> inputs = {gradient};
    OpId to = -1;
    for (const Edge& edge : forward_.inputs(id)) {
      if (to < 0) to = edge.src;
      if (input) inputs.push_back(kept_[at(edge.src)]);
    }
    if (output) inputs.push_back(kept_[at(id)]);
    if (to < 0) return;
    const double in = forward_.size_of(to), out = forward_.size_of(id);
    Op op = source;
    op.parameter_bytes = source.parameter_bytes;
    op.flops = 2 * source.flops;
    op.bytes_read = out + (input ? in : 0) + (output ? out : 0);
    // Norms look at their input once for sums and once for the gradient itself.
    if (source.kind == OpClass::norm) op.bytes_read = source.bytes_read + 2 * in;
    op.bytes_written = op.output_bytes = in;
    op.shape = forward_.op(to).shape;
    const OpId made = emit(std::move(op), gradient_name(id), inputs);
    give(to, made);
    if (forward_.parameters(id).count > 0) learnt(id, made);
  }

  void masked(OpId id, OpId gradient) {
    const OpId to = forward_.inputs(id)[0].src, mask = forward_.inputs(id)[1].src;
    Op op = elementwise_op(OpClass::elementwise, forward_.op(id).precision, forward_.op(id).shape);
    op.bytes_read += elements_of(op.shape);
    give(to, emit(std::move(op), gradient_name(id), {gradient, kept_[at(mask)]}));
  }

  void factors(OpId id, OpId gradient) {
    const auto inputs = forward_.inputs(id);
    for (const Edge& edge : inputs) {
      if (!wanted(edge.src)) continue;
      std::vector<OpId> read = {gradient};
      for (const Edge& other : inputs)
        if (other.src != edge.src) read.push_back(kept_[at(other.src)]);
      Op op = elementwise_op(OpClass::elementwise, forward_.op(id).precision,
                             forward_.op(edge.src).shape, static_cast<double>(inputs.size()));
      give(edge.src, emit(std::move(op), gradient_name(id), read));
    }
  }

  void products(OpId id, OpId gradient) {
    const Op& source = forward_.op(id);
    const double width = forward_.width();
    const bool learns = forward_.parameters(id).count > 0;
    const auto inputs = forward_.inputs(id);
    const OpId left = inputs[0].src;
    const auto dims = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
      return MatmulDims{source.batch, m, n, k, width * double(source.batch) * double(k) * double(n),
                        false};
    };
    const OpId right = inputs.size() > 1 ? inputs[1].src : -1;
    if (learns || (right >= 0 && wanted(right))) {
      Op op = matmul_op(source.precision, width, dims(source.k, source.n, source.m));
      if (learns) op.output_bytes = 0;
      if (learns) op.bytes_written = forward_.parameters(id).count * gradient_width_;
      const OpId made = emit(std::move(op), gradient_name(id, learns ? "/parameters" : "/right"),
                             {kept_[at(left)], gradient});
      if (learns && forward_.parameters(id).bias > 0) sum_of_bias(id, gradient);
      learns ? learnt(id, made) : give(right, made);
    }
    if (!wanted(left)) return;
    MatmulDims back = dims(source.m, source.k, source.n);
    back.parameters = learns;
    if (learns) back.right_bytes = source.parameter_bytes;
    Op op = matmul_op(source.precision, width, back);
    op.shape = forward_.op(left).shape;
    op.bytes_written = op.output_bytes = forward_.size_of(left);
    give(left, learns ? emit(std::move(op), gradient_name(id), {gradient})
                      : emit(std::move(op), gradient_name(id), {gradient, kept_[at(right)]}));
  }

  void convolutions(OpId id, OpId gradient) {
    const Op& source = forward_.op(id);
    const OpId input = forward_.inputs(id)[0].src;
    const double in = forward_.size_of(input), out = forward_.size_of(id);
    Op weights = source;
    weights.bytes_read = in + out;
    weights.bytes_written = source.parameter_bytes;
    weights.output_bytes = weights.parameter_bytes = 0;
    weights.m = source.k, weights.k = source.m;
    weights.shape = shape_of({source.n, source.k});
    learnt(id, emit(std::move(weights), gradient_name(id, "/parameters"),
                    {kept_[at(input)], gradient}));
    if (!wanted(input)) return;
    Op data = source;
    const double groups = std::max<double>(1, double(source.groups));
    const double channels = double(source.k) / double(source.kernel) * groups;
    data.bytes_read = out + source.parameter_bytes;
    data.bytes_written = data.output_bytes = in;
    data.shape = forward_.op(input).shape;
    data.n = whole(channels);
    data.m = whole(elements_of(data.shape) / (double(source.batch) * channels));
    data.k = whole(source.flops / (2 * double(data.batch) * double(data.m) * channels) + 0.5);
    give(input, emit(std::move(data), gradient_name(id), {gradient}));
  }

  // The scores are computed once more: five products instead of two.
  void attention(OpId id, OpId gradient) {
    const Op& source = forward_.op(id);
    std::vector<OpId> read = {gradient, kept_[at(id)]};
    double written = 0;
    for (const Edge& edge : forward_.inputs(id)) {
      read.push_back(kept_[at(edge.src)]);
      written += forward_.size_of(edge.src);
    }
    Op op = source;
    op.flops = 2.5 * source.flops;
    op.bytes_read = source.bytes_read + 2 * forward_.size_of(id);
    op.bytes_written = op.output_bytes = written;
    const OpId made = emit(std::move(op), gradient_name(id), read);
    for (const Edge& edge : forward_.inputs(id)) give(edge.src, made);
  }

  void scatter(OpId id, OpId gradient) {
    const double parameters = forward_.parameters(id).count * gradient_width_;
    Op op = forward_.op(id);
    op.bytes_read = forward_.size_of(id);
    op.bytes_written = forward_.size_of(id) + parameters;  // cleared, then added to
    op.output_bytes = op.parameter_bytes = 0;
    learnt(id, emit(std::move(op), gradient_name(id, "/parameters"), {gradient}));
  }

  // What becomes of a gradient of parameters once it is there.
  void learnt(OpId id, OpId gradient) {
    const Parameters& parameters = forward_.parameters(id);
    if (options_.weight_decay_as_loss && decays(id)) gradient = decayed(id, gradient);
    if (options_.accumulate || parameters.shared) {
      Op op = elementwise_op(OpClass::elementwise, options_.precision,
                             shape_of({static_cast<std::int64_t>(parameters.count)}), 2);
      op.output_bytes = 0;
      op.kernels = parameters.variables;
      gradient = emit(std::move(op), gradient_name(id, "/accumulate"), {gradient});
    }
    if (parameters.shared) return;  // those of the earlier operation wait for this sum
    bucket_.push_back(gradient);
    bucket_bytes_ += parameters.count * gradient_width_;
    bucket_parameters_ += parameters.count;
    if (options_.data_ranks > 1) {
      const double all = forward_.parameter_count() * gradient_width_;
      if (bucket_bytes_ >= std::max(kSmallestBucket, all / kMostBuckets)) close_bucket();
    } else if (options_.optimizer != Optimizer::none && options_.update_by_variable) {
      emit(update(parameters.count, parameters.variables), gradient_name(id, "/update"),
           {gradient});
    }
  }

  void close_bucket() {
    if (bucket_.empty()) return;
    if (options_.data_ranks > 1) {
      const bool divided = options_.sharding >= Sharding::gradients;
      const Op op = collective_op(divided ? OpClass::reduce_scatter : OpClass::all_reduce,
                                  options_.precision, bucket_bytes_, options_.data_ranks);
      const OpId sum = emit(op, "gradients/sum", bucket_);
      graph_.ops.back().output_bytes = 0;
      if (options_.optimizer != Optimizer::none && options_.update_by_variable)
        emit(update(bucket_parameters_, double(bucket_.size())), "gradients/update", {sum});
      sums_.push_back(sum);
    } else {
      sums_.insert(sums_.end(), bucket_.begin(), bucket_.end());
    }
    bucket_.clear();
    bucket_bytes_ = bucket_parameters_ = 0;
  }

  Op update(double parameters, double kernels) const {
    const UpdateTraffic traffic = update_traffic(options_);
    const bool divided = options_.sharding >= Sharding::optimizer;
    if (divided) parameters /= static_cast<double>(options_.data_ranks);
    Op op;
    op.kind = OpClass::update;
    op.phase = Phase::update;
    op.precision = Precision::fp32;
    op.flops = parameters * (options_.optimizer == Optimizer::adam ? 12 : 2);
    op.bytes_read = traffic.read * parameters;
    op.bytes_written = traffic.written * parameters;
    op.kernels = kernels;
    op.shape = shape_of({static_cast<std::int64_t>(parameters)});
    return op;
  }

  void update_all() {
    emit(update(forward_.parameter_count(), 1), "update", sums_);
    if (options_.data_ranks < 2 || options_.sharding == Sharding::none) return;
    // Each rank changed its share and gets those of the others.
    Op gathered = collective_op(OpClass::all_gather, options_.precision,
                                forward_.parameter_count() * gradient_width_, options_.data_ranks);
    gathered.output_bytes = 0;
    if (options_.sharding != Sharding::weights)
      emit(gathered, "update/gather", {static_cast<OpId>(graph_.ops.size()) - 1});
  }

  // Norms are left out, and what is shared counts once.
  bool decays(OpId id) const {
    const Parameters& parameters = forward_.parameters(id);
    return parameters.count > 0 && !parameters.shared && forward_.op(id).kind != OpClass::norm;
  }

  void add_weight_decay() {
    for (OpId id = 0; id < forward_.size(); ++id) {
      const Parameters& parameters = forward_.parameters(id);
      if (!decays(id)) continue;
      Op op = shrinking_op(OpClass::reduce, options_.precision, parameters.count, shape_of({1}));
      op.kernels = parameters.variables;
      op.output_bytes = 0;
      op.flops = 2 * parameters.count;
      squares_[at(id)] = emit(std::move(op), gradient_name(id, "/square"), {});
      graph_.ops.back().phase = Phase::forward;
    }
  }

  // The decay is scaled, then added: two kernels for each variable.
  OpId decayed(OpId id, OpId gradient) {
    const Parameters& parameters = forward_.parameters(id);
    Op op = elementwise_op(OpClass::elementwise, options_.precision,
                           shape_of({static_cast<std::int64_t>(parameters.count)}), 3);
    op.bytes_written *= 2;
    op.output_bytes = 0;
    op.kernels = 2 * parameters.variables;
    return emit(std::move(op), gradient_name(id, "/decay"), {gradient, squares_[at(id)]});
  }

  ForwardGraph forward_;
  const TrainingOptions options_;
  const double gradient_width_;
  OpGraph graph_;
  std::vector<std::vector<OpId>> parts_;  // of the gradient of each forward operation
  std::vector<char> wanted_;
  std::vector<OpId> kept_;     // the copy of a forward operation that gradients read
  std::vector<OpId> squares_;  // of the parameters of each forward operation
  std::vector<OpId> bucket_, sums_;
  double bucket_bytes_ = 0, bucket_parameters_ = 0;
};

}  // namespace

OpGraph training_graph(ForwardGraph forward, const TrainingOptions& options) {
  return BackwardPass(std::move(forward), options).run();
}

}  // namespace omen::opgraph
