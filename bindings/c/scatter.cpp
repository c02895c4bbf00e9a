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

template <class Word>
class plan_of final : public longshore_scatter_plan {
 public:
  plan_of(longshore_array& table, dist_array<Word, chosen_distribution>& words,
          const gather_options& options)
      : longshore_scatter_plan(table, "scatter plan"), plan_(words, options) {}
  void run(std::span<const std::int64_t> indices, void* values) override {
    plan_(indices, std::span<const Word>(static_cast<const Word*>(values), indices.size()));
  }
  [[nodiscard]] gather_strategy strategy() const override { return plan_.strategy(); }

 private:
  scatter_plan<Word, chosen_distribution> plan_;
};

std::unique_ptr<longshore_scatter_plan> make(longshore_array& table,
                                             const gather_options& options) {
  return table.visit([&]<class Word>(dist_array<Word, chosen_distribution>& words)
                         -> std::unique_ptr<longshore_scatter_plan> {
    return std::make_unique<plan_of<Word>>(table, words, options);
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
