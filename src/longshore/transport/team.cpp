#include <longshore/transport/team.hpp>

#include <utility>

namespace longshore {

team::team(int rank, int size, node_map nodes, wait_policy waiting, std::vector<int> cpus)
    : rank_(rank),
      size_(size),
      nodes_(std::move(nodes)),
      waiting_(waiting),
      cpus_(std::move(cpus)) {}

team::~team() = default;

void* team::find_kept(const std::type_info& type) const noexcept {
  for (const kept_object& one : kept_)
    if (*one.type == type) return one.object.get();
  return nullptr;
}

void* team::keep(const std::type_info& type, std::shared_ptr<void> object) {
  return kept_.emplace_back(kept_object{&type, std::move(object)}).object.get();
}

}  // namespace longshore
