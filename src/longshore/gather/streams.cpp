// Checks the options of scatterer, updater and gatherer, and makes the options of their engine.
#include <longshore/gather/streams.hpp>

#include <longshore/core/error.hpp>

namespace longshore::detail {

engine_options stream_engine_options(const char* operation, const team& team,
                                     const element_stream_options& given, std::size_t item_bytes) {
  if (given.buffer_items == 0)
    fail(errc::usage, "{}: buffer_items is 0: give at least 1, or leave the default of 1024",
         operation);
  if (!is_asynchronous(given.strategy))
    fail(errc::unsupported,
         "{}: strategy {} cannot carry one element at a time: use exstack2, conveyor or "
         "aggregator",
         operation, name_of(given.strategy));
  engine_options options = engine_options_for(
      team, {.strategy = given.strategy, .buffer_items = given.buffer_items, .hops = given.hops});
  options.item_bytes = item_bytes;
  return options;
}

}  // namespace longshore::detail
