// SPDX-License-Identifier: Apache-2.0
// One thread owns MPI: it cuts messages into small ones, keeps up signs of life and notices deaths.
#include "compare/mpi_link.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "omen/error.hpp"
#include "worker/child_process.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

enum Tag { kBody = 1, kBeat, kPlace };

constexpr auto kStartPatience = 120s, kFlushPatience = 5s, kFinishPatience = 10s;
constexpr Milliseconds kShortestNap{1}, kLongestNap{5};
// What a rank sent before it died may still be on its way.
constexpr auto kLastWords = 200ms;

// Two processes with the same place see each other's process ids.
std::string own_place() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 64> space{};
  if (boot.empty() || readlink("/proc/self/ns/pid", space.data(), space.size() - 1) < 0) return {};
  return boot + " " + space.data();
}

struct Peer {
  bool lost = false;
  Clock::time_point heard = Clock::now();
  Descriptor process;  // open where it runs on this host
  std::optional<Clock::time_point> ended;
  std::string incoming;
  std::deque<std::string> outgoing;
  std::size_t sent = 0;  // of outgoing.front()

  bool has_ended() {
    pollfd entry{process.get(), POLLIN, 0};
    if (!ended && process.open() && poll(&entry, 1, 0) > 0) ended = Clock::now();
    return ended && Clock::now() - *ended > kLastWords;
  }
};

// What the owner of a link and the thread of MPI share. The thread keeps it where MPI hangs.
class Exchange {
 public:
  Exchange(const omen_mpi_module& module, Milliseconds silence)
      : module_(module), silence_(silence) {}

  void run();

  std::mutex mutex;
  std::condition_variable changed;
  bool started = false, leaving = false, together = false, ended = false;
  std::string error;
  int rank = 0;
  std::vector<Peer> peers;  // by rank; the own one is never used
  std::deque<RankLink::Event> inbox;

 private:
  bool start();
  void serve();
  bool take_messages();
  void take_body(int from, std::string_view text);
  void learn_place(Peer& peer, const std::string& text);
  bool pass_on();
  void look_for_losses();
  bool unsent();
  template <class Do>
  void each_peer(const Do& action);

  const omen_mpi_module module_;
  const Milliseconds silence_;
};

template <class Do>
void Exchange::each_peer(const Do& action) {
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const int other = static_cast<int>(i);
    const bool talks = other != rank && (rank == 0 || other == 0);
    if (talks && !peers[i].lost) action(other, peers[i]);
  }
}

void Exchange::run() {
  if (!start()) return;
  serve();
  if (together) module_.finish();
  const std::lock_guard lock(mutex);
  ended = true;
  changed.notify_all();
}

bool Exchange::start() {
  int own_rank = 0, size = 0;
  std::array<char, 256> text{};
  const bool failed = module_.start(&own_rank, &size, text.data(), text.size()) != 0;
  const std::lock_guard lock(mutex);
  if (failed) error = text.data();
  rank = own_rank;
  peers.resize(static_cast<std::size_t>(size));
  started = true;
  changed.notify_all();
  return !failed;
}

void Exchange::serve() {
  const std::string place = std::to_string(getpid()) + " " + own_place();
  std::unique_lock lock(mutex);
  each_peer([&](int to, Peer&) { module_.send(to, kPlace, place.data(), place.size()); });
  Clock::time_point next_beat = Clock::now();
  std::optional<Clock::time_point> deadline;
  Milliseconds nap = kShortestNap;
  while (true) {
    const bool received = take_messages(), passed = pass_on();
    if (Clock::now() >= next_beat) {
      each_peer([&](int to, Peer&) { module_.send(to, kBeat, "", 0); });
      next_beat = Clock::now() + std::min<Clock::duration>(1s, silence_ / 4);
    }
    look_for_losses();
    if (leaving) {
      if (!deadline) deadline = Clock::now() + kFlushPatience;
      if (!unsent() || Clock::now() > *deadline) return;
    }
    nap = received || passed ? kShortestNap : std::min(nap * 2, kLongestNap);
    if (received || passed) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    } else {
      changed.wait_for(lock, nap);
    }
  }
}

