// SPDX-License-Identifier: Apache-2.0
// The checking proxy names each breach of the contract and its culprit.
#include "omen/conformance/checking_proxy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <thread>

#include "omen/dataset.hpp"

namespace omen::conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What the fake plugin does; set by each test.
struct Behaviour {
  std::function<omen_status(const omen_run*, const omen_dataset*, ArrowArrayStream*, omen_error*)>
      predict;
  std::function<omen_status(omen_object**, omen_error*)> create;
  int destroyed = 0;
};
Behaviour behaviour;

Table two_rows() {
  return TableBuilder().add("workload_id", std::vector<std::int64_t>{0, 1}).finish();
}

omen_status good_predict(const omen_run*, const omen_dataset*, ArrowArrayStream* out, omen_error*) {
  TableStream(two_rows()).export_to(out);
  return OMEN_OK;
}

omen_predictor_vt fake_table() {
  omen_predictor_vt vt{};
  vt.struct_size = sizeof vt;
  vt.create = [](const omen_option*, std::size_t, omen_object** out,
                 omen_error* error) -> omen_status {
    if (behaviour.create) return behaviour.create(out, error);
    *out = reinterpret_cast<omen_object*>(&behaviour);
    return OMEN_OK;
  };
  vt.destroy = [](omen_object*) { ++behaviour.destroyed; };
  vt.fit = [](omen_object*, const omen_run* run, const omen_dataset*, const omen_dataset*,
              omen_error*) -> omen_status {
    run->progress(run, 1.5, "fit");
    return OMEN_OK;
  };
  vt.predict = [](omen_object*, const omen_run* run, const omen_dataset* in, ArrowArrayStream* out,
                  omen_error* error) -> omen_status {
    return behaviour.predict(run, in, out, error);
  };
  vt.save = [](omen_object*, const omen_sink*, omen_error*) -> omen_status { return OMEN_IO; };
  vt.load = [](omen_object*, const omen_source*, omen_error* error) -> omen_status {
    detail::fail(error, OMEN_IO, "left over");
    return OMEN_OK;
  };
  return vt;
}

class CheckingProxyTest : public testing::Test {
 protected:
  void SetUp() override {
    behaviour = Behaviour{good_predict, {}, 0};
    run_.struct_size = sizeof run_;
    run_.is_cancelled = [](const omen_run*) { return false; };
    run_.progress = [](const omen_run*, double, const char*) {};
    run_.metric = [](const omen_run*, const char*, std::int64_t, double) {};
    data_.put("workloads", two_rows());
  }
  CheckedObject<omen_predictor_vt> make(std::uint64_t caps = 0) {
    return checked_create(table_, {"fake.one", caps}, nullptr, 0, findings_);
  }
  omen_status predict(const CheckedObject<omen_predictor_vt>& object, ArrowArrayStream* out) {
    ErrorOut error;
    return object.vt->predict(object.object, &run_, data_.c(), out, error);
  }
  // Predicts and releases.
  void predict_once(const CheckedObject<omen_predictor_vt>& object) {
    ArrowArrayStream out{};
    predict(object, &out);
    if (out.release) out.release(&out);
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Finding& finding : findings_->all()) all.push_back(finding.text);
    return all;
  }

  omen_predictor_vt table_ = fake_table();
  omen_run run_{};
  MemoryDataset data_;
  std::shared_ptr<Findings> findings_ = std::make_shared<Findings>();
};

TEST_F(CheckingProxyTest, GoodMannersLeaveNoTrace) {
  behaviour.predict = [](const omen_run* run, const omen_dataset* in, ArrowArrayStream* out,
                         omen_error*) {
    const Table rows = Dataset(in).table("workloads");
    run->progress(run, 0.5, "predict");
    TableStream(rows).export_to(out);
    return omen_status{OMEN_OK};
  };
  const auto object = make();
  ArrowArrayStream out{};
  ASSERT_EQ(predict(object, &out), OMEN_OK);
  EXPECT_EQ(TableStream::import(&out).read_all().rows(), 2);
  object.vt->destroy(object.object);
  EXPECT_EQ(behaviour.destroyed, 1);
  EXPECT_THAT(texts(), IsEmpty());
}

TEST_F(CheckingProxyTest, DoubleDestroyIsTheHosts) {
  const auto object = make();
  object.vt->destroy(object.object);
  object.vt->destroy(object.object);
  EXPECT_EQ(behaviour.destroyed, 1);
  EXPECT_THAT(texts(), ElementsAre("host misbehaving: fake.one was destroyed twice"));
}

