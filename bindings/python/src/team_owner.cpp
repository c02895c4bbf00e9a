// Ends a team and frees the objects of its ranks: together with the other ranks, or after a failure
// without them. Counts forks, so that a forked process cannot use the team of its parent.
#include "team_owner.hpp"

#include <longshore/core/error.hpp>

#include <pthread.h>

#include <cstdint>
#include <span>

namespace longshore::python {
namespace {

std::atomic<int> generation_of_this_process{0};

}  // namespace

team_owner::team_owner(std::shared_ptr<team> ranks)
    : team_(std::move(ranks)),
      rank_(team_->rank()),
      size_(team_->size()),
      is_alone_(size_ == 1 && team_->transport_name() == "threads") {}

int team_owner::generation() noexcept {
  return generation_of_this_process.load(std::memory_order_relaxed);
}

void team_owner::count_generations() {
  static_cast<void>(pthread_atfork(nullptr, nullptr, [] { ++generation_of_this_process; }));
}

team_owner::~team_owner() {
  if (team_ == nullptr) return;
  const bool of_processes = team_->transport_name() != "threads";
  for (auto& object : objects_)
    if (of_processes) new std::shared_ptr(std::move(object));  // never freed, as the header says
  if (of_processes) new std::shared_ptr(std::move(team_));
}

void team_owner::refuse() const {
  if (team_ == nullptr)
    fail(errc::usage,
         "the team of {} ranks has ended: its tables and fields can still be read, but collective "
         "calls are no longer possible",
         size_);
  if (is_of_parent())
    fail(errc::usage,
         "the team of rank {} was used in a process that was forked from it: start processes "
         "without fork (multiprocessing: 'spawn'), and give them arrays",
         rank_);
  fail(errc::usage,
       "the team of rank {} was used in another thread: only the thread that runs the rank may use "
       "it",
       rank_);
}

void team_owner::free_dropped() {
  if (objects_.empty()) return;
  std::vector<std::int64_t> dropped(objects_.size());
  // The minimum over the ranks is 1 only for objects that all ranks have dropped.
  for (std::size_t i = 0; i < objects_.size(); ++i) dropped[i] = objects_[i]->dropped ? 1 : 0;
  ranks().allreduce(std::span(dropped), reduction::min);
  for (std::size_t i = objects_.size(); i-- > 0;) {
    if (dropped[i] == 0) continue;
    objects_[i]->finish();
    objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void team_owner::end() {
  if (team_ == nullptr) return;
  free_dropped();
  while (!objects_.empty()) {
    objects_.back()->finish();
    objects_.back()->outlive_team();
    objects_.pop_back();
  }
  team_.reset();
}

void team_owner::abandon() noexcept {
  if (team_ == nullptr) return;
  try {
    while (!objects_.empty()) {
      objects_.back()->abandon();
      objects_.pop_back();
    }
  } catch (...) {  // without the other ranks, freeing may fail
  }
  // The end of a team of processes is collective.
  if (team_->transport_name() != "threads") new std::shared_ptr(std::move(team_));
  team_.reset();
}

}  // namespace longshore::python
