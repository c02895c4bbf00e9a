// The loops of scatter that the library has compiled (compiled_loops.hpp).
#include <longshore/gather/scatter.hpp>

namespace longshore::detail {

template std::unique_ptr<table_plan<const word64>> plan_scatter(
    const table_view<word64, any_distribution>&, const scatter_options&);
#ifdef LONGSHORE_ALL_LOOPS
template std::unique_ptr<table_plan<const word32>> plan_scatter(
    const table_view<word32, any_distribution>&, const scatter_options&);
#endif

}  // namespace longshore::detail
