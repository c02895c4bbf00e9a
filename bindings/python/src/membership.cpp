#include "membership.hpp"

#include <longshore/core/error.hpp>

#include <pthread.h>

#include <cstdint>
#include <span>

namespace longshore::python {
namespace {

std::atomic<int> generation_of_this_process{0};

}  // namespace

membership::membership(std::shared_ptr<team> ranks)
    : team_(std::move(ranks)),
      rank_(team_->rank()),
      size_(team_->size()),
      is_alone_(size_ == 1 && team_->transport_name() == "threads") {}

int membership::generation() noexcept {
  return generation_of_this_process.load(std::memory_order_relaxed);
}

void membership::count_generations() {
  static_cast<void>(pthread_atfork(nullptr, nullptr, [] { ++generation_of_this_process; }));
}

membership::~membership() {
  if (team_ == nullptr) return;
  const bool of_processes = team_->transport_name() != "threads";
  for (auto& thing : things_)
    if (of_processes) new std::shared_ptr(std::move(thing));  // never freed
  if (of_processes) new std::shared_ptr(std::move(team_));
}

void membership::refuse() const {
  if (team_ == nullptr)
    fail(errc::usage,
         "the team of {} ranks has ended: what it made can be read, but no longer used together",
         size_);
  if (is_of_parent())
    fail(errc::usage,
         "the team of rank {} was used in a process that was forked from it: start processes of "
         "other kinds (multiprocessing: "
         "'spawn'), "
         "and give them arrays",
         rank_);
  fail(errc::usage,
       "the team of rank {} was used in another thread: only the thread that runs the rank may",
       rank_);
}

void membership::free_dropped() {
  if (things_.empty()) return;
  std::vector<std::int64_t> dropped(things_.size());
  for (std::size_t i = 0; i < things_.size(); ++i) dropped[i] = things_[i]->dropped ? 1 : 0;
  ranks().allreduce(std::span(dropped), reduction::min);
  for (std::size_t i = things_.size(); i-- > 0;) {
    if (dropped[i] == 0) continue;
    things_[i]->finish();
    things_.erase(things_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void membership::end() {
  if (team_ == nullptr) return;
  free_dropped();
  while (!things_.empty()) {
    things_.back()->finish();
    things_.back()->outlive_team();
    things_.pop_back();
  }
  team_.reset();
}

void membership::abandon() noexcept {
  if (team_ == nullptr) return;
  try {
    while (!things_.empty()) {
      things_.back()->abandon();
      things_.pop_back();
    }
  } catch (...) {  // the others have gone
  }
  team_.reset();
}

}  // namespace longshore::python
