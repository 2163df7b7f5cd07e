// SPDX-License-Identifier: Apache-2.0
// Networks from every form they are written in, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "hardware/hardware_file.hpp"
#include "nets/block_features.hpp"
#include "nets/mobile_names.hpp"
#include "nets/nets_frontend.hpp"
#include "nets/nets_json.hpp"
#include "nets/topology_csv.hpp"
#include "omen/testing/errors.hpp"

namespace omen::power {
namespace {

using ::testing::HasSubstr;

std::string net_text(const std::string& blocks,
                     const std::string& input = R"({"c":3,"h":32,"w":32})") {
  return R"({"format":"pw-nets/1","nets":[{"id":7,"input":)" + input + R"(,"blocks":[)" + blocks +
         "]}]}";
}

Net one_net(const std::string& blocks, const std::string& input = R"({"c":3,"h":32,"w":32})") {
  return parse_nets(net_text(blocks, input), "x.json").at(0);
}

// As published, batch 4 in millions: 421.66, 895.79, 598.07, 448.55, 299.04.
TEST(Amounts, ConvolutionsOfAlexNet) {
  const Net net = one_net(
      R"({"type":"conv","cout":96,"k":11,"stride":4},{"type":"pool","k":3,"stride":2},
         {"type":"conv","cout":256,"k":5,"pad":2,"groups":2},{"type":"pool","k":3,"stride":2},
         {"type":"conv","cout":384,"k":3,"pad":1},{"type":"conv","cout":384,"k":3,"pad":1,"groups":2},
         {"type":"conv","cout":256,"k":3,"pad":1,"groups":2})",
      R"({"c":3,"h":227,"w":227})");
  std::vector<double> macs;
  for (const Primitive& layer : net.layers)
    if (has_macs(layer.type)) macs.push_back(4 * amounts_of(layer).macs);
  EXPECT_EQ(macs, (std::vector<double>{421660800, 895795200, 598081536, 448561152, 299040768}));
}

TEST(Amounts, MobileNetsByName) {
  const NetTotals first = totals_of(mobile_net("mobilenet-v1-1.0-224").value());
  EXPECT_NEAR(first.macs, 569e6, 1e6);
  EXPECT_NEAR(first.weights, 4.2e6, 0.05e6);
  const NetTotals second = totals_of(mobile_net("mobilenet-v2-1.0-224").value());
  EXPECT_EQ(second.macs, 300774272);
  EXPECT_EQ(mobile_net("mobilenet-v2-0.75-192-quantized")->bits.weight, 8);
  EXPECT_EQ(mobile_net("mobilenet-v2-0.75-192-non-quantized")->bits.weight, 32);
  EXPECT_FALSE(mobile_net("mobilenet-v9-1.0-224"));
  EXPECT_FALSE(mobile_net("resnet50"));
  EXPECT_FALSE(mobile_net("mobilenet_v2")) << "other tools mean a model of their own by that";
}

TEST(MobileNames, all_spellings_of_the_results_are_one_network) {
  const NetTotals large = totals_of(mobile_net("mobilenet-v3-large_224_1.0_float").value());
  EXPECT_NEAR(large.macs, 217e6, 2e6);
  EXPECT_NEAR(large.weights, 5.4e6, 0.1e6);
  EXPECT_NEAR(totals_of(*mobile_net("mobilenet-v3-small_224_1.0_uint8")).macs, 56.5e6, 1e6);
  EXPECT_NEAR(totals_of(*mobile_net("mobilenet-v3-large-minimalistic_224_1.0_float")).macs, 209e6,
              4e6);
  EXPECT_NEAR(totals_of(*mobile_net("efficientnet-lite0-quantized")).macs, 386e6, 4e6);
  EXPECT_NEAR(totals_of(*mobile_net("efficientnet-fp32-lite4")).weights, 13e6, 0.2e6);
  EXPECT_EQ(net_key(*mobile_net("mobilenet-v2-precision_uint8-0.75-192")),
            net_key(*mobile_net("mobilenet-v2-0.75-192-quantized")));
  EXPECT_EQ(net_key(*mobile_net("mobilenet-v3-precision_float-small-224")),
            net_key(*mobile_net("mobilenet-v3-small_224_1.0_float")));
  EXPECT_EQ(mobile_net("efficientnet-int8-lite1")->bits.weight, 8);
  EXPECT_EQ(mobile_net("efficientnet-int8-lite1")->input.h, 240);
  for (const char* other :
       {"mobilenet-v3-224", "mobilenet-v2-large-1.0-224", "efficientnet-lite5-int8",
        "efficientnet-v1-1.0-224", "mobilenet-v2-1.0-224-extra"})
    EXPECT_FALSE(mobile_net(other)) << other;
}

TEST(Amounts, ResNet50) {
  std::string blocks =
      R"({"type":"conv","cout":64,"k":7,"stride":2,"pad":3},{"type":"pool","k":3,"stride":2,"pad":1})";
  const int repeats[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < repeats[stage]; ++i)
      blocks += R"(,{"type":"bottleneck","cout":)" + std::to_string(256 << stage) +
                R"(,"stride":)" + std::to_string(i == 0 && stage > 0 ? 2 : 1) + "}";
  blocks += R"(,{"type":"globalpool"},{"type":"linear","cout":1000,"bias":true})";
  const NetTotals totals = totals_of(one_net(blocks, R"({"c":3,"h":224,"w":224})"));
  EXPECT_NEAR(totals.macs, 4.09e9, 0.01e9);
  EXPECT_NEAR(totals.weights, 25.5e6, 0.1e6);
}

TEST(NetsJson, AttentionWithACache) {
  const Net net =
      one_net(R"({"type":"attention","heads":4,"context":64})", R"({"c":128,"tokens":1})");
  double macs = 0;
  for (const Primitive& layer : net.layers) macs += amounts_of(layer).macs;
  EXPECT_EQ(macs, 4 * 128 * 128 + 2 * 64 * 128);
  EXPECT_EQ(amounts_of(net.layers[3]).second, 64 * 128);  // keys that are read
}

TEST(NetsJson, ChoicesCountByTheirProbability) {
  const Net net = one_net(
      R"({"type":"choice","probabilities":[0.25,0.75],"options":[
          {"type":"conv","cout":8,"k":1},{"type":"conv","cout":8,"k":3,"pad":1}]})");
  EXPECT_DOUBLE_EQ(totals_of(net).macs, 0.25 * 24 * 1024 + 0.75 * 216 * 1024);
}

