// Functions longshore_update_... and longshore_histogram_...: a histogram is an update by sums. A
// plan chooses the operation at run time, for each update. Only sums of 64-bit integers have a plan
// with op::add, because transports have a remote addition for 64-bit integers.
#include "arrays.hpp"
#include "word_operation.hpp"

#include <longshore/gather/update.hpp>

#include <bit>

struct longshore_update_plan : longshore::bindings::request_plan {
  using request_plan::request_plan;
};
struct longshore_histogram_plan : longshore_update_plan {
  using longshore_update_plan::longshore_update_plan;
};

namespace {

using namespace longshore;
using namespace longshore::bindings;

// REQUIRES: the type of an array that make() accepts: a number of 4 or 8 bytes.
number_kind number_kind_of(int type) {
  if (type == LONGSHORE_FLOAT32 || type == LONGSHORE_FLOAT64) return number_kind::floating;
  return type == LONGSHORE_UINT32 || type == LONGSHORE_UINT64 ? number_kind::unsigned_integer
                                                              : number_kind::signed_integer;
}

word_operation operation_of(int code, int type) {
  if (code < LONGSHORE_SUM || code > LONGSHORE_AND)
    fail(errc::usage,
         "update with operation {}: it is one of LONGSHORE_SUM, LONGSHORE_MIN, LONGSHORE_MAX, "
         "LONGSHORE_XOR, LONGSHORE_OR, LONGSHORE_AND",
         code);
  constexpr auto code_of = [](operation which) { return LONGSHORE_SUM + static_cast<int>(which); };
  static_assert(
      code_of(operation::min) == LONGSHORE_MIN && code_of(operation::max) == LONGSHORE_MAX &&
      code_of(operation::bit_xor) == LONGSHORE_XOR && code_of(operation::bit_or) == LONGSHORE_OR &&
      code_of(operation::bit_and) == LONGSHORE_AND && code_of(operation::sum) == LONGSHORE_SUM);
  const word_operation chosen{static_cast<operation>(code - LONGSHORE_SUM), number_kind_of(type)};
  if (needs_integers(chosen.which) && chosen.kind == number_kind::floating)
    fail(errc::usage,
         "update with LONGSHORE_XOR, LONGSHORE_OR or LONGSHORE_AND in an array of {}: they need an "
         "array of integers",
         name_of_type(type));
  return chosen;
}

// The bits of the number 1 of the type.
template <class Word>
Word bits_of_one(int type) {
  using floating = std::conditional_t<sizeof(Word) == 4, float, double>;
  return number_kind_of(type) == number_kind::floating ? std::bit_cast<Word>(floating{1}) : Word{1};
}

// The names of a plan and of its operation in messages. REQUIRES: string literals, to which plans
// keep pointers.
struct plan_names {
  const char* plan;
  const char* operation;
};

template <class Word, class Operation>
class update_of final : public longshore_histogram_plan {
 public:
  update_of(longshore_array& table, const plan_names& kind,
            dist_array<Word, chosen_distribution>& words, Operation operation,
            const gather_options& options)
      : longshore_histogram_plan(table, kind.plan),
        one_(bits_of_one<Word>(table.type)),
        plan_(words, operation, options) {
    plan_.set_name(kind.operation);
  }
  void run(std::span<const std::int64_t> indices, void* values) override {
    if (values == nullptr)  // run_plan() lets only histograms come without values
      plan_(indices, one_);
    else
      plan_(indices, std::span<const Word>(static_cast<const Word*>(values), indices.size()));
  }
  [[nodiscard]] gather_strategy strategy() const override { return plan_.strategy(); }

 private:
  Word one_;
  update_plan<Word, chosen_distribution, Operation> plan_;
};

std::unique_ptr<longshore_histogram_plan> make(longshore_array& table, const plan_names& kind,
                                               int code, const gather_options& options) {
  if (table.type == LONGSHORE_BYTES)
    fail(errc::usage,
         "a {} for an array of bytes: the type must be int32, uint32, float32, int64, uint64 or "
         "float64",
         kind.plan);
  const word_operation chosen = operation_of(code, table.type);
  return table.visit([&]<class Word>(dist_array<Word, chosen_distribution>& words)
                         -> std::unique_ptr<longshore_histogram_plan> {
    if constexpr (sizeof(Word) == sizeof(std::int64_t))
      if (chosen.which == operation::sum && chosen.kind != number_kind::floating)
        return std::make_unique<update_of<Word, op::add>>(table, kind, words, op::add{}, options);
    return std::make_unique<update_of<Word, word_operation>>(table, kind, words, chosen, options);
  });
}

auto make_update(int code) {
  return [code](longshore_array& table, const gather_options& options) {
    return make(table, {"update plan", "update"}, code, options);
  };
}

std::unique_ptr<longshore_histogram_plan> make_histogram(longshore_array& table,
                                                         const gather_options& options) {
  return make(table, {"histogram plan", "histogram"}, LONGSHORE_SUM, options);
}

}  // namespace

extern "C" {

int longshore_update_create(longshore_array* table, int operation,
                            const struct longshore_gather_options* options,
                            longshore_update_plan** plan) {
  return create_plan(table, options, plan, make_update(operation));
}

int longshore_update_free(longshore_update_plan* plan) { return free_object(plan); }

int longshore_update_run(longshore_update_plan* plan, const int64_t* indices, int64_t count,
                         const void* values) {
  return run_plan(plan, indices, count, const_cast<void*>(values), false);
}

const char* longshore_update_strategy(const longshore_update_plan* plan) {
  return name_of(existing(plan, "the plan").strategy()).data();
}

int longshore_update(longshore_array* table, const int64_t* indices, int64_t count,
                     const void* values, int operation,
                     const struct longshore_gather_options* options) {
  return run_once(table, indices, count, const_cast<void*>(values), options, make_update(operation),
                  false);
}

LONGSHORE_CALLS_OF_REQUESTS(histogram, const void*, make_histogram, true)
}
