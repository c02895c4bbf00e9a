// Compiles updates that add elements of type uint32 or int32.
#include <longshore/gather/update.hpp>

namespace longshore::detail {

template std::unique_ptr<update_implementation<std::uint32_t>> plan_update(
    const table_view<std::uint32_t, any_distribution>&, const op::add&, const update_options&);

}  // namespace longshore::detail
