// SPDX-License-Identifier: Apache-2.0
// Holds the directory open, because its name may change meanwhile.
#include "components/kept_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "omen/descriptor.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace {

struct Place {
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const Place&) const = default;
};

Place current_place() noexcept {
  struct stat here {};
  return stat(".", &here) == 0 ? Place{here.st_dev, here.st_ino} : Place{};
}

// Kept from call to call: opening the directory again costs as much as a small prediction.
struct OpenPlace {
  Place place;
  Descriptor directory;
};
thread_local OpenPlace t_kept;

}  // namespace

KeptDirectory::KeptDirectory() noexcept {
  const Place here = current_place();
  if (t_kept.directory.open() && t_kept.place == here) return;
  t_kept.directory = Descriptor(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  t_kept.place = here;
}

KeptDirectory::~KeptDirectory() {
  if (!t_kept.directory.open() || current_place() == t_kept.place) return;
  if (fchdir(t_kept.directory.get()) != 0) return;
  log(OMEN_LOG_WARN, "omen", "a plugin changed the working directory; omen went back");
}

}  // namespace omen::host
