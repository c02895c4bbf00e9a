// Histogram plans. Words of 4 bytes have one that asks of each addition whether it is of integers or floating, which costs less than the
// addition; words of 8 bytes have two, because transports add 64-bit integers by themselves, which they do for op::add only.
#include "arrays.hpp"

#include <longshore/gather/update.hpp>

#include <bit>

struct longshore_histogram_plan : longshore::bindings::request_plan {
  using request_plan::request_plan;
};

namespace {

using namespace longshore;
using namespace longshore::bindings;

/// Sum of words that are integers, or the bits of floating numbers. Zero bits are the zero of both.
struct add_words {
  bool is_floating = false;
  template <class Word>
  [[nodiscard]] Word operator()(const Word& a, const Word& b) const {
    using floating = std::conditional_t<sizeof(Word) == 4, float, double>;
    if (is_floating) return std::bit_cast<Word>(std::bit_cast<floating>(a) + std::bit_cast<floating>(b));
    return op::add{}(a, b);
  }
  template <class Word>
  requires std::integral<Word>
  [[nodiscard]] static constexpr Word identity() noexcept { return Word{}; }
};

bool is_floating(int type) { return type == LONGSHORE_FLOAT32 || type == LONGSHORE_FLOAT64; }

template <class Word>
Word one_of(int type) {
  using floating = std::conditional_t<sizeof(Word) == 4, float, double>;
  return is_floating(type) ? std::bit_cast<Word>(floating{1}) : Word{1};
}

template <class Word, class Add>
class plan_of final : public longshore_histogram_plan {
 public:
  plan_of(longshore_array& table, dist_array<Word, chosen_distribution>& words, Add add, const gather_options& options)
      : longshore_histogram_plan(table, "histogram plan"), one_(one_of<Word>(table.type)), plan_(words, add, options) {}
  void run(std::span<const std::int64_t> indices, void* values) override {
    if (values == nullptr)
      plan_(indices, one_);
    else
      plan_(indices, std::span<const Word>(static_cast<const Word*>(values), indices.size()));
  }
  [[nodiscard]] gather_strategy strategy() const override { return plan_.strategy(); }

 private:
  Word one_;
  update_plan<Word, chosen_distribution, Add> plan_;
};

std::unique_ptr<longshore_histogram_plan> make(longshore_array& table, const gather_options& options) {
  if (table.type == LONGSHORE_BYTES)
    fail(errc::usage, "a histogram in an array of bytes: what is added is one of int32, uint32, float32, int64, uint64, float64");
  return table.with([&]<class Word>(dist_array<Word, chosen_distribution>& words) -> std::unique_ptr<longshore_histogram_plan> {
    if constexpr (sizeof(Word) == sizeof(std::int64_t))
      if (!is_floating(table.type)) return std::make_unique<plan_of<Word, op::add>>(table, words, op::add{}, options);
    return std::make_unique<plan_of<Word, add_words>>(table, words, add_words{is_floating(table.type)}, options);
  });
}

}  // namespace

extern "C" {

int longshore_histogram_create(longshore_array* table, const struct longshore_gather_options* options,
                               longshore_histogram_plan** plan) {
  return create_plan(table, options, plan, make);
}

int longshore_histogram_free(longshore_histogram_plan* plan) {
  return guarded([&] { longshore_team::free(plan); });
}

int longshore_histogram_run(longshore_histogram_plan* plan, const int64_t* indices, int64_t count, const void* values) {
  return run_plan(plan, indices, count, const_cast<void*>(values), true);
}

const char* longshore_histogram_strategy(const longshore_histogram_plan* plan) { return name_of(plan->strategy()).data(); }

int longshore_histogram(longshore_array* table, const int64_t* indices, int64_t count, const void* values,
                        const struct longshore_gather_options* options) {
  return run_once(table, indices, count, const_cast<void*>(values), options, make, true);
}
}
