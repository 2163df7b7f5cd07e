// SPDX-License-Identifier: Apache-2.0
// Embedding, blocks and head in their order.
#include "transformer_builder.hpp"

#include "omen/opgraph/words.hpp"

namespace omen::opgraph {

TransformerBuilder::TransformerBuilder(const TransformerConfig& config, const TransformerRun& run,
                                       RankSizes sizes)
    : config_(config), run_(run), sizes_(sizes), graph_(sizes.width) {}

void TransformerBuilder::build(std::int64_t first, std::int64_t count, bool embedding, bool head) {
  graph_.reserve(static_cast<std::size_t>(count + config_.decoder_layers) * 32 + 32);
  OpId x = 0;
  if (embedding) {
    x = embed();
  } else {
    Op got = collective_op(OpClass::send, sizes_.activations,
                           sizes_.width * double(sizes_.tokens) * double(config_.hidden), 2);
    got.shape = rows(config_.hidden);
    x = graph_.add("receive", got, Gradient::sent_back, {});
  }
  for (std::int64_t block_number = first; block_number < first + count; ++block_number)
    x = block(x, block_number, Part::encoder, -1);
  if (config_.decoder_layers > 0) {
    const OpId encoded = norm("encoder/norm", x, config_.hidden);
    x = embed();
    for (std::int64_t number = 0; number < config_.decoder_layers; ++number)
      x = block(x, number, Part::decoder, encoded);
  }
  finish(x, head);
}

OpId TransformerBuilder::embed() {
  prefix_ = "embedding/";
  const std::int64_t h = config_.hidden;
  const OpId ids =
      graph_.add(named("tokens"), input_op(8 * double(sizes_.tokens), rows(1)), Gradient::none, {});
  const auto table = [&](const char* name, std::int64_t entries, bool shared) {
    const double count = double(entries) * double(h);
    Op op = elementwise_op(OpClass::gather, sizes_.activations, rows(h));
    op.flops = 0;
    op.parameter_bytes = shared ? 0 : bytes_for(count, false);
    return graph_.add(named(name), op, Gradient::gather, {ids}, {count, 1, 0, shared});
  };
  const bool again = weight_bytes_ > 0 && config_.decoder_layers > 0;
  OpId x = table("words", sizes_.vocabulary, again);
  x = join_ranks("words/sum", x);
  if (config_.positions > 0)
    x = add("positions/add", x, table("positions", config_.positions, false));
  if (config_.types > 0) x = add("types/add", x, table("types", config_.types, false));
  if (config_.embedding_norm) x = norm("norm", x, h);
  if (config_.relative_buckets > 0) {
    const double count = double(config_.relative_buckets * sizes_.heads);
    Op op = shrinking_op(OpClass::gather, sizes_.activations, double(sizes_.queries * sizes_.keys),
                         shape_of({sizes_.heads, sizes_.queries, sizes_.keys}));
    op.parameter_bytes = bytes_for(count, false);
    graph_.add(named("relative"), op, Gradient::gather, {ids}, {count, 1});
  }
  return dropped("dropout", x, rows(h), config_.dropout);
}

OpId TransformerBuilder::block(OpId x, std::int64_t number, Part part, OpId encoded) {
  prefix_ = (part == Part::encoder ? "blocks." : "decoder.") + std::to_string(number) + "/";
  const OpId first = graph_.size();
  const std::int64_t h = config_.hidden;
  if (run_.sharding == Sharding::weights && run_.data_ranks > 1) {
    Op op = collective_op(OpClass::all_gather, sizes_.activations, 0, run_.data_ranks);
    op.output_bytes = 0;
    graph_.add(named("weights/gather"), op, Gradient::none, {x});
  }
  const auto residual = [&](const char* name, OpId to, OpId from) {
    return add(name, to, dropped("dropout", from, rows(h), config_.dropout));
  };
  const OpId normed = split_ranks(norm("attention_norm", x, h));
  OpId attended = join_ranks("attention/sum", attention(normed, number, -1));
  if (config_.sandwich_norms) attended = norm("attention_post_norm", attended, h);
  if (config_.parallel) {
    const OpId other = split_ranks(norm("ffn_norm", x, h));
    x = add("residual", residual("attention/add", x, attended),
            join_ranks("ffn/sum", feed_forward(other, number)));
  } else {
    x = residual("attention/add", x, attended);
    if (encoded >= 0) {
      const std::string before = prefix_;
      prefix_ += "cross/";
      const OpId cross = split_ranks(norm("norm", x, h));
      x = residual("add", x, join_ranks("sum", attention(cross, number, encoded)));
      prefix_ = before;
    }
    const OpId second = split_ranks(norm("ffn_norm", x, h));
    OpId moved = join_ranks("ffn/sum", feed_forward(second, number));
    if (config_.sandwich_norms) moved = norm("ffn_post_norm", moved, h);
    x = residual("ffn/add", x, moved);
  }
  if (run_.sharding == Sharding::weights && run_.data_ranks > 1) {
    double bytes = 0;
    for (OpId id = first; id < graph_.size(); ++id) bytes += graph_.op(id).parameter_bytes;
    Op& gathered = graph_.op(first);
    gathered.bytes_read = gathered.bytes_written = bytes;
    gathered.shape = shape_of({static_cast<std::int64_t>(bytes / sizes_.width)});
  }
  if (run_.mode == Mode::train && run_.recompute == Recompute::full)
    graph_.recompute(first, graph_.size() - 1);
  return x;
}

OpId TransformerBuilder::finish(OpId x, bool head) {
  prefix_ = "head/";
  const std::int64_t h = config_.hidden;
  if (!head) {
    Op op = collective_op(OpClass::send, sizes_.activations, graph_.size_of(x), 2);
    op.shape = rows(h);
    return graph_.add(named("send"), op, Gradient::same, {x});
  }
  if (config_.final_norm) x = norm("norm", x, h);
  if (run_.head == Head::none) return x;
  if (run_.head == Head::classifier) return classify(x);
  const bool serving = run_.mode == Mode::prefill || run_.mode == Mode::decode;
  if (serving && sizes_.queries > 1) {
    // Only the last token of each sequence is continued.
    const Shape last = shape_of({sizes_.sequences, h});
    x = graph_.add(named("last"), elementwise_op(OpClass::gather, sizes_.activations, last),
                   Gradient::same, {x});
    sizes_.tokens = sizes_.sequences;
  }
  if (config_.pooler) {
    x = linear("transform", x, h, h, true, false);
    x = norm("transform/norm", activation(x, rows(h)), h);
  }
  const double count = double(sizes_.vocabulary) * double(h);
  const bool shared = config_.tied && run_.pipeline_ranks == 1;
  MatmulDims dims{1,
                  sizes_.tokens,
                  sizes_.vocabulary,
                  h,
                  shared ? count * sizes_.width : bytes_for(count, false),
                  true};
  Op op = matmul_op(sizes_.activations, sizes_.width, dims);
  op.shape = rows(sizes_.vocabulary);
  x = graph_.add(named("words"), op, Gradient::matmul, {split_ranks(x)}, {count, 1, 0, shared});
  if (run_.mode != Mode::train || !run_.loss) return x;
  Op loss = elementwise_op(OpClass::loss, Precision::fp32, rows(sizes_.vocabulary));
  loss.bytes_read = graph_.size_of(x);
  loss.flops *= 4;
  return graph_.add(named("loss"), loss, Gradient::from_output, {x});
}

OpId TransformerBuilder::classify(OpId x) {
  const std::int64_t h = config_.hidden;
  const Shape first = shape_of({sizes_.sequences, h});
  x = graph_.add(named("first"), elementwise_op(OpClass::gather, sizes_.activations, first),
                 Gradient::same, {x});
  sizes_.tokens = sizes_.sequences;
  x = linear("pooler", x, h, h, true, false);
  x = graph_.add(named("tanh"), elementwise_op(OpClass::activation, sizes_.activations, first),
                 Gradient::from_output, {x});
  return linear("classes", x, h, 2, true, false);
}

}  // namespace omen::opgraph
