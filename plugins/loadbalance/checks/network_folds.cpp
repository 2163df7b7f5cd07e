// SPDX-License-Identifier: Apache-2.0
// The thesis network (skips, extended readout) on the shuffled folds: trains and keeps a model for
// each fold, prints the figures of the kept ones, predicts from them again, trains one fold shortly
// or the ten folds of a repeat anew.
//   network_folds train|figures|check|short|retrain TABLES SPLIT MODELS [KEY=VALUE...]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "fold_data.hpp"
#include "network/network_predictor.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/show.hpp"

namespace omen::loadbalance {
namespace {

namespace fs = std::filesystem;
using test::broken;
using test::cpu_seconds;
using test::show;

const std::vector<std::string> kTargets = {"share", "share_class", "device"};

// Options of the predictor from KEY=VALUE arguments.
NetworkPredictorOptions read_options(const std::vector<std::string>& arguments) {
  const auto& table = detail::OptionTable<NetworkPredictorOptions>::get();
  std::vector<omen_option> values;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    omen_option value{};
    for (const omen_option_spec* const* spec = table.specs(); *spec; ++spec)
      if (key == (*spec)->key) value.key = (*spec)->key;
    if (!value.key || equals == argument.npos)
      throw Error(OMEN_INVALID_ARGUMENT, "'" + argument + "' is no option of the network");
    value.s = argument.c_str() + equals + 1;
    value.r = std::atof(value.s);
    value.i = std::strcmp(value.s, "true") == 0 ? 1 : std::atoll(value.s);
    values.push_back(value);
  }
  return table.parse(values.data(), values.size());
}

fs::path model_file(const fs::path& directory, std::int64_t repeat, std::int64_t fold) {
  return directory / ("fold-" + std::to_string(repeat) + "-" + std::to_string(fold) + ".omen");
}

// Sums of errors over rows.
struct Score {
  double absolute = 0, right_class = 0, right_device = 0, rows = 0;

