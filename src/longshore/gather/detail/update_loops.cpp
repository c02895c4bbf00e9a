// The loops of updates that the library has compiled (compiled_loops.hpp).
#include <longshore/gather/update.hpp>

namespace longshore::detail {

template std::unique_ptr<table_plan<const std::uint64_t>> plan_update(
    const table_view<std::uint64_t, any_distribution>&, const op::add&, const update_options&);
#ifdef LONGSHORE_ALL_LOOPS
template std::unique_ptr<table_plan<const std::uint32_t>> plan_update(
    const table_view<std::uint32_t, any_distribution>&, const op::add&, const update_options&);
template std::unique_ptr<table_plan<const float>> plan_update(
    const table_view<float, any_distribution>&, const op::add&, const update_options&);
template std::unique_ptr<table_plan<const double>> plan_update(
    const table_view<double, any_distribution>&, const op::add&, const update_options&);
#endif

}  // namespace longshore::detail
