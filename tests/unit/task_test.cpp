// SPDX-License-Identifier: Apache-2.0
// Tasks: frozen with their folds, refused once anything was edited, never showing a target.
#include "data/task.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "data/import.hpp"
#include "data/recipe.hpp"
#include "omen/container.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::IsError;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void edit(const fs::path& path, const std::string& from, const std::string& to) {
  std::string text = read(path);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> columns(const Table& table) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < table.columns(); ++c) names.emplace_back(table.name(c));
  return names;
}

// 12 workloads in 4 networks, two measured columns, one row that was not measured.
Tables tables() {
  std::vector<std::string> names, networks, fast;
  std::vector<double> batch, time, energy;
  std::vector<bool> measured;
  for (int i = 0; i < 12; ++i) {
    names.push_back("w" + std::to_string(i));
    networks.push_back("net" + std::to_string(i % 4));
    batch.push_back(8 << (i % 3));
    time.push_back(1.5 * (i + 1));
    energy.push_back(100 - i);
    fast.push_back(i % 2 ? "yes" : "no");
    measured.push_back(i != 5);
  }
  TableBuilder builder;
  builder.add_categories("name", names).add_categories("network", networks).add("batch", batch);
  builder.add("time_ms", time).valid(measured);
  builder.add("energy_j", energy).valid(measured);
  builder.add_categories("fast", fast).valid(measured);
  return {{"workloads", builder.finish()}};
}

class Tasks : public ::testing::Test {
 protected:
  Tasks() {
    ::setenv("XDG_CACHE_HOME", (dir_.path() / "cache").c_str(), 1);
    make(tables());
  }
  ~Tasks() override { ::unsetenv("XDG_CACHE_HOME"); }

  void make(const Tables& content) {
    DatasetInfo info;
    info.name = "jobs";
    info.group = "network";
    info.columns["time_ms"].unit = "ms";
    info.targets = {parse_target("time_ms:ms:lower"), parse_target("energy_j:J:lower"),
                    parse_target("fast")};
    write_dataset_directory(info, content, dir_.path() / "jobs");
  }
  Task draft(const std::string& target = "time_ms") const {
    Task task;
    task.name = "question";
    task.dataset = "./jobs";
    task.inputs = {"workloads.*"};
    task.targets = {{target, "", Direction::kLower, TargetKind::kOpen, Loss::kOpen}};
    task.group = "network";
    task.split.kind = SplitKind::kGroupedKFold;
    task.split.folds = 2;
    task.split.assignment = Assignment::kBalanced;
    return task;
  }
  fs::path file() const { return dir_.path() / "question.json"; }
  void refuses(Task task, const std::string& what) {
    const auto error = error_of([&] { freeze_task(task, file()); });
    ASSERT_TRUE(error.has_value()) << what;
    EXPECT_THAT(error->what(), HasSubstr(what));
  }

  test::TempDir dir_;
};

TEST_F(Tasks, FreezesAndReadsBack) {
  const Task frozen = freeze_task(draft(), file());
  EXPECT_THAT(frozen.inputs, ElementsAre("workloads.batch"))
      << "everything measured and every group column stays out";
  EXPECT_EQ(frozen.targets[0].kind, TargetKind::kNumber);
  EXPECT_EQ(frozen.targets[0].loss, Loss::kAbsolute);
  EXPECT_EQ(frozen.targets[0].unit, "ms");
  EXPECT_EQ(frozen.split.column, "network");
  const Task read_back = read_task(file());
  EXPECT_EQ(read_back.hash, frozen.hash);
  EXPECT_EQ(read_back.dataset_digest, frozen.dataset_digest);
  EXPECT_EQ(read_back.split.sha256, frozen.split.sha256);
  EXPECT_THAT(task_folds(read_back, load_task(read_back).at("workloads")), SizeIs(2));
  EXPECT_EQ(freeze_task(draft(), dir_.path() / "again.json").hash, frozen.hash);
}

