// Compiles updates that add elements of type float.
#include <longshore/gather/update.hpp>

namespace longshore::detail {

template std::unique_ptr<update_implementation<float>> plan_update(
    const table_view<float, any_distribution>&, const op::add&, const update_options&);

}  // namespace longshore::detail