TEST(NetsJson, EqualNetworksHaveEqualKeys) {
  const std::string block = R"({"type":"conv","cout":8,"k":3,"pad":1})";
  EXPECT_EQ(net_key(one_net(block)),
            net_key(one_net(R"({"k":[3,3],"type":"conv","pad":[1,1],"cout":8,"cin":3})")));
  EXPECT_NE(net_key(one_net(block)), net_key(one_net(R"({"type":"conv","cout":9,"k":3,"pad":1})")));
}

TEST(NetsJson, RefusesWithThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"type":"conv","cout":8,"kernel":3})", "nets[0].blocks[0].kernel is not known"},
      {R"({"type":"conv","cout":0})", "blocks[0].cout is 0; allowed are 1"},
      {R"({"type":"conv","cout":-4})", "blocks[0].cout is -4"},
      {R"({"type":"conv","cout":8,"cin":4})", "blocks[0].cin is 4, but 3 arrives"},
      {R"({"type":"conv","cout":8,"k":40})", "a window of 40 x 40 does not fit into 3 x 32 x 32"},
      {R"({"type":"magic"})", "'magic' is no type of block"},
      {R"({"type":"conv","cout":8},{"type":"conv","cout":8,"h":16})",
       "blocks[1].h is 16, but 32 arrives"},
      {R"({"type":"mbconv","cout":8,"skip":true})", "a skip needs stride 1"},
      {R"({"type":"conv","cout":8,"groups":2})", "cannot have 2 groups"},
      {R"({"type":"add","in":[-1,5]})", "names a block that does not come before"},
      {R"({"type":"choice","probabilities":[0.5],"options":[{"type":"act"}]})",
       "do not sum up to 1"},
  };
  for (const auto& [blocks, said] : cases)
    EXPECT_THAT(test::error_of([&, text = net_text(blocks)] { parse_nets(text, "x.json"); }),
                test::IsError(OMEN_INVALID_DATA, HasSubstr(said), HasSubstr("README.md")))
        << said;
  EXPECT_THAT(
      test::error_of([] { parse_nets("{\n\"a\": }", "x.json"); }),
      test::IsError(OMEN_INVALID_DATA, HasSubstr("not valid JSON at line 2"), HasSubstr("comma")));
}

