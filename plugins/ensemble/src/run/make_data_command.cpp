// SPDX-License-Identifier: Apache-2.0
// The verb around the generator, and around packing what is there already.
#include "run/make_data_command.hpp"

#include "data/generator.hpp"
#include "data/packed_jpeg.hpp"

namespace omen::ensemble {
namespace {

struct MakeDataOptions {
  std::string from;
  std::int64_t images = 1024;
  int width = 375, height = 300, quality = 90;

  static std::vector<Option<MakeDataOptions>> spec() {
    using O = MakeDataOptions;
    return options(opt(&O::from, "from",
                       "directory with one directory of JPEG files for each class, to be packed; "
                       "empty: make images"),
                   opt(&O::images, "images", "how many").range(1, 1e7),
                   opt(&O::width, "width", "of each image").range(8, 4096).unit("pixels"),
                   opt(&O::height, "height", "of each image").range(8, 4096).unit("pixels"),
                   opt(&O::quality, "quality", "of the JPEG compression").range(1, 100));
  }
};

class MakeDataCommand final : public Command {
 public:
  explicit MakeDataCommand(MakeDataOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut&, const Run& run) override {
    if (args.size() != 1)
      throw Error(OMEN_INVALID_ARGUMENT, "make-data needs the name of the file to make",
                  "Use: omen ensemble make-data images.epd");
    if (!options_.from.empty()) {
      pack_images(*open_images(options_.from), args[0],
                  [&run](double part) { run.step(part, "pack images"); });
      return 0;
    }
    write_generated(args[0], static_cast<std::uint32_t>(options_.images),
                    {options_.width, options_.height, options_.quality, run.seed()},
                    [&run](double part) { run.step(part, "make images"); });
    return 0;
  }

 private:
  MakeDataOptions options_;
};

}  // namespace

Component make_data_component() {
  return command<MakeDataCommand, MakeDataOptions>(
      "ensemble.make-data",
      "a packed JPEG file of your images, or of generated ones in ten classes");
}

}  // namespace omen::ensemble