TEST_F(Tasks, TheHashCoversTheQuestionAndNothingElse) {
  const std::string hash = freeze_task(draft(), file()).hash;
  Task named = draft();
  named.name = "other";
  named.summary = "words";
  named.track = "track";
  EXPECT_EQ(freeze_task(named, file()).hash, hash);
  const auto differs = [&](auto change) {
    Task task = draft();
    change(task);
    EXPECT_NE(freeze_task(task, file()).hash, hash);
  };
  differs([](Task& t) { t.rope = 0.02; });
  differs([](Task& t) { t.average = Average::kGroup; });
  differs([](Task& t) { t.threads_per_fold = 2; });
  differs([](Task& t) { t.targets[0].loss = Loss::kSquared; });
  differs([](Task& t) { t.targets[0].direction = Direction::kHigher; });
  differs([](Task& t) { t.split.seed = 5; });
  differs([](Task& t) { t.split.kind = SplitKind::kKFold; });
  differs([](Task& t) { t.estimate = TaskEstimate::kMean; });
  differs([](Task& t) { t.inputs.push_back("workloads.energy_j"); });
}

TEST_F(Tasks, ShowsInputsIdsAndGroupOnly) {
  const Task task = freeze_task(draft(), file());
  const Tables shown = load_task(task);
  EXPECT_THAT(columns(shown.at("workloads")),
              UnorderedElementsAre("workload_id", "batch", "group", "name"));
  EXPECT_THAT(columns(shown.at("targets")), ElementsAre("workload_id", "time_ms"));
  EXPECT_EQ(shown.at("workloads").rows(), 11) << "a row without a target is of no use";
  EXPECT_EQ(shown.at("targets").metadata(1, "omen.unit"), "ms");
  EXPECT_EQ(shown.size(), 2u);
  std::size_t tested = 0;
  for (const Fold& fold : task_folds(task, shown.at("workloads"))) tested += fold.test.size();
  EXPECT_EQ(tested, 11u);
  EXPECT_THAT(public_task_json(task), AllOf(HasSubstr("time_ms"), Not(HasSubstr("seed"))));
}

TEST_F(Tasks, AListedSplitIsKeptAsItWasListed) {
  const fs::path list = dir_.path() / "list.csv";
  std::ofstream(list) << "workload_id,fold,role\n3,b,test\n0,a,train\n1,a,test\n2,a,observe\n"
                         "0,b,train\n4,b,valid\n";
  Task task = draft();
  task.split = {};
  task.split.kind = SplitKind::kListed;
  task.split.list = list;
  const Task frozen = freeze_task(task, file());
  const Task again = read_task(file());
  EXPECT_EQ(again.hash, frozen.hash);
  const std::vector<Fold> folds = task_folds(again, load_task(again).at("workloads"));
  ASSERT_THAT(folds, SizeIs(2));
  EXPECT_EQ(folds[0].name, "b");
  EXPECT_THAT(folds[0].train, ElementsAre(0));
  EXPECT_THAT(folds[0].valid, ElementsAre(4));
  EXPECT_THAT(folds[1].observe, ElementsAre(2));
  EXPECT_THAT(folds[1].test, ElementsAre(1));
  EXPECT_EQ(freeze_task(again, dir_.path() / "again.json").hash, frozen.hash);
  const auto refuses_list = [&](const std::string& text, const std::string& what) {
    std::ofstream(list) << text;
    refuses(task, what);
  };
  refuses_list("workload_id,fold,role\n5,a,train\n1,a,test\n", "lists workload 5");
  refuses_list("workload_id,fold,role\n1,a,train\n1,a,test\n", "twice in fold 'a'");
  refuses_list("workload_id,fold,role\n1,a,trian\n", "has role 'trian'");
  refuses_list("workload_id,fold,role\n1,a,train\n", "no row marked 'test'");
  refuses_list("workload_id,fold\n1,a\n", "has no column 'role'");
}

TEST_F(Tasks, ClassesCarryTheirNames) {
  const Task task = freeze_task(draft("fast"), file());
  EXPECT_EQ(task.targets[0].kind, TargetKind::kClass);
  EXPECT_EQ(task.targets[0].loss, Loss::kZeroOne);
  EXPECT_EQ(load_task(task).at("targets").metadata(1, "omen.classes"), R"(["no","yes"])");
}

