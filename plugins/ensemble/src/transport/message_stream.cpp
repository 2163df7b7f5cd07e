// SPDX-License-Identifier: Apache-2.0
// The designs that send blocks: one thread walks the same static schedule on every rank.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <omen/error.hpp>
#include <optional>
#include <thread>

#include "transport/made_blocks.hpp"

namespace omen::ensemble {
namespace {

// Memory that goes back to where it came from; the queue bounds how much there is.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  MemoryPool(const BlockShape& shape, std::size_t blocks) : shape_(shape), blocks_(blocks) {}
  std::shared_ptr<char> take() {
    BlockMemory memory;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        memory = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!memory) memory = make_block_memory(shape_, blocks_);
    return {memory.release(), [pool = shared_from_this()](char* at) {
              const std::lock_guard lock(pool->mutex_);
              pool->free_.emplace_back(at);
            }};
  }

 private:
  const BlockShape shape_;
  const std::size_t blocks_;
  std::mutex mutex_;
  std::vector<BlockMemory> free_;
};

struct Delivered {
  char* block = nullptr;
  std::shared_ptr<char> owner;
};

class MessageStream final : public BlockStream {
 public:
  MessageStream(Design design, const StreamSetup& setup, const Group& group)
      : setup_(setup), design_(design), delivered_(setup.queue) {
    const int size = group.size();
    makers_ = design == Design::kAllShared
                  ? size
                  : static_cast<int>(std::min<std::int64_t>(setup.preprocessors, size));
    rank_ = group.rank();
    open_groups(group);
    if (rank_ < makers_)
      own_.emplace(setup, Share{setup.begin + rank_, makers_, setup.pass.blocks()},
                   std::max<std::size_t>(1, setup.queue / static_cast<std::size_t>(makers_)));
    thread_ = std::thread([this] { guarded(); });
  }
  ~MessageStream() override {
    stop_ = true;
    delivered_.abandon();
    if (own_) own_->stop();
    thread_.join();
  }

  char* next() override {
    last_ = {};
    if (auto item = delivered_.pop()) {
      last_ = std::move(*item);
      return last_.block;
    }
    if (error_) std::rethrow_exception(error_);
    return nullptr;
  }
  std::vector<QueueFill> fill() const override {
    std::vector<QueueFill> all = own_ ? own_->fill() : std::vector<QueueFill>{};
    all.push_back({"to_train", delivered_.capacity(), delivered_.size()});
    return all;
  }

 private:
  void open_groups(const Group& group) {
    if (design_ == Design::kMultiBroadcast) {
      for (int i = 0; i < makers_; ++i) broadcasts_.push_back(group.duplicate());
      return;
    }
    std::vector<int> makers(static_cast<std::size_t>(makers_));
    std::iota(makers.begin(), makers.end(), 0);
    gather_ = group.subset(makers);
    if (design_ != Design::kSingleBroadcast) return;
    // The last maker is in both groups: it hands on what was gathered.
    std::vector<int> readers(static_cast<std::size_t>(group.size() - makers_ + 1));
    std::iota(readers.begin(), readers.end(), makers_ - 1);
    broadcasts_.push_back(group.subset(readers));
  }

  void guarded() {
    try {
      pools_ = std::make_shared<MemoryPool>(
          setup_.shape, static_cast<std::size_t>(design_ == Design::kMultiBroadcast ? 1 : makers_));
      if (design_ == Design::kMultiBroadcast)
        walk_broadcasts();
      else if (rank_ < makers_)
        walk_gathers();
      else
        walk_received();
    } catch (...) {
      error_ = std::current_exception();
    }
    delivered_.close();
  }

  bool stopped() const { return stop_; }

  // Our block of a round; one that holds nothing where the pass ends inside of the round.
  char* own_block(std::int64_t index) {
    if (index < setup_.pass.blocks()) return own_->next();
    if (!empty_) empty_ = make_block_memory(setup_.shape);
    BlockView(setup_.shape, empty_.get()).head() = {-1, 0};
    return empty_.get();
  }
  void done_with(char* block) {
    if (block != empty_.get()) own_->give_back(block);
  }