  void add(const Table& predicted, const Table& truth, const std::vector<std::int64_t>& rows_of) {
    const std::vector<double> share = predicted.numbers("share"), label = truth.numbers("share");
    for (std::size_t i = 0; i < rows_of.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      absolute += std::abs(share[i] - label[static_cast<std::size_t>(rows_of[i])]);
      right_class +=
          predicted.strings("share_class")[row] == truth.strings("share_class")[rows_of[i]];
      right_device += predicted.strings("device")[row] == truth.strings("device")[rows_of[i]];
      rows += 1;
    }
  }
  void add(const Score& other) {
    absolute += other.absolute;
    right_class += other.right_class;
    right_device += other.right_device;
    rows += other.rows;
  }
  void print(const std::string& what) const {
    std::printf("%s: MAE %.3f, classes right %.4f, devices right %.4f of %.0f rows\n", what.c_str(),
                absolute / rows, right_class / rows, right_device / rows, rows);
    std::fflush(stdout);
  }
};

Score test(NetworkPredictor& predictor, const FoldData& data, std::int64_t repeat,
           std::int64_t fold) {
  Score score;
  const auto in = data.test(repeat, fold);
  const test::ReadyRun run(1);
  score.add(predictor.predict(in->view(), run.view()).read_all(), data.targets(),
            data.test_rows(repeat, fold));
  return score;
}

Score train(const FoldData& data, const NetworkPredictorOptions& options, std::int64_t repeat,
            std::int64_t fold, const fs::path& keep) {
  NetworkPredictor predictor(options);
  const test::ReadyRun run(static_cast<std::uint64_t>(100 * repeat + fold + 1));
  const auto in = data.train(repeat, fold);
  predictor.fit(in->view(), Dataset(nullptr), run.view());
  if (!keep.empty()) {
    container::Writer file;
    ArtifactWriter out(file.sink());
    predictor.save(out);
    file.write(keep);
  }
  return test(predictor, data, repeat, fold);
}

Score repredict(const FoldData& data, std::int64_t repeat, std::int64_t fold,
                const fs::path& file) {
  NetworkPredictor predictor{{}};
  const container::Reader reader = container::Reader::open(file);
  predictor.load(ArtifactReader(reader.source()));
  return test(predictor, data, repeat, fold);
}

int train_folds(const FoldData& data, const fs::path& models,
                const NetworkPredictorOptions& options) {
  const char* only = std::getenv("OMEN_FOLDS");  // such as 0:3, the first folds of one repeat
  Score all;
  for (std::int64_t repeat = 0; repeat < data.repeats(); ++repeat) {
    Score score;
    for (std::int64_t fold = 0; fold < data.folds(); ++fold) {
      if (only && (repeat != std::atoll(only) || fold >= std::atoll(std::strchr(only, ':') + 1)))
        continue;
      const fs::path file = models.empty() ? fs::path() : model_file(models, repeat, fold);
      const double begin = cpu_seconds();
      const bool kept = !file.empty() && fs::exists(file);
      const Score mine =
          kept ? repredict(data, repeat, fold, file) : train(data, options, repeat, fold, file);
      mine.print("fold " + std::to_string(repeat) + "-" + std::to_string(fold) + " in " +
                 std::to_string(static_cast<int>(cpu_seconds() - begin)) + " CPU s");
      score.add(mine);
    }
    if (score.rows > 0) score.print("repeat " + std::to_string(repeat));
    all.add(score);
  }
  all.print("all");
  return 0;
}

NetworkPredictorOptions untrained() {
  NetworkPredictorOptions options;
  options.epochs = options.readout_epochs = 0;
  return options;
}

constexpr const char* kFigures = "figures.csv";

int print_figures(const FoldData& data, const fs::path& models) {
  std::printf("fold,mae,right_class,right_device\n");
  for (std::int64_t repeat = 0; repeat < data.repeats(); ++repeat)
    for (std::int64_t fold = 0; fold < data.folds(); ++fold) {
      const fs::path file = model_file(models, repeat, fold);
      const Score score = repredict(data, repeat, fold, file);
      std::printf("%s,%.5f,%.0f,%.0f\n", file.stem().c_str(), score.absolute / score.rows,
                  score.right_class, score.right_device);
    }
  return 0;
}

// Errors of each kept model when it was kept.
std::map<std::string, Score> read_figures(const fs::path& models) {
  std::map<std::string, Score> figures;
  std::ifstream file(models / kFigures);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::size_t comma = line.find(',');
    Score score;
    score.rows = 1;
    if (comma == line.npos || std::sscanf(line.c_str() + comma, ",%lf,%lf,%lf", &score.absolute,
                                          &score.right_class, &score.right_device) != 3)
      throw Error(OMEN_INVALID_DATA, "a line of " + std::string(kFigures) + " is '" + line + "'");
    figures[line.substr(0, comma)] = score;
  }
  return figures;
}

// How far answers of kept models lie from what they were when the models were kept.
struct Drift {
  double mae = 0, answers = 0;

  void add(const Score& now, const Score& then) {
    mae = std::max(mae, std::abs(now.absolute / now.rows - then.absolute));
    answers += std::abs(now.right_class - then.right_class) +
               std::abs(now.right_device - then.right_device);
  }
};

// Control runs answer with a network that has learnt nothing. Other vector units round otherwise:
// that moves errors by less than a hundredth of a point, and turns few classes that nearly tie.
int check_folds(const FoldData& data, const fs::path& models) {
  const std::map<std::string, Score> figures = read_figures(models);
  Score all;
  Drift drift;
  for (std::int64_t repeat = 0; repeat < data.repeats(); ++repeat) {
    Score score;
    for (std::int64_t fold = 0; fold < data.folds(); ++fold) {
      const fs::path file = model_file(models, repeat, fold);
      const Score mine = broken() ? train(data, untrained(), repeat, fold, {})
                                  : repredict(data, repeat, fold, file);
      drift.add(mine, figures.at(file.stem()));
      score.add(mine);
      if (broken()) break;
    }
    score.print("repeat " + std::to_string(repeat));
    all.add(score);
    if (broken()) break;
  }
  int missed = show("network_shuffled_mae", all.absolute / all.rows, "points", "<=", 8.0);
  missed |= show("network_shuffled_accuracy", all.right_class / all.rows, "share", ">=", 0.76);
  missed |= show("network_kept_mae_drift", drift.mae, "points", "<=", 0.01);
  return missed | show("network_kept_answers_drift", drift.answers, "answers", "<=", 4);
}