TEST_F(Tasks, RefusesWhatWasEdited) {
  freeze_task(draft(), file());
  const std::string task = read(file()), split = read(dir_.path() / "question.split.csv");
  const auto refused = [&](const std::string& what) {
    EXPECT_THAT(
        error_of([&] { read_task(file()); }),
        IsError(OMEN_INVALID_DATA, AllOf(StartsWith(dir_.path().string()), HasSubstr(what))));
    std::ofstream(file(), std::ios::binary) << task;
    std::ofstream(dir_.path() / "question.split.csv", std::ios::binary) << split;
  };
  edit(file(), "\"rope\": 0.01", "\"rope\": 0.5");
  refused("'hash' does not fit the task: it was edited");
  edit(file(), "\"kind\": \"number\"", "\"kind\": \"numbr\"");
  refused("'targets[0].kind' is 'numbr'; known: number, class");
  edit(file(), "\"folds\": 2", "\"folds\": -2");
  refused("'split.folds' is not a natural number");
  edit(file(), "\"average\": \"row\",", "");
  refused("'average' is missing");
  edit(file(), "\"group\"", "\"grouped\"");
  refused("unknown member 'grouped'");
  edit(file(), "{", "");
  refused(":2:19: this is not JSON");
  edit(dir_.path() / "question.split.csv", "0,", "0,1");
  refused("question.split.csv was edited");
  fs::remove(dir_.path() / "question.split.csv");
  refused("no split table question.split.csv");
  EXPECT_NO_THROW(read_task(file()));
}

