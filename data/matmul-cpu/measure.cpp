// SPDX-License-Identifier: Apache-2.0
// Measures matrix products on this CPU and prints one CSV row for each.
//
//   g++ -std=c++20 -O3 -mavx2 -mfma -fopenmp -DNDEBUG -isystem /usr/include/eigen3
//       measure.cpp -o measure
//   ./measure [SEED] > matmul.csv
#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMaxFlops = 1.5e9;  // keeps the slowest row below a tenth of a second
constexpr int kRowsPerFamily = 60;
constexpr double kSecondsPerRow = 0.1;  // of repeats
constexpr int kMinRepeats = 5;

struct Shape {
  int m, n, k;
};

/// Sizes between `low` and `high`, evenly spread in logarithm.
class Sizes {
 public:
  explicit Sizes(std::uint64_t seed) : engine_(seed) {}
  int operator()(double low, double high) {
    const double share = static_cast<double>(engine_() >> 11) * 0x1.0p-53;
    return static_cast<int>(std::lround(low * std::pow(high / low, share)));
  }
  int pick(const std::vector<int>& choices) { return choices[engine_() % choices.size()]; }

 private:
  std::mt19937_64 engine_;
};

struct Family {
  const char* name;
  Shape (*draw)(Sizes&);
};

// Shapes as they occur: square, panels, layers of networks, convolutions as products, attention.
const Family kFamilies[] = {
    {"square",
     [](Sizes& s) {
       const int n = s(16, 900);
       return Shape{n, n, n};
     }},
    {"tall",
     [](Sizes& s) {
       return Shape{s(1000, 20000), s(4, 64), s(16, 256)};
     }},
    {"wide",
     [](Sizes& s) {
       return Shape{s(4, 64), s(1000, 20000), s(16, 256)};
     }},
    {"inner",
     [](Sizes& s) {
       return Shape{s(8, 96), s(8, 96), s(1000, 60000)};
     }},
    {"outer",
     [](Sizes& s) {
       return Shape{s(200, 2000), s(200, 2000), s(2, 24)};
     }},
    {"layer",
     [](Sizes& s) {
       return Shape{s.pick({1, 8, 32, 64, 128}), s(64, 2048), s(64, 2048)};
     }},
    {"convolution",
     [](Sizes& s) {
       return Shape{s(14 * 14, 56 * 56), s(16, 256), 9 * s(8, 128)};
     }},
    {"scores",
     [](Sizes& s) {
       const int n = s(32, 1024);
       return Shape{n, n, s.pick({32, 64, 128})};
     }},
    {"values",
     [](Sizes& s) {
       const int n = s(32, 1024);
       return Shape{n, s.pick({32, 64, 128}), n};
     }},
    {"gate",
     [](Sizes& s) {
       const int n = s(64, 1024);
       return Shape{s(1, 64), 4 * n, n};
     }},
};

template <class Scalar>
using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The fastest of the repeats: other programs on the machine only ever add time.
template <class Scalar>
double time_ms(const Shape& shape, int threads) {
  const RowMajor<Scalar> a = RowMajor<Scalar>::Random(shape.m, shape.k);
  const RowMajor<Scalar> b = RowMajor<Scalar>::Random(shape.k, shape.n);
  RowMajor<Scalar> c(shape.m, shape.n);
  Eigen::setNbThreads(threads);
  c.noalias() = a * b;
  double best = 1e300, spent = 0;
  for (int repeat = 0; repeat < kMinRepeats || spent < kSecondsPerRow; ++repeat) {
    const Clock::time_point start = Clock::now();
    c.noalias() = a * b;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    spent += seconds;
  }
  volatile Scalar kept = c(0, 0);  // the product must not be optimised away
  (void)kept;
  return best * 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  Sizes sizes(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1);
  std::printf("name,group,m,n,k,threads,dtype,time_ms\n");
  for (const Family& family : kFamilies) {
    for (int row = 0; row < kRowsPerFamily;) {
      const Shape shape = family.draw(sizes);
      if (2.0 * shape.m * shape.n * shape.k > kMaxFlops) continue;
      const int threads = sizes.pick({1, 2});
      const std::string dtype = sizes.pick({0, 1}) == 0 ? "f32" : "f64";
      const double ms =
          dtype == "f32" ? time_ms<float>(shape, threads) : time_ms<double>(shape, threads);
      std::printf("%s-%d,%s,%d,%d,%d,%d,%s,%.6g\n", family.name, row, family.name, shape.m, shape.n,
                  shape.k, threads, dtype.c_str(), ms);
      std::fflush(stdout);
      ++row;
    }
  }
}
