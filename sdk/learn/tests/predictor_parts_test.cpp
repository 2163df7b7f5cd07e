// SPDX-License-Identifier: Apache-2.0
// What predictors with models of their own share: rows of two datasets, and a model under a name.
#include <gmock/gmock.h>

#include <memory>
#include <omen/testing/csv_table.hpp>
#include <omen/testing/memory_artifact.hpp>

#include "omen/learn/artifact_state.hpp"
#include "omen/learn/dataset_reader.hpp"

namespace omen::learn {
namespace {

using ::testing::ElementsAre;

std::vector<double> costs_in(const Dataset& data) {
  return data.table("targets").numbers("cost");
}

TEST(ReadBoth, TakesValidationRowsOnlyWhereTheyWereMeasured) {
  MemoryDataset train, measured, unmeasured;
  train.put("targets", test::csv_table("workload_id,cost\n0,1\n1,2\n"));
  measured.put("targets", test::csv_table("workload_id,cost\n0,3\n"));
  unmeasured.put("workloads", test::csv_table("workload_id\n0\n"));
  EXPECT_THAT(read_both(train.view(), measured.view(), costs_in), ElementsAre(1, 2, 3));
  EXPECT_THAT(read_both(train.view(), unmeasured.view(), costs_in), ElementsAre(1, 2));
  EXPECT_THAT(read_both(train.view(), Dataset(nullptr), costs_in), ElementsAre(1, 2));
}

// A predictor around one number, as small as one can be.
struct OneNumber {
  struct Model {
    double value = 0;
    void save(StateWriter& out) const { out.put_numbers("value", Vector::Constant(1, value)); }
  };
  std::string id;
  std::unique_ptr<Model> model;

  void save(ArtifactWriter& out) const { save_model(model, id, out); }
  void load(const ArtifactReader& in) {
    model = std::make_unique<Model>(Model{saved_model(in, id).numbers("value", 1)[0]});
  }
};

TEST(SavedModel, ComesBackUnderItsName) {
  OneNumber from{"lab.one", std::make_unique<OneNumber::Model>(OneNumber::Model{7})};
  OneNumber to{"lab.one", nullptr};
  test::MemoryArtifact artifact = test::saved(from);
  EXPECT_EQ(artifact.meta.at("lab.component"), "lab.one");
  test::load_from(artifact, to);
  EXPECT_EQ(to.model->value, 7);
}

TEST(SavedModel, OfAnotherComponentIsRefused) {
  OneNumber from{"lab.one", std::make_unique<OneNumber::Model>()};
  OneNumber to{"lab.two", nullptr};
  test::MemoryArtifact artifact = test::saved(from);
  EXPECT_THROW(test::load_from(artifact, to), Error);
  EXPECT_EQ(to.model, nullptr);
}

TEST(SavedModel, BeforeTheFirstFitThereIsNone) {
  EXPECT_THROW(test::saved(OneNumber{"lab.one", nullptr}), Error);
}

}  // namespace
}  // namespace omen::learn
