// Compiles gather of elements of 8 bytes.
#include <longshore/gather/gather.hpp>

namespace longshore::detail {

template std::unique_ptr<gather_implementation<word64>> plan_gather(
    const table_view<word64, any_distribution>&, const gather_options&);

}  // namespace longshore::detail
