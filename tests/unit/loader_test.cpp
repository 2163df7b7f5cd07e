// SPDX-License-Identifier: Apache-2.0
// Every step of loading refuses what it must, with its own words and the next step.
#include "components/loader.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "components/elf_exports.hpp"
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

const fs::path kFixtures = OMEN_TEST_BUILD_DIR "/fixtures";

class Loader : public ::testing::Test {
 protected:
  // A copy that the test may break, and its manifest.
  Manifest copy(const std::string& id = "frozen") {
    const fs::path home = dir_.path() / id;
    fs::remove_all(home);
    fs::copy(kFixtures / id, home, fs::copy_options::recursive);
    return read_manifest(home / "plugin.json");
  }
  static std::optional<Error> load(const Manifest& manifest) {
    return error_of([&] { load_plugin(manifest); });
  }
  test::TempDir dir_;
};

TEST_F(Loader, LoadsOnceAndAnswersWithTheSamePlugin) {
  const Manifest manifest = copy();
  LoadedPlugin& first = load_plugin(manifest);
  EXPECT_EQ(&first, &load_plugin(manifest));
  EXPECT_STREQ(first.descriptor().id, "frozen");
  EXPECT_EQ(first.component(OMEN_PREDICTOR, "frozen.ids").kind, std::uint32_t{OMEN_PREDICTOR});
  EXPECT_EQ(first.extension("omen.nothing/1"), nullptr);
  EXPECT_THAT(error_of([&] { first.component(OMEN_SCORER, "frozen.ids"); }),
              IsError(OMEN_NOT_FOUND, HasSubstr("has no scorer 'frozen.ids'"),
                      HasSubstr("omen info frozen")));
  first.deinit();
  first.deinit();
}

TEST_F(Loader, RefusesAWrongDigest) {
  Manifest manifest = copy();
  manifest.sha256.assign(64, 'f');
  EXPECT_THAT(load(manifest),
              IsError(OMEN_INVALID_DATA,
                      AllOf(HasSubstr("libfrozen.so has sha256"), HasSubstr("pins ffff")),
                      HasSubstr("Build or install the plugin again")));
}

