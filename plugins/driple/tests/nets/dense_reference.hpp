// SPDX-License-Identifier: Apache-2.0
// The published networks as plain loops over dense matrices in double precision, one graph at a
// time.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "grouping/grouped_graph.hpp"
#include "nets/network.hpp"

namespace omen::driple::reference {

// Rows of numbers.
struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> at_;

  Dense(std::int64_t r, std::int64_t c)
      : rows(r), columns(c), at_(static_cast<std::size_t>(r * c)) {}
  double& operator()(std::int64_t r, std::int64_t c) {
    return at_[static_cast<std::size_t>(r * columns + c)];
  }
  double operator()(std::int64_t r, std::int64_t c) const {
    return at_[static_cast<std::size_t>(r * columns + c)];
  }
};

inline Dense times(const Dense& a, const Dense& b) {
  Dense out(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t j = 0; j < b.columns; ++j) out(i, j) += a(i, k) * b(k, j);
  return out;
}

inline Dense transposed(const Dense& a) {
  Dense out(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) out(j, i) = a(i, j);
  return out;
}

template <class Map>
Dense each(Dense a, const Map& map) {
  for (double& value : a.at_) value = map(value);
  return a;
}

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
inline double leaky(double x, double slope = 0.01) {
  return x > 0 ? x : slope * x;
}
inline double relu(double x) {
  return x > 0 ? x : 0;
}

class DenseNetwork {
 public:
  explicit DenseNetwork(const Network& network) : network_(network) {}

