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

int longshore_scatter_create(longshore_array* table, const struct longshore_gather_options* options,
                             longshore_scatter_plan** plan) {
  return create_plan(table, options, plan, make);
}

int longshore_scatter_free(longshore_scatter_plan* plan) {
  return guarded([&] { longshore_team::free(plan); });
}

int longshore_scatter_run(longshore_scatter_plan* plan, const int64_t* indices, int64_t count,
                          const void* values) {
  return run_plan(plan, indices, count, const_cast<void*>(values));
}

const char* longshore_scatter_strategy(const longshore_scatter_plan* plan) {
  return name_of(existing(plan, "the plan").strategy()).data();
}

int longshore_scatter(longshore_array* table, const int64_t* indices, int64_t count,
                      const void* values, const struct longshore_gather_options* options) {
  return run_once(table, indices, count, const_cast<void*>(values), options, make);
}
}
