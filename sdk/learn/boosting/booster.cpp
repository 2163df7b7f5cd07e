// SPDX-License-Identifier: Apache-2.0
// Wraps the calls of libxgboost that tree learners need.
#include "omen/boosting/booster.hpp"

#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "omen/error.hpp"
#include "tree_check.hpp"

namespace omen::learn {
namespace {

// XGBoost answers with several lines and a stack trace; the first line says what is wrong.
std::string last_error() {
  const std::string text = XGBGetLastError();
  return text.substr(0, text.find('\n'));
}

void check(int status) {
  if (status != 0) throw Error(OMEN_INTERNAL, "xgboost: " + last_error());
}

// XGBoost refuses infinities and empty rows, so values saturate and no feature becomes one of
// zeros.
std::vector<float> as_floats(const Matrix& x) {
  const double most = std::numeric_limits<float>::max();
  if (x.cols() == 0) return std::vector<float>(static_cast<std::size_t>(x.rows()), 0.0F);
  std::vector<float> values(static_cast<std::size_t>(x.size()));
  std::transform(x.data(), x.data() + x.size(), values.begin(), [most](double value) {
    return static_cast<float>(std::isnan(value) ? value : std::clamp(value, -most, most));
  });
  return values;
}

std::shared_ptr<void> new_data(const Matrix& x) {
  const std::vector<float> values = as_floats(x);
  DMatrixHandle handle = nullptr;
  check(XGDMatrixCreateFromMat_omp(values.data(), static_cast<bst_ulong>(x.rows()),
                                   static_cast<bst_ulong>(std::max<Index>(x.cols(), 1)),
                                   std::numeric_limits<float>::quiet_NaN(), &handle, 1));
  return {handle, XGDMatrixFree};
}

}  // namespace

BoosterData::BoosterData(const Matrix& x) : handle_(new_data(x)), rows_(x.rows()) {}

BoosterData::BoosterData(const Matrix& x, const Vector& labels) : BoosterData(x) {
  const Eigen::VectorXf values = labels.cast<float>();
  check(XGDMatrixSetFloatInfo(handle(), "label", values.data(),
                              static_cast<bst_ulong>(values.size())));
}

void BoosterData::set_weights(const Vector& weights) {
  const Eigen::VectorXf values = weights.cast<float>();
  check(XGDMatrixSetFloatInfo(handle(), "weight", values.data(),
                              static_cast<bst_ulong>(values.size())));
}

Booster::Booster(const std::vector<const BoosterData*>& cached, const Parameters& parameters) {
  std::vector<DMatrixHandle> handles;
  for (const BoosterData* data : cached) handles.push_back(data->handle());
  BoosterHandle handle = nullptr;
  check(XGBoosterCreate(handles.data(), handles.size(), &handle));
  handle_ = {handle, XGBoosterFree};
  for (const auto& [key, value] : parameters) {
    check(XGBoosterSetParam(handle, key.c_str(), value.c_str()));
  }
}

Booster::Booster(const std::string& model, Index features) {
  check_trees(model, features);
  BoosterHandle handle = nullptr;
  check(XGBoosterCreate(nullptr, 0, &handle));
  handle_ = {handle, XGBoosterFree};
  check(XGBoosterSetParam(handle, "verbosity", "0"));
  if (XGBoosterLoadModelFromBuffer(handle, model.data(), model.size()) != 0) {
    throw Error(OMEN_INVALID_DATA, "the model's trees cannot be read: " + last_error(),
                "Train the model again.");
  }
  check(XGBoosterSetParam(handle, "nthread", "1"));
}

void Booster::update(int round, const BoosterData& training) {
  check(XGBoosterUpdateOneIter(handle_.get(), round, training.handle()));
}

double Booster::evaluate(int round, const BoosterData& labelled) {
  DMatrixHandle data = labelled.handle();
  const char* name = "held_out";
  const char* text = nullptr;
  check(XGBoosterEvalOneIter(handle_.get(), round, &data, &name, 1, &text));
  const std::string line = text;  // "[3]\theld_out-rmse:0.52"
  return std::strtod(line.c_str() + line.rfind(':') + 1, nullptr);
}

Matrix Booster::predict(const BoosterData& data, int rounds, Index outputs) const {
  const std::string config = R"({"type":0,"training":false,"iteration_begin":0,"iteration_end":)" +
                             std::to_string(rounds) + R"(,"strict_shape":true})";
  const bst_ulong* shape = nullptr;
  bst_ulong rank = 0;
  const float* result = nullptr;
  check(XGBoosterPredictFromDMatrix(handle_.get(), data.handle(), config.c_str(), &shape, &rank,
                                    &result));
  if (rank != 2 || shape[0] != static_cast<bst_ulong>(data.rows()) ||
      shape[1] != static_cast<bst_ulong>(outputs)) {
    throw Error(OMEN_INVALID_DATA, "the model's trees answer in the wrong shape",
                "Train the model again.");
  }
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const Floats>(result, data.rows(), outputs).cast<double>();
}

std::string Booster::save() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  check(XGBoosterSaveModelToBuffer(handle_.get(), R"({"format":"ubj"})", &size, &bytes));
  return {bytes, static_cast<std::size_t>(size)};
}

std::int64_t tree_checksum(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  }
  return static_cast<std::int64_t>(hash);
}

}  // namespace omen::learn
