// Compiles gather of elements of 4 bytes.
#include <longshore/gather/gather.hpp>

namespace longshore::detail {

template std::unique_ptr<gather_implementation<word32>> plan_gather(
    const table_view<word32, any_distribution>&, const gather_options&);

}  // namespace longshore::detail