// The error of always answering the median share of the training rows.
double constant_mae(const FoldData& data, std::int64_t repeat, std::int64_t fold) {
  const std::vector<std::int64_t> held_out = data.test_rows(repeat, fold);
  const std::vector<double> share = data.targets().numbers("share");
  std::vector<double> learnt;
  for (std::size_t row = 0; row < share.size(); ++row)
    if (std::find(held_out.begin(), held_out.end(), static_cast<std::int64_t>(row)) ==
        held_out.end())
      learnt.push_back(share[row]);
  const auto middle = learnt.begin() + static_cast<std::ptrdiff_t>(learnt.size() / 2);
  std::nth_element(learnt.begin(), middle, learnt.end());
  double sum = 0;
  for (const std::int64_t row : held_out)
    sum += std::abs(*middle - share[static_cast<std::size_t>(row)]);
  return sum / static_cast<double>(held_out.size());
}

// Few epochs on one fold learn more than a constant says, on every machine.
int train_shortly(const FoldData& data, NetworkPredictorOptions options) {
  options.epochs = 1;
  options.readout_epochs = 20;
  const Score fresh = train(data, broken() ? untrained() : options, 0, 0, {});
  fresh.print("trained shortly");
  const double constant = constant_mae(data, 0, 0);
  std::printf("the constant: MAE %.3f\n", constant);
  return show("network_short_fold_mae_over_constant", fresh.absolute / fresh.rows / constant,
              "ratio", "<=", 0.8);
}

// Training is chaotic: what rounds otherwise ends elsewhere. Ten folds trained anew are as good as
// the kept ones within two standard errors of their mean.
int retrain_folds(const FoldData& data, const fs::path& models,
                  const NetworkPredictorOptions& options) {
  double kept = 0, fresh = 0, squares = 0;
  const auto count = static_cast<double>(data.folds());
  for (std::int64_t fold = 0; fold < data.folds(); ++fold) {
    const Score before = repredict(data, 0, fold, model_file(models, 0, fold));
    const Score after = train(data, broken() ? untrained() : options, 0, fold, {});
    before.print("kept " + std::to_string(fold));
    after.print("trained anew");
    const double mae = before.absolute / before.rows;
    kept += mae / count;
    squares += mae * mae / count;
    fresh += after.absolute / after.rows / count;
  }
  const double margin = 2 * std::sqrt((squares - kept * kept) / (count - 1));
  return show("network_retrained_folds_mae_difference", fresh - kept, "points", "<=", margin);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4)
    throw Error(OMEN_INVALID_ARGUMENT,
                "use: network_folds train|figures|check|short|retrain TABLES SPLIT MODELS "
                "[KEY=VALUE...]");
  if (!fs::exists(arguments[1])) {
    std::printf("skipped: %s is not there; make it with: omen data make devmap-nvidia-graphs\n",
                arguments[1].c_str());
    return 77;
  }
  const FoldData data(arguments[1], arguments[2], kTargets);
  const NetworkPredictorOptions options = read_options({arguments.begin() + 4, arguments.end()});
  if (arguments[0] == "train") return train_folds(data, arguments[3], options);
  if (arguments[0] == "figures") return print_figures(data, arguments[3]);
  if (arguments[0] == "check") return check_folds(data, arguments[3]);
  if (arguments[0] == "short") return train_shortly(data, options);
  return retrain_folds(data, arguments[3], options);
}

}  // namespace
}  // namespace omen::loadbalance

int main(int argc, char** argv) {
  try {
    return omen::loadbalance::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "network_folds: %s\n", error.what());
    return 1;
  }
}
