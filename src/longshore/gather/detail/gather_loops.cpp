// The loops of gather that the library has compiled (compiled_loops.hpp).
#include <longshore/gather/gather.hpp>

namespace longshore::detail {

template std::unique_ptr<table_plan<word64>> plan_gather(
    const table_view<word64, any_distribution>&, const gather_options&);
#ifdef LONGSHORE_ALL_LOOPS
template std::unique_ptr<table_plan<word32>> plan_gather(
    const table_view<word32, any_distribution>&, const gather_options&);
#endif

}  // namespace longshore::detail
