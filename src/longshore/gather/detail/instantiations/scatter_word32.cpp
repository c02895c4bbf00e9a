// Compiles scatter of elements of 4 bytes.
#include <longshore/gather/scatter.hpp>

namespace longshore::detail {

template std::unique_ptr<scatter_implementation<word32>> plan_scatter(
    const table_view<word32, any_distribution>&, const scatter_options&);

}  // namespace longshore::detail
