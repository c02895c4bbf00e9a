// Updates that add up elements of type uint32 or int32.
#include <longshore/gather/update.hpp>

namespace longshore::detail {

template std::unique_ptr<planned_update<std::uint32_t>> plan_update(
    const table_parts<std::uint32_t, any_distribution>&, const op::add&, const update_options&);

}  // namespace longshore::detail
