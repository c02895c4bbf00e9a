// The part of a team that all transports share: its facts about ranks, and the attributes of upper
// layers.
#include <longshore/transport/team.hpp>

#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/cost_sink.hpp>

#include <utility>

namespace longshore {

team::team(int rank, int size, node_map nodes, wait_policy waiting, std::vector<int> cpus,
           detail::cost_sink* costs)
    : rank_(rank),
      size_(size),
      nodes_(std::move(nodes)),
      waiting_(waiting),
      cpus_(std::move(cpus)),
      costs_(costs),
      lifetime_(std::make_shared<char>()) {}

team::~team() = default;

std::span<const int> team::cpus() const noexcept { return cpus_; }

double team::now() const { return monotonic_seconds(); }

std::weak_ptr<const void> team::lifetime() const noexcept { return lifetime_; }

void detail::throw_for_narrow_sum(std::int64_t sum, std::size_t bits) {
  fail(errc::usage, "the sum {} over the ranks does not fit {} bits: use a wider type", sum, bits);
}

void team::charge_copy(int peer, const detail::copied_cells& copied) {
  if (costs_ != nullptr) costs_->charge_copy(peer, copied);
}

void team::charge_seconds(double seconds) {
  if (costs_ != nullptr) costs_->charge_seconds(seconds);
}

void team::add_work(std::string_view work, std::size_t amount) { costs_->charge(work, amount); }

void team::add_copy(int peer, std::size_t bytes) {
  constexpr std::size_t touched_by_copy = 2;  // each byte is read and written
  costs_->charge_copy(peer, {bytes, 0, touched_by_copy * bytes});
}

void* team::find_attribute(const std::type_info& type) const noexcept {
  for (const kept_attribute& candidate : attributes_)
    if (*candidate.type == type) return candidate.object.get();
  return nullptr;
}

void* team::add_attribute(const std::type_info& type, std::shared_ptr<void> object) {
  return attributes_.emplace_back(kept_attribute{&type, std::move(object)}).object.get();
}

}  // namespace longshore