TEST_F(Tasks, RefusesOtherData) {
  const Task task = freeze_task(draft(), file());
  Tables other = tables();
  other["workloads"] = with_values(other["workloads"], "batch", std::vector<double>(12, 1));
  make(other);
  EXPECT_THAT(error_of([&] { load_task(task); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("was frozen on"), HasSubstr("omen task new")));
  make(tables());
  EXPECT_NO_THROW(load_task(task));
  edit(dir_.path() / "jobs/tables.omt", "net3", "net9");
  EXPECT_THAT(error_of([&] { load_task(task); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("was changed")));
}

TEST_F(Tasks, RefusesDraftsThatCannotBeAsked) {
  const auto with = [&](auto change) {
    Task task = draft();
    change(task);
    return task;
  };
  refuses(with([](Task& t) { t.targets[0].name = "time"; }), "target 'time' is no column");
  refuses(with([](Task& t) { t.inputs = {"workloads.time_ms"}; }), "is a target of the same task");
  refuses(with([](Task& t) { t.inputs = {"targets"}; }), "holds the answers");
  refuses(with([](Task& t) { t.inputs = {"nodes"}; }), "needs table 'nodes'");
  refuses(with([](Task& t) { t.inputs = {"workloads.btch"}; }), "input 'btch' is no column");
  refuses(with([](Task& t) { t.inputs.clear(); }), "no inputs");
  refuses(with([](Task& t) { t.targets.clear(); }), "no targets");
  refuses(with([](Task& t) { t.targets.push_back(t.targets[0]); }), "stands twice");
  refuses(with([](Task& t) { t.group = "net"; }), "group 'net' is no column");
  refuses(with([](Task& t) { t.split.column = "net"; }), "split column 'net'");
  refuses(with([](Task& t) { t.rope = 1.5; }), "rope");
  refuses(with([](Task& t) { t.split.folds = 9; }), "9 folds of 4 groups");
  refuses(with([](Task& t) { t.targets[0].kind = TargetKind::kClass; }), "is a class in the task");
  Tables zeros = tables();
  std::vector<double> time(12, 0);
  zeros["workloads"] = with_values(zeros["workloads"], "time_ms", time);
  make(zeros);
  refuses(with([](Task& t) { t.targets[0].loss = Loss::kAbsolutePercent; }),
          "of workload 0 is 0, which has no error in percent");
  time[3] = std::numeric_limits<double>::quiet_NaN();
  zeros["workloads"] = with_values(zeros["workloads"], "time_ms", time);
  make(zeros);
  refuses(draft(), "of workload 3 is not a finite number");
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Tasks, PerNodeTargetsStayInTheirTable) {
  Tables content = tables();
  std::vector<std::int64_t> owner;
  std::vector<std::int32_t> node;
  std::vector<double> label;
  for (int w = 0; w < 12; ++w)
    for (int n = 0; n < 3; ++n) {
      owner.push_back(w);
      node.push_back(n);
      label.push_back(w * n);
    }
  TableBuilder nodes, targets;
  nodes.add("graph_id", owner)
      .add("node_id", node)
      .add_categories("op", std::vector<std::string>(36, "add"));
  targets.add("workload_id", owner).add("node_id", node).add("label", label);
  content["nodes"] = nodes.finish();
  content["node_targets"] = targets.finish();
  make(content);
  Task task = draft("label");
  task.per_node = true;
  task.inputs = {"nodes"};
  const Tables shown = load_task(freeze_task(task, file()));
  EXPECT_THAT(columns(shown.at("node_targets")), ElementsAre("workload_id", "node_id", "label"));
  EXPECT_EQ(shown.count("targets"), 0u);
  EXPECT_EQ(shown.at("nodes").rows(), 36);
  EXPECT_THAT(columns(shown.at("workloads")), Not(::testing::Contains("time_ms")));
}

TEST_F(Tasks, DecisionsKeepCostsApart) {
  Tables content = tables();
  std::vector<std::int64_t> owner;
  std::vector<std::int32_t> number;
  std::vector<std::string> device;
  std::vector<double> cost;
  for (int w = 0; w < 12; ++w)
    for (int c = 0; c < 2; ++c) {
      owner.push_back(w);
      number.push_back(c);
      device.push_back(c ? "gpu" : "cpu");
      cost.push_back(w + c);
    }
  std::vector<bool> feasible(24, true);
  feasible[3] = false;
  TableBuilder candidates;
  candidates.add("workload_id", owner).add("candidate_id", number).add_categories("device", device);
  candidates.add("cost", cost).valid(feasible);
  content["candidates"] = candidates.finish();
  make(content);
  Task task = draft("cost");
  task.decision = TaskDecision{"", "cost", Direction::kLower, "cpu"};
  const Task frozen = freeze_task(task, file());
  EXPECT_EQ(read_task(file()).decision->default_candidate, "cpu");
  const Tables shown = load_task(frozen);
  EXPECT_THAT(columns(shown.at("candidates")),
              UnorderedElementsAre("workload_id", "candidate_id", "device"));
  EXPECT_THAT(columns(shown.at("candidate_costs")),
              ElementsAre("workload_id", "candidate_id", "cost"));
  EXPECT_THAT(columns(shown.at("targets")), ElementsAre("workload_id", "candidate_id", "cost"));
  EXPECT_EQ(shown.at("targets").rows(), 24);
  task.decision->cost_target = "price";
  refuses(task, "cost of a decision 'price' is no column");
}

TEST(BundledTask, IsAsItWasFrozen) {
  const Task task = read_task(OMEN_TEST_SOURCE_DIR "/../plugins/baseline/tasks/matmul-cpu.json");
  EXPECT_EQ(load_task(task).at("workloads").rows(), 600);
  const std::vector<Fold> folds = task_folds(task, load_task(task).at("workloads"));
  ASSERT_THAT(folds, SizeIs(5));
  for (const Fold& fold : folds) EXPECT_EQ(fold.test.size(), 120u);
  // Frozen again it comes out the same, so the split does not depend on the machine.
  const test::TempDir dir;
  Task draft = task;
  draft.dataset = fs::path(OMEN_TEST_SOURCE_DIR "/../data/matmul-cpu").lexically_normal();
  EXPECT_EQ(freeze_task(draft, dir.path() / "again.json").hash, task.hash);
}

TEST(InstalledTasks, AreAsTheyWereFrozen) {
  if (!std::getenv("OMEN_DATA")) GTEST_SKIP() << "OMEN_DATA is not set: there are no raw files";
  const test::TempDir dir;
  ::setenv("XDG_CACHE_HOME", dir.path().c_str(), 1);
  int count = 0;
  for (const auto& item :
       fs::recursive_directory_iterator(OMEN_TEST_BUILD_DIR "/share/omen/tasks",
                                        fs::directory_options::follow_directory_symlink)) {
    if (item.path().extension() != ".json") continue;
    ++count;
    Task task;
    EXPECT_NO_THROW(task = read_task(item.path())) << item.path();
    const fs::path recipe =
        fs::path(OMEN_TEST_BUILD_DIR) / "share/omen/data/recipes" / (task.dataset + ".json");
    // Graphs come from front ends, which this program has not.
    if (fs::exists(recipe) && !read_recipe(recipe).components.empty()) continue;
    EXPECT_NO_THROW(load_task(task)) << item.path();
  }
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_GE(count, 8);
}

}  // namespace
}  // namespace omen::host