TEST_F(Loader, RefusesALibraryThatChangedByOneByte) {
  const Manifest manifest = copy();
  const fs::path library = manifest.directory / manifest.library;
  std::FILE* file = std::fopen(library.c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::fseek(file, -1, SEEK_END);
  std::fputc(0x5a, file);
  std::fclose(file);
  EXPECT_THAT(load(manifest), IsError(OMEN_INVALID_DATA, HasSubstr("its manifest pins")));
}

TEST_F(Loader, RefusesPathsThatLeaveTheDirectory) {
  copy("initfails");
  for (const char* name :
       {"../initfails/libinitfails.so", "/etc/passwd", "sub/../../initfails/libinitfails.so"}) {
    Manifest manifest = copy();
    manifest.library = name;
    EXPECT_THAT(load(manifest), IsError(OMEN_INVALID_DATA,
                                        AllOf(HasSubstr(name), HasSubstr("outside its directory")),
                                        HasSubstr("beside its plugin.json")));
  }
}

TEST_F(Loader, RefusesASymbolicLinkThatLeavesTheDirectory) {
  Manifest manifest = copy();
  fs::remove(manifest.directory / manifest.library);
  fs::create_symlink(kFixtures / "frozen/libfrozen.so", manifest.directory / manifest.library);
  EXPECT_THAT(load(manifest), IsError(OMEN_INVALID_DATA, HasSubstr("outside its directory")));
}

TEST_F(Loader, RefusesWhatAnyoneMayWrite) {
  const Manifest manifest = copy();
  fs::permissions(manifest.directory, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(load(manifest),
              IsError(OMEN_INVALID_DATA,
                      AllOf(HasSubstr("anyone may write"), HasSubstr(dir_.path().string())),
                      HasSubstr("chmod o-w")));
  fs::permissions(manifest.directory, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(manifest.directory / manifest.library, fs::perms::others_write,
                  fs::perm_options::add);
  EXPECT_THAT(load(manifest),
              IsError(OMEN_INVALID_DATA, HasSubstr("libfrozen.so"), HasSubstr("chmod o-w")));
}

TEST_F(Loader, RefusesAnAbsentLibraryAndPlatform) {
  Manifest manifest = copy();
  fs::remove(manifest.directory / manifest.library);
  EXPECT_THAT(load(manifest), IsError(OMEN_IO, HasSubstr("cannot find"), HasSubstr("again")));
  manifest.library.clear();
  manifest.platforms = {"plan9_mips"};
  EXPECT_THAT(load(manifest), IsError(OMEN_UNSUPPORTED, AllOf(HasSubstr(platform_key()),
                                                              HasSubstr("offers plan9_mips"))));
}

TEST_F(Loader, RefusesAFileThatIsNoLibrary) {
  Manifest manifest = copy();
  const fs::path library = dir_.write("frozen/libfrozen.so", std::string(100, 'x'));
  manifest.sha256 = container::sha256_file(library);
  EXPECT_THAT(load(manifest), IsError(OMEN_INVALID_DATA, HasSubstr("no ELF header")));
  dir_.write("frozen/libfrozen.so",
             "\x7f"
             "ELF");
  manifest.sha256 = container::sha256_file(library);
  EXPECT_THAT(load(manifest), IsError(OMEN_INVALID_DATA, HasSubstr("ends too early")));
}

TEST_F(Loader, RefusesALibraryWithoutTheEntry) {
  Manifest manifest = copy();
  const fs::path library = manifest.directory / manifest.library;
  Dl_info libc{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&::getpid), &libc), 0);
  fs::copy_file(fs::canonical(libc.dli_fname), library, fs::copy_options::overwrite_existing);
  manifest.sha256 = container::sha256_file(library);
  EXPECT_THAT(load(manifest),
              IsError(OMEN_INVALID_DATA, HasSubstr("does not export omen_plugin_entry"),
                      HasSubstr("OMEN_PLUGIN")));
}

TEST_F(Loader, RefusesDriftNamingTheFields) {
  Manifest manifest = copy();
  manifest.version = "9.9";
  manifest.components[0].writes = {"other:ms:lower"};
  EXPECT_THAT(load(manifest),
              IsError(OMEN_INVALID_DATA,
                      HasSubstr("differs from the library in version, frozen.ids.writes"),
                      HasSubstr("omen-manifest")));
}

TEST_F(Loader, ReportsAFailingInit) {
  EXPECT_THAT(
      load(copy("initfails")),
      IsError(OMEN_UNAVAILABLE, "plugin 'initfails' failed to start: no licence for the device",
              "Ask for one."));
}

TEST_F(Loader, RefusesAnEmptySlot) {
  EXPECT_THAT(
      load(copy("emptyslot")),
      IsError(OMEN_INVALID_DATA,
              HasSubstr("plugin misbehaving: component 'emptyslot.ids' leaves slot 'save' empty")));
}

TEST_F(Loader, CudaIsARequirementOrAWish) {
  Manifest manifest = copy();
  manifest.requirements["cuda"] = "optional";
  EXPECT_EQ(load(manifest), std::nullopt);
  if (fs::exists("/dev/nvidia0")) GTEST_SKIP() << "this machine has a device";
  Manifest strict = copy();
  const fs::path moved = dir_.path() / "moved";
  fs::rename(strict.directory, moved);
  strict.directory = moved;
  strict.requirements["cuda"] = ">=12";
  EXPECT_THAT(load(strict),
              IsError(OMEN_UNAVAILABLE, HasSubstr("needs CUDA >=12"), HasSubstr("NVIDIA driver")));
}

TEST_F(Loader, DescribesALibraryAsItsManifestDoes) {
  const Manifest manifest = copy();
  const Manifest described = describe_library(manifest.directory / manifest.library);
  EXPECT_EQ(to_json(described), to_json(manifest));
}

TEST(ElfExports, ListsOneSymbolPerPlugin) {
  EXPECT_THAT(exported_symbols(kFixtures / "frozen/libfrozen.so"),
              ElementsAre("omen_plugin_entry"));
  EXPECT_THAT(error_of([] { exported_symbols("/nonexistent"); }),
              IsError(OMEN_IO, HasSubstr("/nonexistent")));
}

}  // namespace
}  // namespace omen::host