bool Exchange::take_messages() {
  std::array<char, OMEN_MPI_LARGEST> bytes;
  int from = 0, tag = 0, taken = 0;
  // Bounded, so that busy senders do not keep our own messages from going out.
  for (; taken < 1024; ++taken) {
    const long size = module_.receive(&from, &tag, bytes.data());
    if (size < 0) break;
    Peer& peer = peers.at(static_cast<std::size_t>(from));
    if (peer.lost) continue;
    peer.heard = Clock::now();
    const std::string_view text(bytes.data(), static_cast<std::size_t>(size));
    if (tag == kBody) take_body(from, text);
    if (tag == kPlace) learn_place(peer, std::string(text));
  }
  return taken > 0;
}

void Exchange::take_body(int from, std::string_view text) {
  std::string& incoming = peers[static_cast<std::size_t>(from)].incoming;
  incoming += text;
  std::uint64_t size = 0;
  while (incoming.size() >= sizeof size) {
    std::memcpy(&size, incoming.data(), sizeof size);
    if (incoming.size() - sizeof size < size) return;
    inbox.push_back({from, false, incoming.substr(sizeof size, size)});
    incoming.erase(0, sizeof size + size);
    changed.notify_all();
  }
}

void Exchange::learn_place(Peer& peer, const std::string& text) {
  const std::string place = own_place();
  const std::size_t space = text.find(' ');
  if (place.empty() || space == std::string::npos || text.substr(space + 1) != place) return;
  const pid_t pid = static_cast<pid_t>(std::atol(text.c_str()));
  peer.process = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool Exchange::pass_on() {
  bool any = false;
  each_peer([&](int to, Peer& peer) {
    while (!peer.outgoing.empty()) {
      const std::string& body = peer.outgoing.front();
      const std::size_t size = std::min<std::size_t>(OMEN_MPI_LARGEST, body.size() - peer.sent);
      if (module_.send(to, kBody, body.data() + peer.sent, size) != 1) return;
      any = true;
      peer.sent += size;
      if (peer.sent < body.size()) continue;
      peer.outgoing.pop_front();
      peer.sent = 0;
    }
  });
  return any;
}

void Exchange::look_for_losses() {
  each_peer([&](int other, Peer& peer) {
    const bool silent = Clock::now() - peer.heard > silence_;
    if (!silent && !peer.has_ended()) return;
    // A process that was stopped would keep the launcher waiting for ever.
    if (silent && rank == 0 && peer.process.open())
      syscall(SYS_pidfd_send_signal, peer.process.get(), SIGKILL, nullptr, 0);
    peer.lost = true;
    peer.outgoing.clear();
    peer.incoming.clear();
    inbox.push_back({other, true, {}});
    changed.notify_all();
  });
}

bool Exchange::unsent() {
  bool waiting = false;
  each_peer([&](int, const Peer& peer) { waiting |= !peer.outgoing.empty(); });
  const bool any_lost =
      std::any_of(peers.begin(), peers.end(), [](const Peer& peer) { return peer.lost; });
  // What was on its way to a lost rank never leaves the module.
  return waiting || (!any_lost && module_.sending() > 0);
}

class MpiLink final : public RankLink {
 public:
  MpiLink(const omen_mpi_module& module, Milliseconds silence)
      : exchange_(std::make_shared<Exchange>(module, silence)),
        thread_([exchange = exchange_] { exchange->run(); }) {
    std::unique_lock lock(exchange_->mutex);
    if (!exchange_->changed.wait_for(lock, kStartPatience, [&] { return exchange_->started; })) {
      thread_.detach();
      throw Error(OMEN_UNAVAILABLE, "the ranks did not come together within two minutes",
                  "Look above for a rank that could not start");
    }
    if (exchange_->error.empty()) return;
    lock.unlock();
    thread_.join();
    throw Error(OMEN_UNAVAILABLE, "MPI does not start: " + exchange_->error);
  }
  ~MpiLink() override { leave(false); }

  int rank() const noexcept override { return exchange_->rank; }
  int size() const noexcept override { return static_cast<int>(exchange_->peers.size()); }

  void send(int to, std::string body) override {
    const std::lock_guard lock(exchange_->mutex);
    if (to == exchange_->rank) {
      exchange_->inbox.push_back({to, false, std::move(body)});
    } else if (Peer& peer = exchange_->peers.at(static_cast<std::size_t>(to)); !peer.lost) {
      const std::uint64_t size = body.size();
      std::string head(sizeof size, '\0');
      std::memcpy(head.data(), &size, sizeof size);
      peer.outgoing.push_back(head + body);
    }
    exchange_->changed.notify_all();
  }

  std::optional<Event> wait(Milliseconds patience) override {
    std::unique_lock lock(exchange_->mutex);
    std::deque<Event>& inbox = exchange_->inbox;
    if (!exchange_->changed.wait_for(lock, patience, [&] { return !inbox.empty(); })) return {};
    Event event = std::move(inbox.front());
    inbox.pop_front();
    return event;
  }

  void leave(bool together) override {
    if (!thread_.joinable()) return;
    std::unique_lock lock(exchange_->mutex);
    exchange_->leaving = true;
    exchange_->together = together;
    exchange_->changed.notify_all();
    const bool ended = exchange_->changed.wait_for(lock, kFlushPatience + kFinishPatience,
                                                   [&] { return exchange_->ended; });
    lock.unlock();
    // MPI_Finalize waits for ranks that may have died meanwhile; the process can end without it.
    if (ended)
      thread_.join();
    else
      thread_.detach();
  }

 private:
  std::shared_ptr<Exchange> exchange_;
  std::thread thread_;
};

long environment_number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : 0;
}