  std::vector<double> outputs(const GroupedGraph& graph) const {
    const std::int64_t nodes = graph.size();
    Dense adjacency(nodes, nodes), x(nodes, kGroupFeatures);
    for (const auto& [a, b] : graph.edges) adjacency(a, b) = adjacency(b, a) = 1;
    for (std::int64_t i = 0; i < nodes; ++i)
      for (std::int64_t k = 0; k < x.columns; ++k)
        x(i, k) = double(graph.features[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)]);
    const std::int64_t rounds = std::max<std::int64_t>(1, nodes / 2),
                       early = std::max<std::int64_t>(1, rounds / 2);
    for (std::int64_t r = 0; r < rounds; ++r) {
      const int layer = r == 0 ? 0 : r >= early && network_.options().late_layer ? 2 : 1;
      x = unit(x, message(adjacency, x, "conv_layers." + std::to_string(layer) + "."));
    }
    return read_out(x);
  }

  Dense tensor(const std::string& name) const {
    const at::Tensor t = network_.state().at(name).detach().to(at::kDouble).contiguous();
    Dense out(t.dim() > 1 ? t.size(-2) * (t.dim() > 2 ? t.size(0) : 1) : 1, t.size(-1));
    std::copy_n(t.const_data_ptr<double>(), t.numel(), out.at_.begin());
    return out;
  }

 private:
  Dense linear(const Dense& x, const std::string& weight, const std::string& bias) const {
    const Dense b = tensor(bias);
    Dense out = times(x, transposed(tensor(weight)));
    for (std::int64_t i = 0; i < out.rows; ++i)
      for (std::int64_t j = 0; j < out.columns; ++j) out(i, j) += b(0, j);
    return out;
  }

  Dense message(const Dense& a, const Dense& x, const std::string& p) const {
    switch (network_.options().layer.kind) {
      case LayerKind::gcn:
        return gcn(a, x, p);
      case LayerKind::gat:
        return gat(a, x, p);
      case LayerKind::gin:
        return gin(a, x, p);
      case LayerKind::pna:
        break;
    }
    return pna(a, x, p);
  }

  Dense gcn(Dense a, const Dense& x, const std::string& p) const {
    std::vector<double> degree;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      a(i, i) = 1;
      double sum = 0;
      for (std::int64_t j = 0; j < a.rows; ++j) sum += a(i, j);
      degree.push_back(sum);
    }
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < a.rows; ++j)
        a(i, j) /=
            std::sqrt(degree[static_cast<std::size_t>(i)] * degree[static_cast<std::size_t>(j)]);
    const Dense b = tensor(p + "b");
    Dense y = times(a, times(x, tensor(p + "W")));
    for (std::int64_t i = 0; i < y.rows; ++i)
      for (std::int64_t j = 0; j < y.columns; ++j) y(i, j) = leaky(y(i, j) + b(0, j));
    return y;
  }

  Dense gin(const Dense& a, const Dense& x, const std::string& p) const {
    Dense sum = times(a, x);
    const double self = 1 + tensor(p + "epsilon")(0, 0);
    for (std::size_t i = 0; i < sum.at_.size(); ++i) sum.at_[i] += self * x.at_[i];
    const Dense first = each(linear(sum, p + "mlp.0.weight", p + "mlp.0.bias"), relu);
    return each(linear(first, p + "mlp.1.weight", p + "mlp.1.bias"), relu);
  }

  Dense gat(const Dense& a, const Dense& x, const std::string& p) const {
    const Dense h = times(x, tensor(p + "W")), own = tensor(p + "own"), other = tensor(p + "other");
    Dense out(h.rows, h.columns);
    for (std::int64_t head = 0; head < own.rows; ++head)
      for (std::int64_t i = 0; i < h.rows; ++i) {
        std::vector<double> weight(static_cast<std::size_t>(h.rows), 0.0);
        double total = 0;
        for (std::int64_t j = 0; j < h.rows; ++j) {
          if (a(i, j) == 0) continue;
          double score = 0;
          for (std::int64_t k = 0; k < own.columns; ++k)
            score += own(head, k) * h(i, head * own.columns + k) +
                     other(head, k) * h(j, head * own.columns + k);
          total += weight[static_cast<std::size_t>(j)] = std::exp(leaky(score, 0.2));
        }
        for (std::int64_t k = head * own.columns; k < (head + 1) * own.columns; ++k) {
          for (std::int64_t j = 0; j < h.rows; ++j)
            out(i, k) += weight[static_cast<std::size_t>(j)] / total * h(j, k);
          out(i, k) = out(i, k) > 0 ? out(i, k) : std::expm1(out(i, k));
        }
      }
    return out;
  }

  // Messages of every pair, reduced one number at a time.
  Dense pna(const Dense& a, const Dense& x, const std::string& p) const {
    const std::int64_t towers = 4, hidden = network_.options().layer.hidden;
    const bool divided = x.columns == hidden;
    const std::int64_t in = divided ? hidden / towers : x.columns, out = hidden / towers;
    const Dense own = tensor(p + "own"), other = tensor(p + "other"), bias = tensor(p + "bias");
    const Dense post = tensor(p + "post"), post_bias = tensor(p + "post_bias");
    const LayerOptions& options = network_.options().layer;
    const double mean_log = tensor_or_one("mean_log_degree");
    Dense joined(x.rows, hidden);
    for (std::int64_t t = 0; t < towers; ++t)
      for (std::int64_t i = 0; i < x.rows; ++i) {
        std::vector<double> parts;
        for (std::int64_t k = 0; k < in; ++k) parts.push_back(x(i, divided ? t * in + k : k));
        double degree = 0;
        for (std::int64_t j = 0; j < x.rows; ++j) degree += a(i, j);
        for (const Scaler scaler : options.scalers)
          for (const Aggregator kind : options.aggregators)
            for (std::int64_t k = 0; k < in; ++k) {
              std::vector<double> messages;
              for (std::int64_t j = 0; j < x.rows; ++j) {
                if (a(i, j) == 0) continue;
                double m = bias(t, k);
                for (std::int64_t l = 0; l < in; ++l) {
                  const std::int64_t at = divided ? t * in + l : l;
                  m += own(t * in + l, k) * x(i, at) + other(t * in + l, k) * x(j, at);
                }
                messages.push_back(m);
              }
              parts.push_back(reduced(kind, messages) * scale(scaler, degree, mean_log));
            }
        for (std::int64_t k = 0; k < out; ++k) {
          double sum = post_bias(t, k);
          const auto width = static_cast<std::int64_t>(parts.size());
          for (std::int64_t l = 0; l < width; ++l)
            sum += parts[static_cast<std::size_t>(l)] * post(t * width + l, k);
          joined(i, t * out + k) = sum;
        }
      }
    return each(linear(joined, p + "mix", p + "mix_bias"), [](double v) { return leaky(v); });
  }

  static double reduced(Aggregator kind, const std::vector<double>& values) {
    double sum = 0, squares = 0;
    for (const double v : values) sum += v;
    const auto count = static_cast<double>(values.size());
    for (const double v : values) squares += (v - sum / count) * (v - sum / count);
    switch (kind) {
      case Aggregator::sum:
        return sum;
      case Aggregator::mean:
        return sum / count;
      case Aggregator::max:
        return *std::max_element(values.begin(), values.end());
      case Aggregator::min:
        return *std::min_element(values.begin(), values.end());
      case Aggregator::std:
        return std::sqrt(squares / count + 1e-5);
      case Aggregator::var:
        break;
    }
    return squares / count;
  }

  static double scale(Scaler scaler, double degree, double mean_log) {
    switch (scaler) {
      case Scaler::identity:
        break;
      case Scaler::amplification:
        return std::log1p(degree) / mean_log;
      case Scaler::attenuation:
        return mean_log / std::log1p(degree);
    }
    return 1;
  }

  double tensor_or_one(const std::string& name) const {
    for (const auto& entry : network_.state().entries())
      if (entry.name == name) return entry.tensor.item<double>();
    return 1;
  }

  Dense unit(const Dense& x, const Dense& y) const {
    const std::int64_t d = y.columns;
    Dense padded(x.rows, d), out(x.rows, d);
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t k = 0; k < x.columns; ++k) padded(i, k) = x(i, k);
    const Dense in = linear(padded, "gru.gru.weight_ih_l0", "gru.gru.bias_ih_l0");
    const Dense hidden = linear(y, "gru.gru.weight_hh_l0", "gru.gru.bias_hh_l0");
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t k = 0; k < d; ++k) {
        const double r = sigmoid(in(i, k) + hidden(i, k));
        const double z = sigmoid(in(i, d + k) + hidden(i, d + k));
        const double n = std::tanh(in(i, 2 * d + k) + r * hidden(i, 2 * d + k));
        out(i, k) = (1 - z) * n + z * y(i, k);
      }
    return out;
  }

  std::vector<double> read_out(const Dense& x) const {
    const std::string cell = "graph_read_out.set2set.lstm.";
    const std::int64_t d = x.columns;
    Dense asked(1, 2 * d), h(1, d), c(1, d);
    for (std::int64_t step = 0; step < x.rows; ++step) {
      const Dense a = linear(asked, cell + "weight_ih_l0", cell + "bias_ih_l0");
      const Dense b = linear(h, cell + "weight_hh_l0", cell + "bias_hh_l0");
      for (std::int64_t k = 0; k < d; ++k) {
        const auto gate = [&](std::int64_t g) { return a(0, g * d + k) + b(0, g * d + k); };
        c(0, k) = sigmoid(gate(1)) * c(0, k) + sigmoid(gate(0)) * std::tanh(gate(2));
        h(0, k) = sigmoid(gate(3)) * std::tanh(c(0, k));
      }
      std::vector<double> weight;
      for (std::int64_t i = 0; i < x.rows; ++i) {
        double score = 0;
        for (std::int64_t k = 0; k < d; ++k) score += x(i, k) * h(0, k);
        weight.push_back(score);
      }
      const double most = *std::max_element(weight.begin(), weight.end());
      double total = 0;
      for (double& w : weight) total += w = std::exp(w - most);
      for (std::int64_t k = 0; k < d; ++k) {
        asked(0, k) = h(0, k);
        asked(0, d + k) = 0;
        for (std::int64_t i = 0; i < x.rows; ++i)
          asked(0, d + k) += weight[static_cast<std::size_t>(i)] / total * x(i, k);
      }
    }
    const std::string dense = "graph_read_out.mlp.fully_connected.";
    for (int i = 0; i < 3; ++i) {
      const std::string name = dense + std::to_string(i) + ".linear.";
      asked = each(linear(asked, name + "weight", name + "bias"),
                   [i](double v) { return i == 2 ? leaky(v) : relu(v); });
    }
    return asked.at_;
  }

  const Network& network_;
};

}  // namespace omen::driple::reference
