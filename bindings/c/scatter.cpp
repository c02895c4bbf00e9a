// Functions longshore_scatter_...: a plan is the scatter plan of C++ for words of 4 or 8 bytes.
// Scatters only copy elements, so the size of an element is all that matters.
#include "arrays.hpp"

#include <longshore/gather/scatter.hpp>

struct longshore_scatter_plan : longshore::bindings::request_plan {
  using request_plan::request_plan;
};

namespace {

using namespace longshore;
using namespace longshore::bindings;

std::unique_ptr<longshore_scatter_plan> make(longshore_array& table,
                                             const gather_options& options) {
  return table.visit([&]<class Word>(dist_array<Word, chosen_distribution>& words)
                         -> std::unique_ptr<longshore_scatter_plan> {
    using plan =
        plan_of<longshore_scatter_plan, scatter_plan<Word, chosen_distribution>, const Word>;
    return std::make_unique<plan>(table, "scatter plan", words, options);
  });
}

}  // namespace

extern "C" {
LONGSHORE_CALLS_OF_REQUESTS(scatter, const void*, make, false)
}
