// Updates that add up elements of type double.
#include <longshore/gather/update.hpp>

namespace longshore::detail {

template std::unique_ptr<planned_update<double>> plan_update(
    const table_parts<double, any_distribution>&, const op::add&, const update_options&);

}  // namespace longshore::detail
