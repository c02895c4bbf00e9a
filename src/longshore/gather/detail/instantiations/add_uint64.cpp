// Compiles updates that add elements of type uint64 or int64.
#include <longshore/gather/update.hpp>

namespace longshore::detail {

template std::unique_ptr<update_implementation<std::uint64_t>> plan_update(
    const table_view<std::uint64_t, any_distribution>&, const op::add&, const update_options&);

}  // namespace longshore::detail
