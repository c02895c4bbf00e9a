// Updates that add up elements of type float.
#include <longshore/gather/update.hpp>

namespace longshore::detail {

template std::unique_ptr<planned_update<float>> plan_update(
    const table_parts<float, any_distribution>&, const op::add&, const update_options&);

}  // namespace longshore::detail
