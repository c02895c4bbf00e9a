// Makes a random permutation of 0, ..., n - 1, distributed over the ranks in blocks, by one of two
// methods:
//
// buckets: every element is sent to a random rank, which shuffles the received elements (Rao,
//   Sankhya A 1961; Sandelius, J. R. Stat. Soc. B 1962). All permutations are equally likely. Each
//   element is sent once, in 8 bytes. Nearly no bytes are sent when the buckets become blocks.
//   Elements from one rank arrive in order, so the same seed and number of ranks give the same
//   permutation again.
// darts: the algorithm of bale's randperm. There are twice as many slots as elements, and elements
//   are thrown at random slots. An element that hits an occupied slot is thrown again. In bale the
//   owner of the slot replies, and the sender throws again. Here the owner of the slot throws the
//   element on without a reply, so items create items.
#include <longshore/longshore.hpp>

#include "support/example_program.hpp"
#include "support/serial_checks.hpp"
#include "support/whole_array.hpp"

#include <memory>
#include <numeric>

namespace {

// A call returns this rank's part of a random permutation.
struct method {
  virtual ~method() = default;
  virtual std::vector<std::int64_t> operator()() = 0;
};

// The elements that this rank sends: every P-th element, for P ranks.
struct own_elements {
  explicit own_elements(const examples::program& run)
      : rank(run.team().rank()),
        ranks(run.team().size()),
        size(run.size()),
        seed(longshore::mix_bits(run.seed())) {}
  [[nodiscard]] std::size_t count() const {
    return longshore::cyclic::map({}, size, ranks).local_size(rank);
  }
  [[nodiscard]] std::int64_t element(std::size_t i) const {
    return static_cast<std::int64_t>(i) * ranks + rank;
  }
  // Returns the same bits in every call for an element, because an engine with full buffers calls
  // again.
  [[nodiscard]] std::uint64_t random_bits(std::int64_t element) const {
    return longshore::mix_bits(seed + static_cast<std::uint64_t>(element));
  }

  int rank, ranks;
  std::uint64_t size, seed;
};

class buckets final : public method, own_elements {
 public:
  explicit buckets(examples::program& run)
      : own_elements(run),
        engine_(run.team(), run.engine_for<std::int64_t>({.with_source = true})),
        received_(static_cast<std::size_t>(ranks)) {}

  std::vector<std::int64_t> operator()() override {
    for (auto& elements : received_) elements.clear();
    longshore::deliver<std::int64_t>(
        engine_, count(),
        [&](std::size_t i) {
          const auto to =
              static_cast<int>(random_bits(element(i)) % static_cast<std::uint64_t>(ranks));
          return longshore::addressed<std::int64_t>{to, element(i)};
        },
        [&](int source, std::int64_t arrived) { received_[source].push_back(arrived); });
    std::vector<std::int64_t> bucket;
    for (const auto& elements : received_)
      bucket.insert(bucket.end(), elements.begin(), elements.end());
    longshore::random_stream random(seed, static_cast<std::uint64_t>(rank));
    longshore::shuffle(std::span(bucket), random);
    return bucket;
  }

 private:
  longshore::conveyor engine_;
  std::vector<std::vector<std::int64_t>> received_;  // indexed by the sending rank
};

class darts final : public method, own_elements {
  struct dart {
    std::int64_t element;
    std::uint64_t bits;  // decide the rank and the slot
  };

 public:
  explicit darts(examples::program& run)
      : own_elements(run),
        engine_(run.team(), run.engine_for<dart>({.items_create_items = true})),
        slots_(2 * (size / static_cast<std::uint64_t>(ranks) + 1)) {}

  std::vector<std::int64_t> operator()() override {
    std::fill(slots_.begin(), slots_.end(), empty);
    longshore::deliver_recursive<dart>(
        engine_, count(),
        [&](std::size_t i) {
          return aimed({element(i), random_bits(element(i))});
        },
        [&](int, const dart& hit, const auto& emit) {
          std::int64_t& slot = slots_[hit.bits / static_cast<std::uint64_t>(ranks) % slots_.size()];
          if (slot == empty) {
            slot = hit.element;
          } else {
            const auto again = aimed({hit.element, longshore::mix_bits(hit.bits)});
            emit(again.rank, again.item);
          }
        });
    std::vector<std::int64_t> elements;
    std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(elements),
                 [](std::int64_t slot) { return slot != empty; });
    return elements;
  }

 private:
  static constexpr std::int64_t empty = -1;

  [[nodiscard]] longshore::addressed<dart> aimed(const dart& thrown) const {
    return {static_cast<int>(thrown.bits % static_cast<std::uint64_t>(ranks)), thrown};
  }
  longshore::conveyor engine_;
  std::vector<std::int64_t> slots_;  // of this rank
};

}  // namespace

int main(int argc, char** argv) {
  const examples::description about{.name = "random_permutation",
                                    .about = "makes a random permutation, spread over all ranks",
                                    .size_is = "elements on all ranks together",
                                    .size = 1000000,
                                    .options = {{.name = "method",
                                                 .value = "buckets",
                                                 .help = "algorithm",
                                                 .words = {"buckets", "darts"}}}};
  return examples::run_program(argc, argv, about, [](examples::program& run) {
    longshore::team& team = run.team();
    std::unique_ptr<method> draw;
    if (run.options().word("method") == "darts")
      draw = std::make_unique<darts>(run);
    else
      draw = std::make_unique<buckets>(run);
    longshore::dist_array<std::int64_t, longshore::block> permutation(team, run.size());
    longshore::scatterer into(permutation);

    run.measure([&] {
      const std::vector<std::int64_t> part = (*draw)();
      const auto counts = team.allgather_value(static_cast<std::int64_t>(part.size()));
      std::int64_t position =
          std::accumulate(counts.begin(), counts.begin() + team.rank(), std::int64_t{0});
      for (const std::int64_t element : part) into.copy(position++, element);
      into.flush();
    });

    run.rate("elements", permutation.local().size());
    if (run.verifies())
      run.verify(examples::wrong_random_permutation(examples::whole_on_rank_0(permutation)));
  });
}
