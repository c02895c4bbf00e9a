// Functions longshore_gather_...: a plan is the gather plan of C++ for words of 4 or 8 bytes.
// Gathers only copy elements, so the size of an element is all that matters.
#include "arrays.hpp"

#include <longshore/gather/gather.hpp>

struct longshore_gather_plan : longshore::bindings::request_plan {
  using request_plan::request_plan;
};

namespace {

using namespace longshore;
using namespace longshore::bindings;

std::unique_ptr<longshore_gather_plan> make(longshore_array& table, const gather_options& options) {
  return table.visit([&]<class Word>(dist_array<Word, chosen_distribution>& words)
                         -> std::unique_ptr<longshore_gather_plan> {
    using plan = plan_of<longshore_gather_plan, gather_plan<Word, chosen_distribution>, Word>;
    return std::make_unique<plan>(table, "gather plan", words, options);
  });
}

}  // namespace

extern "C" {
LONGSHORE_CALLS_OF_REQUESTS(gather, void*, make, false)
}
