// SPDX-License-Identifier: Apache-2.0
// The parent runs in the job and starts its ranks through the launcher of the cluster.
#include "run/cluster_script.hpp"

#include <algorithm>
#include <omen/join.hpp>
#include <sstream>

namespace omen::ensemble {
namespace {

std::string shell_quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// "learning_rate" is typed as --learning-rate.
std::string flag_of(const std::string& option) {
  std::string flag = "--" + option;
  for (char& c : flag)
    if (c == '_') c = '-';
  return flag;
}

class Words {
 public:
  template <class Value>
  void add(const char* option, const Value& value, const Value& usual) {
    if (value == usual) return;
    std::ostringstream text;
    text << value;
    line_ += " \\\n  " + flag_of(option) + " " + shell_quote(text.str());
  }
  void add_switch(const char* option, bool value) {
    if (value) line_ += " \\\n  " + flag_of(option);
  }
  const std::string& text() const { return line_; }

 private:
  std::string line_;
};

std::string run_words(const RunOptions& o) {
  const RunOptions usual;
  Words words;
  words.add("design", o.design, usual.design);
  words.add("models", o.models, usual.models);
  words.add("data", o.data, usual.data);
  words.add("pace", o.pace, usual.pace);
  words.add("recipe", o.recipe, usual.recipe);
  words.add("damaged", o.damaged, usual.damaged);
  words.add("optimiser", o.optimiser, usual.optimiser);
  words.add("ranks", o.ranks, usual.ranks);
  words.add("preprocessors", o.preprocessors, usual.preprocessors);
  words.add("epochs", o.epochs, usual.epochs);
  words.add("batch", o.batch, usual.batch);
  words.add("block", o.block, usual.block);
  words.add("queue", o.queue, usual.queue);
  words.add("sample_queue", o.sample_queue, usual.sample_queue);
  words.add("workers", o.workers, usual.workers);
  words.add("size", o.size, usual.size);
  words.add("channels", o.channels, usual.channels);
  words.add("validation", o.validation, usual.validation);
  words.add("patience", o.patience, usual.patience);
  words.add("checkpoint", o.checkpoint, usual.checkpoint);
  words.add("learning_rate", o.learning_rate, usual.learning_rate);
  words.add("weight_decay", o.weight_decay, usual.weight_decay);
  words.add("train_rate", o.train_rate, usual.train_rate);
  words.add_switch("scaled_decode", o.scaled_decode);
  return words.text();
}

// GPUs in a list such as "cuda:0,cuda:1": ranks of a host take them in turn.
std::int64_t gpus_in(const std::string& devices) {
  std::int64_t gpus = 0;
  for (const std::string& device : split(devices, ',')) gpus += device.starts_with("cuda");
  return gpus;
}

void put_slurm(std::ostream& out, const RunJob& job, std::int64_t cores) {
  out << "#SBATCH --job-name=omen-ensemble\n";
  if (job.design == Design::kSharedMemory) out << "#SBATCH --nodes=1\n";
  out << "#SBATCH --ntasks=" << job.ranks << "\n#SBATCH --cpus-per-task=" << cores << '\n';
  if (const std::int64_t gpus = gpus_in(job.devices); gpus > 0)
    out << "#SBATCH --gpus-per-node=" << gpus << '\n';
  out << "#SBATCH --output=omen-ensemble-%j.log\n#SBATCH --requeue\n";
}

// Chunks of one rank may lie on any hosts; ranks that share memory are one chunk.
void put_pbs(std::ostream& out, const RunJob& job, std::int64_t cores) {
  const std::int64_t each = job.design == Design::kSharedMemory ? job.ranks : 1;
  out << "#PBS -N omen-ensemble\n#PBS -l select=" << job.ranks / each << ":ncpus=" << cores * each
      << ":mpiprocs=" << each;
  if (const std::int64_t gpus = gpus_in(job.devices); gpus > 0)
    out << ":ngpus=" << std::min(gpus, each);
  out << "\n#PBS -j oe\n#PBS -r y\ncd \"$PBS_O_WORKDIR\" || exit 1\n";
}

}  // namespace

std::string cluster_script(Cluster cluster, const RunOptions& options, const RunJob& job,
                           const std::string& output) {
  std::ostringstream out;
  const bool slurm = cluster == Cluster::kSlurm;
  // Decoding and preprocessing have as many threads each; one more trains.
  const std::int64_t cores = 2 * options.workers + 1;
  out << "#!/bin/sh\n";
  if (slurm)
    put_slurm(out, job, cores);
  else
    put_pbs(out, job, cores);
  out << "# Started again after a kill, it goes on from its checkpoints.\n"
      << "exec omen ensemble run" << run_words(options) << " \\\n  --seed "
      << job.preprocessing.seed << " --launcher " << (slurm ? "srun" : "mpirun");
  if (job.devices != "cpu") out << " --devices " << shell_quote(job.devices);
  out << " -o " << shell_quote(output) << '\n';
  return out.str();
}

}  // namespace omen::ensemble