TEST_F(CheckingProxyTest, DestroyWithAnOpenStreamIsTheHosts) {
  const auto object = make();
  ArrowArrayStream out{};
  predict(object, &out);
  object.vt->destroy(object.object);
  EXPECT_THAT(
      texts(),
      ElementsAre("host misbehaving: fake.one was destroyed while one of its streams was open"));
  out.release(&out);
}

TEST_F(CheckingProxyTest, UnreleasedInputIsThePlugins) {
  ArrowArrayStream kept{};
  behaviour.predict = [&](const omen_run*, const omen_dataset* in, ArrowArrayStream* out,
                          omen_error* error) {
    in->open(in, "workloads", &kept, error);
    return good_predict(nullptr, nullptr, out, error);
  };
  const auto object = make();
  ArrowArrayStream out{};
  predict(object, &out);
  EXPECT_THAT(texts(), IsEmpty()) << "the stream may still need its input";
  out.release(&out);
  EXPECT_THAT(
      texts(),
      ElementsAre("plugin misbehaving: fake.one left a stream of 'workloads' open after predict"));
  kept.release(&kept);
  object.vt->destroy(object.object);
}

TEST_F(CheckingProxyTest, OkWithoutAStreamIsThePlugins) {
  behaviour.predict = [](auto...) { return omen_status{OMEN_OK}; };
  const auto object = make();
  predict_once(object);
  EXPECT_THAT(
      texts(),
      ElementsAre("plugin misbehaving: fake.one returned OMEN_OK from predict without a stream"));
  object.vt->destroy(object.object);
}

TEST_F(CheckingProxyTest, AStreamOnFailureIsThePlugins) {
  ArrowArrayStream filled{};
  behaviour.predict = [&](const omen_run*, const omen_dataset*, ArrowArrayStream* out,
                          omen_error* error) {
    good_predict(nullptr, nullptr, out, error);
    filled = *out;
    return detail::fail(error, OMEN_INVALID_DATA, "no good");
  };
  const auto object = make();
  ArrowArrayStream out{};
  EXPECT_EQ(predict(object, &out), OMEN_INVALID_DATA);
  EXPECT_EQ(out.release, nullptr) << "the caller's parameter stays untouched";
  EXPECT_THAT(texts(),
              ElementsAre("plugin misbehaving: fake.one failed in predict but filled its stream"));
  filled.release(&filled);
  object.vt->destroy(object.object);
}

TEST_F(CheckingProxyTest, AnExceptionBecomesAStatus) {
  behaviour.predict = [](auto...) -> omen_status { throw std::runtime_error("boom"); };
  const auto object = make();
  ArrowArrayStream out{};
  EXPECT_EQ(predict(object, &out), OMEN_INTERNAL);
  EXPECT_THAT(
      texts(),
      ElementsAre(
          "plugin misbehaving: fake.one let an exception cross the boundary in predict: boom"));
  object.vt->destroy(object.object);
}

TEST_F(CheckingProxyTest, AnExceptionOutOfAStreamBecomesAnError) {
  behaviour.predict = [](const omen_run*, const omen_dataset*, ArrowArrayStream* out,
                         omen_error* error) {
    good_predict(nullptr, nullptr, out, error);
    out->get_next = [](ArrowArrayStream*, ArrowArray*) -> int { throw 7; };
    return omen_status{OMEN_OK};
  };
  const auto object = make();
  ArrowArrayStream out{};
  ASSERT_EQ(predict(object, &out), OMEN_OK);
  ArrowArray batch{};
  EXPECT_NE(out.get_next(&out, &batch), 0);
  EXPECT_STREQ(out.get_last_error(&out),
               "plugin misbehaving: fake.one let an exception cross the boundary in the stream of "
               "predict: of unknown type");
  out.release(&out);
  object.vt->destroy(object.object);
  EXPECT_THAT(texts(), ElementsAre("plugin misbehaving: fake.one let an exception cross the "
                                   "boundary in the stream of predict: of unknown type"));
}

TEST_F(CheckingProxyTest, AStreamReadAfterTheCallIsThePlugins) {
  ArrowArrayStream kept{};
  behaviour.predict = [&](const omen_run*, const omen_dataset* in, ArrowArrayStream* out,
                          omen_error* error) {
    in->open(in, "workloads", &kept, error);
    return good_predict(nullptr, nullptr, out, error);
  };
  const auto object = make();
  predict_once(object);
  ArrowArray batch{};
  EXPECT_NE(kept.get_next(&kept, &batch), 0);
  kept.release(&kept);
  object.vt->destroy(object.object);
  EXPECT_THAT(
      texts(),
      ElementsAre("plugin misbehaving: fake.one left a stream of 'workloads' open after predict",
                  "plugin misbehaving: fake.one used a stream of predict after the call was over"));
}

