// A user's source with plans for common element types, and for one type of its own.
// test_compile_time.py checks which loops are compiled in it.
#include <longshore/longshore.hpp>

#include <cstdint>
#include <span>

struct pixel {
  std::uint16_t red, green, blue;
};

void common(longshore::team& team, std::span<const std::int64_t> indices, std::span<double> values,
            std::span<float> small, std::span<std::int32_t> counts) {
  longshore::dist_array<double> table(team, 1000);
  longshore::gather_plan<double, longshore::block> get(table);
  get(indices, values);
  longshore::dist_array<float, longshore::cyclic> dealt(team, 1000);
  longshore::scatter_plan<float, longshore::cyclic> put(dealt);
  put(indices, small);
  longshore::dist_array<std::int32_t, longshore::block_cyclic> blocks(team, 1000,
                                                                      {.block_items = 8});
  longshore::update_plan<std::int32_t, longshore::block_cyclic> add(blocks);
  add(indices, counts);
  add(indices, 1);
}

#ifdef OWN_TYPE
void own(longshore::team& team, std::span<const std::int64_t> indices, std::span<pixel> values) {
  longshore::dist_array<pixel> table(team, 1000);
  longshore::gather_plan<pixel, longshore::block> get(table);
  get(indices, values);
}
#endif