  // A round brings one block of every maker to all makers.
  void walk_gathers() {
    const std::int64_t end = setup_.pass.blocks();
    for (std::int64_t round = setup_.begin; round < end; round += makers_) {
      char* own = own_block(round + rank_);
      if (!own) return;
      std::shared_ptr<char> all = pools_->take();
      {
        const StageTimer timer(setup_.record.clocks, Stage::kSend,
                               static_cast<double>(setup_.shape.bytes()));
        if (!gather_->gather_blocks(own, all.get(), setup_.shape, [this] { return stopped(); }))
          return;
      }
      done_with(own);
      for (std::int64_t i = 0; i < makers_ && round + i < end; ++i) {
        char* block = all.get() + static_cast<std::size_t>(i) * setup_.shape.bytes();
        if (!hand_on(block) || !delivered_.push({block, all})) return;
      }
    }
  }

  // What a single broadcast carries to the ranks that make nothing.
  bool hand_on(char* block) {
    if (design_ != Design::kSingleBroadcast || rank_ != makers_ - 1) return true;
    const StageTimer timer(setup_.record.clocks, Stage::kSend,
                           static_cast<double>(setup_.shape.bytes()));
    MPI_Request request = broadcasts_[0].begin_broadcast(block, setup_.shape, 0);
    return Group::wait(request, [this] { return stopped(); });
  }

  void walk_received() {
    for (std::int64_t index = setup_.begin; index < setup_.pass.blocks(); ++index) {
      std::shared_ptr<char> block = pools_->take();
      {
        const StageTimer timer(setup_.record.clocks, Stage::kSend);
        MPI_Request request = broadcasts_[0].begin_broadcast(block.get(), setup_.shape, 0);
        if (!Group::wait(request, [this] { return stopped(); })) return;
      }
      if (!delivered_.push({block.get(), block})) return;
    }
  }

  // Every maker is the root of its own communicator; a round has one broadcast of each.
  void walk_broadcasts() {
    const std::int64_t end = setup_.pass.blocks();
    for (std::int64_t round = setup_.begin; round < end; round += makers_) {
      const std::int64_t last = std::min<std::int64_t>(makers_, end - round);
      std::vector<std::shared_ptr<char>> blocks;
      std::vector<MPI_Request> requests;
      for (int i = 0; i < last; ++i) {
        blocks.push_back(i == rank_ ? nullptr : pools_->take());
        requests.push_back(i == rank_ ? MPI_REQUEST_NULL
                                      : broadcasts_[static_cast<std::size_t>(i)].begin_broadcast(
                                            blocks.back().get(), setup_.shape, i));
      }
      if (rank_ < last && !send_own(blocks, requests)) return;
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        {
          // Traffic is what its root sends.
          const bool own = i == static_cast<std::size_t>(rank_);
          const StageTimer timer(setup_.record.clocks, Stage::kSend,
                                 own ? static_cast<double>(setup_.shape.bytes()) : 0);
          if (!Group::wait(requests[i], [this] { return stopped(); })) return;
        }
        if (!delivered_.push({blocks[i].get(), blocks[i]})) return;
      }
    }
  }

  // The receives of the round are already posted, so that nobody waits for a slow maker in vain.
  bool send_own(std::vector<std::shared_ptr<char>>& blocks, std::vector<MPI_Request>& requests) {
    char* own = own_->next();
    if (!own) return false;
    const auto at = static_cast<std::size_t>(rank_);
    blocks[at] = {own, [this](char* block) { own_->give_back(block); }};
    requests[at] = broadcasts_[at].begin_broadcast(own, setup_.shape, rank_);
    return true;
  }

  const StreamSetup setup_;
  const Design design_;
  int rank_ = 0, makers_ = 1;
  std::optional<Group> gather_;
  std::vector<Group> broadcasts_;
  std::optional<MadeBlocks> own_;
  std::shared_ptr<MemoryPool> pools_;
  BlockMemory empty_;
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  BoundedQueue<Delivered> delivered_;
  Delivered last_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<BlockStream> make_message_stream(Design design, const StreamSetup& setup,
                                                 const Group& group) {
  return std::make_unique<MessageStream>(design, setup, group);
}

}  // namespace omen::ensemble