TEST_F(CheckingProxyTest, TwoSlotsAtOnceAreTheHosts) {
  const auto object = make();
  behaviour.predict = [&](const omen_run*, const omen_dataset*, ArrowArrayStream* out,
                          omen_error* error) {
    run_.progress = [](const omen_run*, double, const char*) {};
    object.vt->save(object.object, nullptr, nullptr);
    return good_predict(nullptr, nullptr, out, error);
  };
  predict_once(object);
  EXPECT_THAT(texts(),
              ElementsAre("host misbehaving: fake.one had save called during predict",
                          "plugin misbehaving: fake.one failed in save without a message"));
  object.vt->destroy(object.object);
}

TEST_F(CheckingProxyTest, ConcurrentPredictIsFineWhereClaimed) {
  for (const std::uint64_t caps : {std::uint64_t{0}, std::uint64_t{OMEN_CAP_CONCURRENT_PREDICT}}) {
    const auto object = make(caps);
    std::atomic<int> inside{0};
    behaviour.predict = [&](const omen_run*, const omen_dataset*, ArrowArrayStream* out,
                            omen_error* error) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
      return good_predict(nullptr, nullptr, out, error);
    };
    std::thread other([&] { predict_once(object); });
    predict_once(object);
    other.join();
    object.vt->destroy(object.object);
    EXPECT_EQ(findings_->all().size(), 1u) << "only the object without the claim is named";
  }
  EXPECT_EQ(findings_->all()[0].rule, Rule::kSerial);
}

TEST_F(CheckingProxyTest, InputsEndWithTheCall) {
  const omen_run* late_run = nullptr;
  const omen_dataset* late_data = nullptr;
  behaviour.predict = [&](const omen_run* run, const omen_dataset* in, ArrowArrayStream* out,
                          omen_error* error) {
    late_run = run;
    late_data = in;
    return good_predict(nullptr, nullptr, out, error);
  };
  const auto object = make();
  predict_once(object);
  EXPECT_TRUE(late_run->is_cancelled(late_run));
  EXPECT_EQ(late_data->rows(late_data, "workloads"), -1);
  EXPECT_THAT(
      texts(),
      ElementsAre(
          "plugin misbehaving: fake.one used is_cancelled of predict after the call was over",
          "plugin misbehaving: fake.one used a dataset of predict after the call was over"));
  object.vt->destroy(object.object);
}

TEST_F(CheckingProxyTest, ProgressErrorTextsAndSizes) {
  const auto object = make();
  object.vt->fit(object.object, &run_, data_.c(), nullptr, nullptr);
  ErrorOut error;
  object.vt->load(object.object, nullptr, error);
  omen_run unsized{};
  ArrowArrayStream out{};
  object.vt->predict(object.object, &unsized, data_.c(), &out, nullptr);
  out.release(&out);
  EXPECT_THAT(texts(),
              ElementsAre("plugin misbehaving: fake.one reported progress 1.500000 in fit",
                          "plugin misbehaving: fake.one returned OMEN_OK and an error from load",
                          "host misbehaving: fake.one predict got an omen_run without a size"));
  object.vt->destroy(object.object);
  table_.struct_size = 8;
  const auto small = make();
  EXPECT_EQ(findings_->all().back().rule, Rule::kStructSize);
  small.vt->destroy(small.object);
}

TEST_F(CheckingProxyTest, CreateIsCheckedToo) {
  behaviour.create = [](omen_object** out, omen_error* error) {
    *out = reinterpret_cast<omen_object*>(&behaviour);
    return detail::fail(error, OMEN_INVALID_ARGUMENT, "no");
  };
  EXPECT_THROW(make(), Error);
  behaviour.create = [](omen_object**, omen_error*) { return omen_status{OMEN_OK}; };
  EXPECT_THROW(make(), Error);
  EXPECT_THAT(
      texts(),
      ElementsAre("plugin misbehaving: fake.one failed in create but gave out an object",
                  "plugin misbehaving: fake.one returned OMEN_OK from create without an object"));
}

TEST_F(CheckingProxyTest, ReportsAsItGoes) {
  std::vector<std::string> heard;
  findings_ =
      std::make_shared<Findings>([&](const Finding& finding) { heard.push_back(finding.text); });
  const auto object = make();
  object.vt->destroy(object.object);
  object.vt->destroy(object.object);
  EXPECT_EQ(heard.size(), 1u);
}

}  // namespace
}  // namespace omen::conformance
