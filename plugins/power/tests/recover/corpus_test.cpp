// SPDX-License-Identifier: Apache-2.0
// Corpora from a seed, and collections of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "corpus/corpus.hpp"
#include "corpus/corpus_files.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::power {
namespace {

using ::testing::HasSubstr;

CorpusOptions small_corpus() {
  CorpusOptions options;
  options.train_nets = 12;
  options.train_rows = 60;
  options.test_nets = 4;
  options.test_rows = 8;
  options.absent_nets = 2;
  options.absent_rows = 4;
  return options;
}

TEST(Corpus, IsRepeatableAndDisjoint) {
  const Corpus a = make_corpus(small_corpus(), [](double) {}),
               b = make_corpus(small_corpus(), [](double) {});
  ASSERT_EQ(a.rows.size(), 72u);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(std::set<std::string>(a.key.begin(), a.key.end()).size(), 18u);
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    EXPECT_EQ(a.rows[i].core_w, b.rows[i].core_w);
    EXPECT_TRUE(illegal_because(a.rows[i].hardware).empty());
    EXPECT_GT(a.rows[i].latency_s, 0);
    EXPECT_EQ(a.part[a.rows[i].net] == Part::absent, a.family[a.rows[i].net] == Family::squeezed);
  }
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

constexpr const char* kTwoNets = R"({"format":"pw-nets/1","nets":[
  {"id":1,"input":{"c":3,"h":8,"w":8},"blocks":[{"type":"conv","cout":4}]},
  {"id":12,"input":{"c":3,"h":8,"w":8},"blocks":[{"type":"conv","cout":8}]}]})";

TEST(CorpusFiles, MergesNamesColumnsAndRepeats) {
  const test::TempDir directory;
  const std::string at = directory.path().string();
  write_file(at + "/nets_a.json", kTwoNets);
  write_file(at + "/nets_b.json", kTwoNets);
  write_file(at + "/train_1.txt",
             "net,Rows,freq MHz,p_core_w,p_bw_w\nnet_0001,16,500,1,2\nnet_0001,16,500,1,2\n"
             "1,16,500,1.5,2\nruns/nets_3/12.json,32,500,3,4\n");
  write_file(at + "/val_1.txt", "p_bw_w\tnet\tp_core_w\n5\t12\t6\n");
  ASSERT_TRUE(holds_corpus_files(at));
  const Corpus corpus = read_corpus_files(at);
  EXPECT_EQ(corpus.nets.size(), 2u);
  ASSERT_EQ(corpus.rows.size(), 4u);
  EXPECT_EQ(corpus.rows[0].hardware.rows, 16);
  EXPECT_EQ(corpus.rows[0].hardware.freq_mhz, 500);
  EXPECT_EQ(corpus.rows[3].core_w, 6);
}

TEST(CorpusFiles, RefusesWhatDoesNotFit) {
  const test::TempDir directory;
  const std::string at = directory.path().string();
  write_file(at + "/nets_a.json", kTwoNets);
  const auto refused = [&](const std::string& rows, const char* said) {
    write_file(at + "/train_1.txt", rows);
    EXPECT_THAT(test::error_of([&] { read_corpus_files(at); }),
                test::IsError(OMEN_INVALID_DATA, HasSubstr(said), HasSubstr("README.md")));
  };
  refused("net,p_core_w\n1,2\n", "has no column 'p_bw_w'");
  refused("net,p_core_w,p_bw_w\n9,1,2\n", "names network '9'");
  refused("net,p_core_w,p_bw_w\n1,x,2\n", "p_core_w 'x' is not a number");
  refused("net,rows,p_core_w,p_bw_w\n1,-3,1,2\n", "rows is -3");
  write_file(
      at + "/nets_b.json",
      R"({"format":"pw-nets/1","nets":[{"id":1,"input":{"c":3,"h":8,"w":8},"blocks":[{"type":"conv","cout":5}]}]})");
  EXPECT_THAT(
      test::error_of([&] { read_corpus_files(at); }),
      test::IsError(OMEN_INVALID_DATA, HasSubstr("network 1 is another one"), HasSubstr("id")));
}

}  // namespace
}  // namespace omen::power