TEST(Topology, ReadsBothForms) {
  EXPECT_TRUE(is_topology("Layer,M,N,K,\n"));
  EXPECT_FALSE(is_topology("a,b\n1,2\n"));
  const Net net = parse_topology(
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
      "Strides,\n"
      "Conv1, 227, 227, 11, 11, 3, 96, 4,\n\n",
      "alexnet.csv");
  EXPECT_EQ(net.layers.at(0).ho, 55);
  EXPECT_EQ(amounts_of(parse_topology("Layer,M,N,K,\na,4,5,6,\n", "x.csv").layers[0]).macs, 120);
  for (const char* bad :
       {"Layer,M,N,K,\na,4,0,6,\n", "Layer,M,N,K,\na,4\n", "Layer,M,N,K,\n", "x\n"})
    EXPECT_THAT(test::error_of([&] { parse_topology(bad, "x.csv"); }),
                test::IsError(OMEN_INVALID_DATA, HasSubstr("x.csv"), HasSubstr("M, N, K")));
}

TEST(HardwareFile, ReadsBothForms) {
  const Hardware cfg = parse_hardware(
      "ArrayHeight: 12\nArrayWidth: 14\nDataflow : ws\nBandwidth: 10\n", "e.cfg", {});
  EXPECT_EQ(cfg.rows, 12);
  EXPECT_EQ(cfg.dataflow, Dataflow::ws);
  EXPECT_DOUBLE_EQ(cfg.bw_gbps, 7);  // 10 bytes a cycle at 700 MHz
  EXPECT_EQ(parse_hardware(R"({"dram": "hbm2", "zero_gate": true})", "h.json", {}).dram,
            Dram::hbm2);
  const std::pair<const char*, const char*> cases[] = {
      {R"({"row": 8})", "'row' is no parameter"},
      {R"({"rows": 0})", "rows is 0"},
      {R"({"node_nm": 28})", "node_nm is 28; energies are known for 65"},
      {R"({"vdd": 2})", "vdd is 2; allowed are 0.5 to 1.1"},
      {R"({"dataflow": "xs"})", "dataflow 'xs' is none of"},
      {"nothing", "no configuration of SCALE-Sim"}};
  for (const auto& [text, said] : cases)
    EXPECT_THAT(test::error_of([&, t = text] { parse_hardware(t, "h", {}); }),
                test::IsError(OMEN_INVALID_DATA, HasSubstr(said), HasSubstr("README.md")));
}

TEST(NetsFrontend, KnowsItsSources) {
  EXPECT_GT(NetsFrontend::sniff("x.json", R"( {"format": "pw-nets/1")"), 80);
  EXPECT_EQ(NetsFrontend::sniff("x.json", R"({"ensemble": 1})"), 0);
  EXPECT_GE(NetsFrontend::sniff("x.csv", "Layer,M,N,K,\n"), 50);
  EXPECT_EQ(NetsFrontend::sniff("x.csv", "name,m,n,k,threads\n"), 0);
  EXPECT_GT(NetsFrontend::sniff("mobilenet-v1-0.5-128", {}), 0);
}

}  // namespace
}  // namespace omen::power
