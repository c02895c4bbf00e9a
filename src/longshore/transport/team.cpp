// The part of a team that all transports share: its facts about ranks, and the attributes of upper
// layers.
#include <longshore/transport/team.hpp>

#include <longshore/core/error.hpp>

#include <utility>

namespace longshore {

team::team(int rank, int size, node_map nodes, wait_policy waiting, std::vector<int> cpus,
           detail::cost_sink* costs)
    : rank_(rank),
      size_(size),
      nodes_(std::move(nodes)),
      waiting_(waiting),
      cpus_(std::move(cpus)),
      costs_(costs) {}

team::~team() = default;

void detail::throw_for_narrow_sum(std::int64_t sum, std::size_t bits) {
  fail(errc::usage, "the sum {} over the ranks does not fit {} bits: use a wider type", sum, bits);
}

void* team::find_attribute(const std::type_info& type) const noexcept {
  for (const attribute& candidate : attributes_)
    if (*candidate.type == type) return candidate.object.get();
  return nullptr;
}

void* team::add_attribute(const std::type_info& type, std::shared_ptr<void> object) {
  return attributes_.emplace_back(attribute{&type, std::move(object)}).object.get();
}

}  // namespace longshore
