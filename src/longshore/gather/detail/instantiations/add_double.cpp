// Compiles updates that add elements of type double.
#include <longshore/gather/update.hpp>

namespace longshore::detail {

template std::unique_ptr<update_implementation<double>> plan_update(
    const table_view<double, any_distribution>&, const op::add&, const update_options&);

}  // namespace longshore::detail
