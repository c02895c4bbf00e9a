// Compiles scatter of elements of 8 bytes.
#include <longshore/gather/scatter.hpp>

namespace longshore::detail {

template std::unique_ptr<scatter_implementation<word64>> plan_scatter(
    const table_view<word64, any_distribution>&, const scatter_options&);

}  // namespace longshore::detail