Milliseconds patience_with_ranks() {
  const char* text = std::getenv("OMEN_RANK_TIMEOUT");
  const double seconds = text ? std::atof(text) : 0;
  return seconds > 0 ? Milliseconds(static_cast<std::int64_t>(std::max(1.0, seconds) * 1000)) : 30s;
}

const omen_mpi_module& open_module() {
  const fs::path prefix = share_directory().parent_path().parent_path();
  const std::array places{prefix / "lib/omen/libomen-mpi.so",
                          prefix / OMEN_INSTALL_RELATIVE_LIBDIR "/omen/libomen-mpi.so"};
  const auto found =
      std::find_if(places.begin(), places.end(), [](const fs::path& p) { return fs::exists(p); });
  if (found == places.end())
    throw Error(OMEN_UNAVAILABLE,
                "a launcher started several ranks, but this omen was built without MPI",
                "Run: apt install libopenmpi-dev openmpi-bin, then configure and build again; " +
                    places[0].string() + " appears");
  // Stays open: MPI cannot be unloaded.
  void* library = dlopen(found->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(OMEN_UNAVAILABLE, std::string("the MPI module does not load: ") + dlerror(),
                "Install Open MPI with: apt install openmpi-bin");
  const auto entry = reinterpret_cast<omen_mpi_entry_fn>(dlsym(library, OMEN_MPI_ENTRY));
  const omen_mpi_module* module = entry ? entry() : nullptr;
  if (!module || module->version != OMEN_MPI_VERSION)
    throw Error(OMEN_UNAVAILABLE, found->string() + " belongs to another version of omen",
                "Install omen and its MPI module together");
  return *module;
}

// Programs that plugins start must not take themselves for ranks of this run.
void forget_launcher() {
  std::vector<std::string> names;
  for (char** at = environ; *at; ++at) {
    const std::string_view entry = *at;
    if (entry.starts_with("OMPI_") || entry.starts_with("PMIX_") || entry.starts_with("PMI_"))
      names.emplace_back(entry.substr(0, entry.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace

bool launched_as_rank() {
  return environment_number("OMPI_COMM_WORLD_SIZE") > 1 || environment_number("PMI_SIZE") > 1 ||
         (std::getenv("PMIX_RANK") && environment_number("SLURM_STEP_NUM_TASKS") > 1);
}

std::unique_ptr<RankLink> make_mpi_link(const omen_mpi_module& module, Milliseconds silence) {
  return std::make_unique<MpiLink>(module, silence);
}

std::unique_ptr<RankLink> join_ranks() {
  if (!launched_as_rank()) return nullptr;
  std::unique_ptr<RankLink> link = make_mpi_link(open_module(), patience_with_ranks());
  forget_launcher();
  if (link->size() == 1)
    throw Error(OMEN_UNAVAILABLE, "the launcher's ranks do not find each other",
                "Start omen with the mpirun of Open MPI; another MPI cannot launch it");
  return link;
}

}  // namespace omen::host
