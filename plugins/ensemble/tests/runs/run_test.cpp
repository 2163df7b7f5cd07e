// SPDX-License-Identifier: Apache-2.0
// Whole runs of the product: equal weights whatever the design, queues, ranks and neighbours.
#include "run_fixture.hpp"

namespace omen::ensemble {
namespace {

using ::testing::HasSubstr;

TEST_F(RunTest, WeightsDoNotDependOnDesignPreprocessorsQueuesOrRanks) {
  const std::string models =
      "--models tiny,resnet8 --epochs 2 --validation 0.2 --optimiser momentum ";
  ASSERT_EQ(run("alone", models + "--design none"), 0) << said("alone");
  const std::string expected = trained("alone");
  EXPECT_GT(expected.size(), 10000u);
  const std::pair<const char*, const char*> variants[] = {
      {"as", "--design all-shared --queue 1"},
      {"sb", "--design single-broadcast --preprocessors 2 --block 4"},
      {"mb", "--design multi-broadcast --preprocessors 2 --queue 3"},
      {"shm", "--design shared-memory --preprocessors 2 --block 2 --queue 3 --workers 2"},
      {"free", "--design shared-memory --pace decoupled --queue 1"},
      {"one", "--design all-shared --ranks 1"},
      {"three", "--design single-broadcast --preprocessors 1 --ranks 3"}};
  for (const auto& [name, options] : variants) {
    ASSERT_EQ(run(name, models + options), 0) << said(name);
    EXPECT_TRUE(trained(name) == expected) << name;
    // floor(44 * 0.8 / 8) batches an epoch, two epochs.
    EXPECT_EQ(facts(name)["models"][0]["steps"], 8) << name;
  }
  EXPECT_TRUE(facts("as").contains("vote_accuracy"));
  EXPECT_GE(facts("as")["ended_unix_s"], facts("as")["began_unix_s"]);
  for (const char* file : {"run.json", "steps.csv", "stages.csv", "queues.csv", "machine.omt",
                           "metrics.html", "events/tiny/events.out.tfevents.omen"})
    EXPECT_TRUE(fs::exists(out("as") / file)) << file;
  // As TensorBoard reads it: length, its checksum, and an event that names the format.
  const std::string events = text_of(out("as") / "events/tiny/events.out.tfevents.omen");
  EXPECT_EQ(events.substr(0, 12), std::string("\x1a\0\0\0\0\0\0\0", 8) + "\x12\x9b\xd8-");
  EXPECT_THAT(events, HasSubstr("brain.Event:2"));
  EXPECT_THAT(events, HasSubstr("accuracy"));
  // One row of designs, ready to calibrate with.
  EXPECT_THAT(text_of(out("as") / "rate.csv"), HasSubstr("\nall-shared,2,"));
}

// The grid of show.ensemble.equal_weights is complete; here each design has one row of it.
TEST_F(RunTest, OneAndFourModelsEndWithTheSameWeightsInEveryDesign) {
  const std::pair<const char*, const char*> designs[] = {
      {"none", "--queue 2"},
      {"all-shared", "--queue 1 --block 4"},
      {"single-broadcast", "--queue 2 --preprocessors "},
      {"multi-broadcast", "--queue 1 --preprocessors "},
      {"shared-memory", "--queue 2 --sample-queue 1 --preprocessors "}};
  for (const int models : {1, 4}) {
    std::string expected;
    for (const auto& [design, options] : designs) {
      const std::string name = design + std::to_string(models);
      std::string line = "--models tiny*" + std::to_string(models) + " --design " + design + " ";
      line += options;
      // As many preprocessors as ranks, or one fewer.
      if (line.ends_with(' '))
        line +=
            std::to_string(line.find("single") < line.size() ? std::max(1, models - 1) : models);
      ASSERT_EQ(run(name, line), 0) << said(name);
      if (expected.empty()) expected = trained(name);
      EXPECT_TRUE(trained(name) == expected) << line;
      for (const auto& model : facts(name)["models"]) EXPECT_EQ(model["steps"], 5) << line;
    }
  }
}

// tests/data/README.md says where the file comes from.
TEST_F(RunTest, TorchScriptTrainsLikeANetworkOfOurs) {
  const std::string script = kScript;
  const std::string models = "--models " + script + "," + script + " --epochs 2 --validation 0.2 ";
  ASSERT_EQ(run("alone", models + "--design none"), 0) << said("alone");
  ASSERT_EQ(run("ring", models + "--design shared-memory --block 4"), 0) << said("ring");
  EXPECT_TRUE(trained("ring") == trained("alone"));
  const auto facts_of = facts("ring")["models"];
  EXPECT_EQ(facts_of[0]["name"], "script_net");
  EXPECT_EQ(facts_of[1]["name"], "script_net-2");
  EXPECT_EQ(facts_of[0]["state"], "finished");
  const std::string weights = text_of(out("ring") / "weights/script_net.safetensors");
  for (const char* tensor : {"conv_weight", "norm_mean", "head_bias"})
    EXPECT_THAT(weights, HasSubstr(tensor));
  // One channel does not fit its first layer, and text is no archive.
  EXPECT_NE(run("grey", "--channels 1 --models " + script), 0);
  EXPECT_THAT(said("grey"), HasSubstr("script_net.pt' fails on its images"));
  std::ofstream(out("text.pt")) << "no archive";
  EXPECT_NE(run("text", "--models " + out("text.pt").string()), 0);
  EXPECT_THAT(said("text"), HasSubstr("cannot be opened as TorchScript"));
}

TEST_F(RunTest, FourModelsOfASweepKeepTheirOwnOptimisersAndGroupsRepeat) {
  std::ofstream(out("sweep.csv")) << "model,learning_rate,seed,optimiser,ranks\n"
                                     "tiny,0.01,1,sgd,1\ntiny,0.001,2,adam,1\nlenet,0.01,3,,1\n"
                                     "resnet8,0.05,4,momentum,2\n";
  const std::string models = "--models " + out("sweep.csv").string() + " ";
  ASSERT_EQ(run("a", models + "--design multi-broadcast --preprocessors 5"), 0) << said("a");
  ASSERT_EQ(run("b", models + "--design shared-memory"), 0) << said("b");
  EXPECT_TRUE(trained("a") == trained("b"));
  EXPECT_EQ(facts("a")["ranks"], 5);
  EXPECT_EQ(facts("a")["models"][1]["optimiser"], "adam");
  EXPECT_EQ(facts("a")["models"][3]["name"], "resnet8");
}

TEST_F(RunTest, MoreRanksThanSamplesAndFewerSamplesThanABatch) {
  write_images(5);
  const std::string options = "--models tiny --batch 2 --epochs 2 --validation 0.2 ";
  ASSERT_EQ(run("one", options + "--design none"), 0) << said("one");
  // Six ranks for four samples to train on and one to validate with, a sample in each block.
  for (const char* design : {"all-shared", "multi-broadcast --preprocessors 6"}) {
    ASSERT_EQ(run("many", options + "--ranks 6 --block 1 --design " + design), 0) << said("many");
    EXPECT_TRUE(trained("many") == trained("one")) << design;
    fs::remove_all(out("many"));
  }
  write_images(44);
  EXPECT_NE(run("few", "--models tiny --batch 45"), 0);
  EXPECT_THAT(said("few"), HasSubstr("do not fill a batch of 45"));
}

TEST_F(RunTest, AModelThatDivergesOrStopsEarlyLeavesTheOthersAlone) {
  std::ofstream(out("sweep.csv")) << "model,learning_rate,seed\ntiny,0.01,5\ntiny,1e6,6\n";
  const std::string models =
      "--models " + out("sweep.csv").string() + " --epochs 3 --validation 0.2 ";
  ASSERT_EQ(run("nan", models + "--design all-shared"), 0) << said("nan");
  EXPECT_EQ(facts("nan")["models"][1]["state"], "diverged");
  EXPECT_EQ(facts("nan")["models"][0]["state"], "finished");
  ASSERT_EQ(run("alone", "--models tiny --epochs 3 --validation 0.2 --design none"), 0);
  EXPECT_TRUE(text_of(out("nan") / "weights/tiny.safetensors") ==
              text_of(out("alone") / "weights/tiny.safetensors"));
  ASSERT_EQ(run("early",
                "--models tiny*2 --epochs 30 --validation 0.2 --patience 2 "
                "--learning-rate 1e-9 --design shared-memory"),
            0)
      << said("early");
  EXPECT_EQ(facts("early")["models"][0]["state"], "stopped early");
  EXPECT_EQ(facts("early")["models"][0]["steps"], 3 * 4);
}

}  // namespace
}  // namespace omen::ensemble
