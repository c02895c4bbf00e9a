// Tests exchanges between boxes against a serial oracle: each rank knows all boxes, and computes the
// value of each cell itself.
#include <longshore/boxes/box_copy.hpp>
#include <longshore/boxes/box_exchange.hpp>
#include <longshore/exchange/caches_test.hpp>
#include <longshore/exchange/detail/plan_parts.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <bit>
#include <cmath>
#include <map>

namespace longshore {
namespace {

using testing::spmd;
using cell = std::array<std::int64_t, 3>;

// Boxes that fill a domain, but for some holes, and their ranks. Some ranks have no boxes.
struct decomposition {
  std::vector<cell_box> boxes;
  std::vector<int> owners;

  [[nodiscard]] std::vector<cell_box> of(int rank) const {
    std::vector<cell_box> mine;
    for (std::size_t i = 0; i < boxes.size(); ++i)
      if (owners[i] == rank) mine.push_back(boxes[i]);
    return mine;
  }
};

void split(const cell_box& box, std::int64_t most, random_stream& random,
           std::vector<cell_box>& boxes) {
  const int d = static_cast<int>(random.below(3));
  if (box.count() <= most || box.cells[d] < 4) {
    if (box.count() > most && *std::max_element(box.cells.begin(), box.cells.end()) >= 4)
      return split(box, most, random, boxes);
    boxes.push_back(box);
    return;
  }
  const auto at =
      2 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(box.cells[d] - 3)));
  cell_box low = box, high = box;
  low.cells[d] = at;
  high.first[d] += at;
  high.cells[d] -= at;
  split(low, most, random, boxes);
  split(high, most, random, boxes);
}

decomposition random_boxes(const cell_box& domain, std::int64_t most, int ranks, bool has_holes,
                           std::uint64_t seed) {
  random_stream random(seed);
  decomposition all;
  std::vector<cell_box> boxes;
  split(domain, most, random, boxes);
  const int used = ranks > 2 ? ranks - 1 : ranks;  // the last of several ranks has no boxes
  for (const auto& box : boxes) {
    if (has_holes && random.below(5) == 0) continue;
    all.boxes.push_back(box);
    all.owners.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(used))));
  }
  return all;
}

// Calls f(cell) for all cells of a box and of its halo.
template <class F>
void for_each_cell(const cell_box& box, const halo_widths& widths, const F& f) {
  for (std::int64_t z = box.first[2] - widths.low[2]; z < box.end(2) + widths.high[2]; ++z)
    for (std::int64_t y = box.first[1] - widths.low[1]; y < box.end(1) + widths.high[1]; ++y)
      for (std::int64_t x = box.first[0] - widths.low[0]; x < box.end(0) + widths.high[0]; ++x)
        f(cell{x, y, z});
}

bool contains(const cell_box& box, const cell& c) {
  for (int d = 0; d < 3; ++d)
    if (c[d] < box.first[d] || c[d] >= box.end(d)) return false;
  return true;
}

cell_box points_of(cell_box box, const std::array<int, 3>& shared) {
  for (int d = 0; d < 3; ++d) box.cells[d] += shared[d];
  return box;
}

template <class T>
T& at(const field_view<T>& view, const cell_box& box, const cell& c) {
  return view(c[2] - box.first[2], c[1] - box.first[1], c[0] - box.first[0]);
}

struct one_case {
  std::array<bool, 3> periodic;
  halo_widths widths;
  std::array<int, 3> shared;
  bool has_holes;
  std::int64_t most;  // cells of a box
};

const std::vector<one_case> cases = {
    {{false, false, false}, 1, {0, 0, 0}, false, 60},
    {{true, true, true}, 2, {0, 0, 0}, true, 40},
    {{true, false, true}, halo_widths({2, 0, 1}, {1, 1, 3}), {0, 0, 0}, true, 100},
    {{false, false, false}, 0, {1, 1, 1}, false, 60},
    {{true, true, true}, 1, {1, 1, 1}, true, 50},
    {{true, false, false}, halo_widths({1, 2, 0}, {2, 1, 1}), {1, 0, 1}, false, 80},
    {{true, true, true}, 1, {1, 1, 1}, false, 100000}};  // one box, which is its own neighbour

const cell_box domain{{-3, 2, 10}, {12, 9, 10}};

// The cell of the domain of which `c` is a periodic image.
cell wrapped(cell c, const std::array<bool, 3>& periodic) {
  for (int d = 0; d < 3; ++d) {
    if (!periodic[d]) continue;
    const std::int64_t n = domain.cells[d];
    c[d] = domain.first[d] + ((c[d] - domain.first[d]) % n + n) % n;
  }
  return c;
}

// Whether a box has the cell, which is wrapped, as one of its own.
bool is_owned(const decomposition& all, const one_case& test, const cell& c) {
  for (const auto& box : all.boxes) {
    const auto points = points_of(box, test.shared);
    // The points of a box may reach beyond the end of a periodic domain.
    for (int image = 0; image < 8; ++image) {
      cell moved = c;
      bool exists = true;
      for (int d = 0; d < 3; ++d) {
        if ((image >> d & 1) == 0) continue;
        exists = exists && test.periodic[d];
        moved[d] += domain.cells[d];
      }
      if (exists && contains(points, moved)) return true;
    }
  }
  return false;
}

double value_at(const cell& c) { return static_cast<double>(c[0] + 100 * c[1] + 10000 * c[2]); }
// The last bits of a sum of such values depend on the order.
double value_of(std::size_t box, const cell& c) {
  const auto bits =
      mix_bits(mix_bits(box + 1) ^ static_cast<std::uint64_t>(c[0] + 1000 * c[1] + 1000000 * c[2]));
  return 1.0 / (1.0 + static_cast<double>(bits % 1000));
}

TEST(BoxExchange, an_update_fills_halos_from_their_owners_and_nothing_else) {
  spmd([](team& team) {
    for (std::size_t number = 0; number < cases.size(); ++number) {
      const auto& test = cases[number];
      const auto all = random_boxes(domain, test.most, team.size(), test.has_holes, number + 1);
      const auto mine = all.of(team.rank());
      const box_layout layout(team, mine, {.domain = domain, .periodic = test.periodic});
      EXPECT_EQ(layout.mine().size(), mine.size());
      const testing::assumed_caches caches(team, number % 2 == 1);
      for (const auto mode : values_of<box_mode>()) {
        box_field<double> u(layout, test.widths, test.shared);
        box_field<std::int32_t> v(layout, 1);
        box_exchange halos(layout, {.mode = mode}, u, v);
        for (int repetition = 0; repetition < 2; ++repetition) {
          for (std::size_t b = 0; b < mine.size(); ++b) {
            const auto points = points_of(mine[b], test.shared);
            for_each_cell(points, test.widths, [&](const cell& c) {
              at(u[b], mine[b], c) =
                  contains(points, c) ? value_at(wrapped(c, test.periodic)) + repetition : -1;
            });
            for_each_cell(mine[b], 1, [&](const cell& c) {
              at(v[b], mine[b], c) = contains(mine[b], c) ? static_cast<int>(value_at(c)) : -1;
            });
          }
          halos.update();
          int wrong = 0, filled = 0;
          for (std::size_t b = 0; b < mine.size(); ++b) {
            for_each_cell(points_of(mine[b], test.shared), test.widths, [&](const cell& c) {
              const auto place = wrapped(c, test.periodic);
              const double right = is_owned(all, test, place) ? value_at(place) + repetition : -1;
              wrong += at(u[b], mine[b], c) != right;
              filled += right != -1;
            });
            for_each_cell(mine[b], 1, [&](const cell& c) {
              const auto place = wrapped(c, test.periodic);
              const bool is_filled = is_owned(all, {test.periodic, 1, {}, false, 0}, place);
              wrong += at(v[b], mine[b], c) != (is_filled ? static_cast<int>(value_at(place)) : -1);
            });
          }
          EXPECT_EQ(wrong, 0) << "case " << number << ", " << name_of(mode);
          EXPECT_EQ(filled > 0, !mine.empty());
        }
        EXPECT_LE(halos.moved().messages, static_cast<std::uint64_t>(team.size()));
        const auto [copied, read, channels, posted, mpi] = halos.transfers();
        EXPECT_EQ(copied + read + channels + posted + mpi, halos.moved().payload_bytes);
      }
    }
  });
}

TEST(BoxExchange, assembled_cells_are_the_sums_of_all_copies_with_equal_bits_everywhere) {
  spmd([](team& team) {
    for (std::size_t number = 0; number < cases.size(); ++number) {
      const auto& test = cases[number];
      const auto all = random_boxes(domain, test.most, team.size(), test.has_holes, number + 1);
      const auto mine = all.of(team.rank());
      // A box of this rank, by its number in `all`.
      std::vector<std::size_t> numbers;
      for (std::size_t i = 0; i < all.boxes.size(); ++i)
        if (all.owners[i] == team.rank()) numbers.push_back(i);
      // Cells that no box owns keep their values.
      std::map<cell, long double> sums;
      for (std::size_t i = 0; i < all.boxes.size(); ++i)
        for_each_cell(points_of(all.boxes[i], test.shared), test.widths, [&](const cell& c) {
          const auto place = wrapped(c, test.periodic);
          if (is_owned(all, test, place)) sums[place] += value_of(i, c);
        });
      std::map<cell, std::size_t> place_number;
      for (const auto& sum : sums) place_number.emplace(sum.first, place_number.size());
      const box_layout layout(team, all.boxes, all.owners,
                              {.domain = domain, .periodic = test.periodic});
      std::vector<std::uint64_t> bits_of_first_mode;
      std::vector<std::pair<box_mode, bool>> ways{{box_mode::direct, true}};
      for (const auto mode : values_of<box_mode>()) ways.emplace_back(mode, false);
      for (const auto& [mode, are_far] : ways) {
        const testing::assumed_caches caches(team, are_far);
        box_field<double> u(layout, test.widths, test.shared);
        box_exchange halos(layout, {.mode = mode}, u);
        for (std::size_t b = 0; b < mine.size(); ++b)
          for_each_cell(points_of(mine[b], test.shared), test.widths,
                        [&](const cell& c) { at(u[b], mine[b], c) = value_of(numbers[b], c); });
        halos.assemble(op::add{});
        int wrong = 0;
        std::vector<std::uint64_t> bits;
        std::vector<double> low(sums.size(), 1e300), high(sums.size(), 1e300);
        for (std::size_t b = 0; b < mine.size(); ++b)
          for_each_cell(points_of(mine[b], test.shared), test.widths, [&](const cell& c) {
            const double value = at(u[b], mine[b], c);
            bits.push_back(std::bit_cast<std::uint64_t>(value));
            const auto place = wrapped(c, test.periodic);
            const auto sum = sums.find(place);
            if (sum == sums.end()) {
              wrong += value != value_of(numbers[b], c);
              return;
            }
            wrong += std::abs(value - static_cast<double>(sum->second)) > 1e-12 * value;
            auto& lowest = low[place_number.at(place)];
            auto& highest = high[place_number.at(place)];
            lowest = std::min(lowest, value);
            highest = std::min(highest, -value);
          });
        EXPECT_EQ(wrong, 0) << "case " << number << ", " << name_of(mode);
        team.allreduce(std::span<double>(low), reduction::min);
        team.allreduce(std::span<double>(high), reduction::min);
        int differ = 0;
        for (std::size_t i = 0; i < low.size(); ++i) differ += low[i] != -high[i];
        EXPECT_EQ(differ, 0) << "case " << number;
        if (bits_of_first_mode.empty()) bits_of_first_mode = bits;
        EXPECT_EQ(bits, bits_of_first_mode);
      }
    }
  });
}

// A message between near caches is split: its faces across x are packed, and the others are read.
TEST(BoxExchange, messages_that_are_read_and_packed_in_part_give_the_same_bits) {
  spmd([](team& team) {
    const testing::assumed_caches near(team, false);
    const std::int64_t size = team.size(), low = 12 * team.rank(), high = 12 * (size - 1) - low;
    const std::vector<cell_box> mine{{{low, 0, 0}, {12, 16, 12}}, {{high, 16, 0}, {12, 16, 12}}};
    const box_layout layout(
        team, mine, {.domain = {{0, 0, 0}, {12 * size, 32, 12}}, .periodic = {true, true, true}});
    std::vector<std::uint64_t> bits_of_first_mode;
    for (const auto mode : values_of<box_mode>()) {
      box_field<double> u(layout, 1);
      box_exchange halos(layout, {.mode = mode}, u);
      std::vector<std::uint64_t> bits;
      for (int repetition = 0; repetition < 2; ++repetition)
        for (const auto operation : {box_operation::assemble, box_operation::update}) {
          for (std::size_t b = 0; b < 2; ++b)
            for_each_cell(mine[b], 1, [&](const cell& c) {
              at(u[b], mine[b], c) = value_of(b + 2 * static_cast<std::size_t>(team.rank()), c);
            });
          if (operation == box_operation::assemble)
            halos.assemble(op::add{});
          else
            halos.update();
          for (std::size_t b = 0; b < 2; ++b)
            for_each_cell(mine[b], 1, [&](const cell& c) {
              bits.push_back(std::bit_cast<std::uint64_t>(at(u[b], mine[b], c)));
            });
        }
      if (mode == box_mode::direct && team.size() == 2 && team.nodes().node_count() == 1) {
        EXPECT_EQ(halos.moved().messages, 1u);
        EXPECT_LT(halos.moved().wire_bytes, halos.moved().payload_bytes / 2);
      }
      if (bits_of_first_mode.empty()) bits_of_first_mode = bits;
      EXPECT_EQ(bits, bits_of_first_mode) << name_of(mode);
    }
  });
}

// The cell of the owner of a place, and the sum of all its copies. The numbers are integers, so their
// sums are exact.
struct place {
  bool is_owned = false;
  std::size_t box = 0;
  cell owner{};
  std::int64_t sum = 0;
};

std::int64_t start_value(std::size_t box, const cell& c) {
  return static_cast<std::int64_t>(1000 * value_of(box, c));
}

// A field of a plan, and what a part takes of its halo: nothing if the field is not in the part.
template <class T>
struct field_in_part {
  box_field<T>& u;
  halo_widths widths;
  std::array<int, 3> shared;

  void fill(const box_layout& layout) const {
    for_each_of_mine(layout, [&](std::size_t b, const cell& c, T& value) {
      value = static_cast<T>(start_value(b, c));
    });
  }
  // Counts the cells that are wrong after an operation.
  [[nodiscard]] int wrong(const box_layout& layout, box_operation operation,
                          const std::optional<halo_widths>& taken) const {
    std::map<cell, place> places;
    for (std::size_t b = 0; taken && b < layout.boxes().size(); ++b) {
      const auto points = points_of(layout.boxes()[b], shared);
      for_each_cell(points, *taken, [&](const cell& c) {
        auto& at_place = places[wrapped(c, layout.domain().periodic)];
        at_place.sum += start_value(b, c);
        if (!contains(points, c) || at_place.is_owned) return;
        at_place.is_owned = true, at_place.box = b, at_place.owner = c;
      });
    }
    int wrong = 0;
    for_each_of_mine(layout, [&](std::size_t b, const cell& c, const T& value) {
      auto right = start_value(b, c);
      const auto points = points_of(layout.boxes()[b], shared);
      const auto found = places.find(wrapped(c, layout.domain().periodic));
      if (found != places.end() && found->second.is_owned && is_taken(points, *taken, c)) {
        const auto& [is_owned, box, owner, sum] = found->second;
        if (operation == box_operation::assemble || (box == b && owner == c))
          right = operation == box_operation::update ? right : sum;
        else if (operation == box_operation::update && !contains(points, c))
          right = start_value(box, owner);
      }
      wrong += value != static_cast<T>(right);
    });
    return wrong;
  }

 private:
  template <class F>
  void for_each_of_mine(const box_layout& layout, const F& f) const {
    const std::size_t first = layout.first_box(layout.ranks().rank());
    for (std::size_t i = 0; i < layout.mine().size(); ++i) {
      const auto& box = layout.mine()[i];
      for_each_cell(points_of(box, shared), widths,
                    [&](const cell& c) { f(first + i, c, at(u[i], box, c)); });
    }
  }
  static bool is_taken(const cell_box& points, const halo_widths& taken, const cell& c) {
    for (int d = 0; d < 3; ++d)
      if (c[d] < points.first[d] - taken.low[d] || c[d] >= points.end(d) + taken.high[d])
        return false;
    return true;
  }
};

TEST(BoxExchange, a_part_takes_some_fields_and_a_smaller_width) {
  spmd([](team& team) {
    for (const std::size_t number : {1U, 5U}) {
      const auto& test = cases[number];
      const auto all = random_boxes(domain, test.most, team.size(), test.has_holes, number + 1);
      const box_layout layout(team, all.boxes, all.owners,
                              {.domain = domain, .periodic = test.periodic});
      for (const auto mode : values_of<box_mode>()) {
        const halo_widths other({0, 1, 2}, {1, 2, 0});
        box_field<double> u(layout, test.widths, test.shared);
        box_field<std::int32_t> v(layout, 1);
        box_field<float> w(layout, other, {0, 1, 0});
        const field_in_part<double> first{u, test.widths, test.shared};
        const field_in_part<std::int32_t> second{v, 1, {}};
        const field_in_part<float> third{w, other, {0, 1, 0}};
        box_exchange halos(layout, {.mode = mode}, u, v, w);
        const exchange_part narrow{.fields = {2, 0}, .width = halo_widths({1, 0, 1}, {0, 1, 1})};
        const auto run = [&](box_operation operation, const exchange_part& part) {
          first.fill(layout), second.fill(layout), third.fill(layout);
          team.barrier();
          switch (operation) {
            case box_operation::update: halos.update(part); break;
            case box_operation::accumulate: halos.accumulate(op::add{}, part); break;
            case box_operation::assemble: halos.assemble(op::add{}, part); break;
          }
          const auto taken = [&](int field, const halo_widths& widths) {
            const auto& fields = part.fields;
            if (!fields.empty() && std::find(fields.begin(), fields.end(), field) == fields.end())
              return std::optional<halo_widths>();
            return std::optional(detail::narrower(widths, part));
          };
          const std::string text = fmt::format("case {}, {}", number, name_of(mode));
          EXPECT_EQ(first.wrong(layout, operation, taken(0, test.widths)), 0) << text;
          EXPECT_EQ(second.wrong(layout, operation, taken(1, 1)), 0) << text;
          EXPECT_EQ(third.wrong(layout, operation, taken(2, other)), 0) << text;
          team.barrier();
        };
        for (const auto operation :
             {box_operation::update, box_operation::accumulate, box_operation::assemble})
          for (const auto& part : {narrow, exchange_part{.fields = {1}}, exchange_part()})
            run(operation, part);
        run(box_operation::update, {.width = 1});
        const std::size_t bytes = halos.memory_bytes();
        run(box_operation::update, narrow);
        run(box_operation::assemble, narrow);
        EXPECT_EQ(halos.memory_bytes(), bytes);  // no plan was made again
      }
    }
  });
}

TEST(BoxExchange, memory_of_users_may_have_any_strides) {
  spmd([](team& team) {
    // A box per rank in a row, with z as the fastest dimension on odd ranks.
    const std::int64_t n = 4;
    const std::vector<cell_box> mine{{{n * team.rank(), 0, 0}, {n, 3, 2}}};
    const box_layout layout(
        team, mine,
        {.domain = {{0, 0, 0}, {n * team.size(), 3, 2}}, .periodic = {true, false, false}});
    const bool is_odd = team.rank() % 2 != 0;
    const std::array<std::ptrdiff_t, 3> strides =
        is_odd ? std::array<std::ptrdiff_t, 3>{40, 5, 1} : std::array<std::ptrdiff_t, 3>{1, 9, 70};
    std::vector<float> memory(1000, -1);
    const std::vector<field_view<float>> views{
        field_view<float>(memory.data() + 300, {n, 3, 2}, strides, 1)};
    const box_field_view<float> u(views, 1);
    for (const auto mode : values_of<box_mode>()) {
      box_exchange halos(layout, {.mode = mode}, u);
      std::fill(memory.begin(), memory.end(), -1.0F);
      for_each_cell(mine[0], 0,
                    [&](const cell& c) { at(u[0], mine[0], c) = static_cast<float>(value_at(c)); });
      halos.update();
      for (const std::int64_t x : {n * team.rank() - 1, n * team.rank() + n}) {
        const auto wrapped_x = (x + n * team.size()) % (n * team.size());
        EXPECT_EQ(at(u[0], mine[0], {x, 2, 1}), static_cast<float>(value_at({wrapped_x, 2, 1})));
        EXPECT_EQ(at(u[0], mine[0], {x, 3, 1}), -1.0F);
      }
    }
  });
}

// Six faces of n x n cells, side by side along x with a gap of 10 cells. Each edge of a face is glued
// to an edge of another face, as on a cube: faces 0 to 3 around the equator, 4 on top, 5 at the
// bottom. `width` cells beyond each edge are copies.
struct cube {
  std::int64_t n, width;
  [[nodiscard]] std::int64_t left(int face) const { return face * (n + 10); }
  [[nodiscard]] cell_box face(int f) const { return {{left(f), 0, 0}, {n, n, 1}}; }

  // A point of the sphere's cube for a cell of a face: the centre of the cell, times two, on a cube
  // from -n to n.
  [[nodiscard]] cell point(int f, std::int64_t i, std::int64_t j) const {
    const std::int64_t a = 2 * i + 1 - n, b = 2 * j + 1 - n;
    switch (f) {
      case 0: return {n, a, b};
      case 1: return {-a, n, b};
      case 2: return {-n, -a, b};
      case 3: return {a, -n, b};
      case 4: return {-b, a, n};
      default: return {b, a, -n};
    }
  }
  // Where a point beyond an edge of face f lies: it is bent around the edge of the cube.
  [[nodiscard]] cell bent(int f, std::int64_t i, std::int64_t j) const {
    cell p = point(f, i, j);
    const int out = f % 2 == 0 && f < 4 ? 0 : f < 4 ? 1 : 2;  // the axis across the face
    for (int d = 0; d < 3; ++d) {
      if (d == out || std::abs(p[d]) < n) continue;
      const std::int64_t beyond = std::abs(p[d]) - n;  // odd
      p[out] = p[out] > 0 ? n - beyond : -n + beyond;
      p[d] = p[d] > 0 ? n : -n;
      break;
    }
    return p;
  }
  // The face and the cell of a point.
  [[nodiscard]] cell find(const cell& p) const {
    for (int f = 0; f < 6; ++f)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          if (point(f, i, j) == p) return {left(f) + i, j, 0};
    ADD_FAILURE() << "no cell";
    return {};
  }
  [[nodiscard]] std::vector<glued_cells> glued() const {
    std::vector<glued_cells> all;
    for (int f = 0; f < 6; ++f)
      for (int edge = 0; edge < 4; ++edge) {
        const bool is_x = edge < 2, is_low = edge % 2 == 0;
        glued_cells g;
        g.beyond = face(f);
        const int d = is_x ? 0 : 1;
        g.beyond.first[d] += is_low ? -width : n;
        g.beyond.cells[d] = width;
        // The map is linear, so three cells tell it.
        const std::int64_t i = is_x ? (is_low ? -1 : n) : 0, j = is_x ? 0 : (is_low ? -1 : n);
        const cell origin = find(bent(f, i, j));
        const cell along = find(bent(f, i + (is_x ? 0 : 1), j + (is_x ? 1 : 0)));
        const std::int64_t out = is_low ? -1 : 1;
        const cell across = find(bent(f, i + (is_x ? out : 0), j + (is_x ? 0 : out)));
        const cell here{left(f) + i, j, 0};
        g.axis[2] = 2;
        for (int axis = 0; axis < 2; ++axis) {
          if (along[axis] != origin[axis]) {
            g.axis[1 - d] = axis;
            g.sign[1 - d] = along[axis] > origin[axis] ? 1 : -1;
          }
          if (across[axis] != origin[axis]) {
            g.axis[d] = axis;
            g.sign[d] = (across[axis] > origin[axis] ? 1 : -1) * (is_low ? -1 : 1);
          }
        }
        for (int k = 0; k < 2; ++k) g.offset[k] = origin[g.axis[k]] - g.sign[k] * here[k];
        all.push_back(g);
      }
    return all;
  }
};

TEST(BoxExchange, faces_of_a_cubed_sphere_are_glued_with_turns) {
  spmd([](team& team) {
    const cube sphere{.n = 6, .width = 2};
    // Each face is cut into two boxes.
    std::vector<cell_box> boxes;
    std::vector<int> owners;
    for (int f = 0; f < 6; ++f)
      for (int half = 0; half < 2; ++half) {
        cell_box box = sphere.face(f);
        box.cells[f % 2] = 3;
        box.first[f % 2] += 3 * half;
        boxes.push_back(box);
        owners.push_back((f + 2 * half) % team.size());
      }
    const box_layout layout(team, boxes, owners, {.glued = sphere.glued()});
    for (const auto mode : values_of<box_mode>()) {
      box_field<double> u(layout, halo_widths({2, 2, 0}, {2, 2, 0}));
      box_exchange halos(layout, {.mode = mode}, u);
      for (std::size_t b = 0; b < u.size(); ++b)
        for_each_cell(layout.mine()[b], u.memory().widths, [&](const cell& c) {
          at(u[b], layout.mine()[b], c) = contains(layout.mine()[b], c) ? value_at(c) : -1;
        });
      halos.update();
      int wrong = 0, turned = 0;
      for (std::size_t b = 0; b < u.size(); ++b)
        for_each_cell(layout.mine()[b], u.memory().widths, [&](const cell& c) {
          const int f = static_cast<int>((c[0] + 5) / (sphere.n + 10));
          const std::int64_t i = c[0] - sphere.left(f), j = c[1];
          const bool beyond_x = i < 0 || i >= sphere.n, beyond_y = j < 0 || j >= sphere.n;
          double right = -1;  // corners of the cube have no cells
          if (!beyond_x && !beyond_y) right = value_at(c);
          if (beyond_x != beyond_y) right = value_at(sphere.find(sphere.bent(f, i, j))), ++turned;
          wrong += at(u[b], layout.mine()[b], c) != right;
        });
      EXPECT_EQ(wrong, 0) << name_of(mode);
      EXPECT_EQ(turned > 0, u.size() > 0);
    }
  });
}

TEST(BoxExchange, the_upper_border_of_a_tripolar_grid_is_folded) {
  spmd([](team& team) {
    const std::int64_t nx = 2 * team.size() + 4, ny = 5, width = 2;
    const auto all = random_boxes({{0, 0, 0}, {nx, ny, 1}}, 8, team.size(), false, 3);
    // Row ny + k is row ny - 1 - k, from right to left. The domain is periodic along x.
    const glued_cells fold{.beyond = {{-width, ny, 0}, {nx + 2 * width, width, 1}},
                           .sign = {-1, -1, 1},
                           .offset = {nx - 1, 2 * ny - 1, 0}};
    const glued_cells low{.beyond = {{-width, ny, 0}, {width, width, 1}},
                          .sign = {-1, -1, 1},
                          .offset = {-1, 2 * ny - 1, 0}};
    const glued_cells high{.beyond = {{nx, ny, 0}, {width, width, 1}},
                           .sign = {-1, -1, 1},
                           .offset = {2 * nx - 1, 2 * ny - 1, 0}};
    const box_layout layout(team, all.of(team.rank()),
                            {.domain = {{0, 0, 0}, {nx, ny, 1}},
                             .periodic = {true, false, false},
                             .glued = {fold, low, high}});
    const halo_widths widths({2, 2, 0}, {2, 2, 0});
    box_field<std::int64_t> u(layout, widths);
    box_exchange halos(layout, {}, u);
    const auto id = [&](std::int64_t x, std::int64_t y) { return 1 + (x + nx) % nx + 1000 * y; };
    for (std::size_t b = 0; b < u.size(); ++b)
      for_each_cell(layout.mine()[b], widths, [&](const cell& c) {
        at(u[b], layout.mine()[b], c) = contains(layout.mine()[b], c) ? id(c[0], c[1]) : -1;
      });
    halos.update();
    int wrong = 0;
    for (std::size_t b = 0; b < u.size(); ++b)
      for_each_cell(layout.mine()[b], widths, [&](const cell& c) {
        std::int64_t right = -1;
        if (c[1] >= ny)
          right = id(nx - 1 - c[0], 2 * ny - 1 - c[1]);
        else if (c[1] >= 0)
          right = id(c[0], c[1]);
        wrong += at(u[b], layout.mine()[b], c) != right;
      });
    EXPECT_EQ(wrong, 0);
  });
}

TEST(BoxCopy, fields_go_from_one_decomposition_to_another) {
  spmd([](team& team) {
    for (const bool fills_halos : {false, true})
      for (const auto mode : values_of<box_mode>()) {
        const auto from = random_boxes(domain, 60, team.size(), true, 11),
                   to = random_boxes(domain, 90, team.size(), false, 12);
        const std::array<bool, 3> periodic{true, false, true};
        const box_layout from_layout(team, from.of(team.rank()),
                                     {.domain = domain, .periodic = periodic}),
            to_layout(team, to.of(team.rank()), {.domain = domain});
        box_field<double> u(from_layout, 1), v(to_layout, 2);
        for (std::size_t b = 0; b < u.size(); ++b)
          for_each_cell(from_layout.mine()[b], 0,
                        [&](const cell& c) { at(u[b], from_layout.mine()[b], c) = value_at(c); });
        for (std::size_t b = 0; b < v.size(); ++b)
          for_each_cell(to_layout.mine()[b], 2,
                        [&](const cell& c) { at(v[b], to_layout.mine()[b], c) = -1; });
        box_copy turn(from_layout, u, to_layout, v, {.mode = mode, .fills_halos = fills_halos});
        turn.copy();
        turn.copy();
        int wrong = 0;
        for (std::size_t b = 0; b < v.size(); ++b)
          for_each_cell(to_layout.mine()[b], 2, [&](const cell& c) {
            const auto place = wrapped(c, periodic);
            const bool is_inside = contains(to_layout.mine()[b], c);
            const bool exists = is_owned(from, {periodic, 0, {}, false, 0}, place);
            const double right = exists && (is_inside || fills_halos) ? value_at(place) : -1;
            wrong += at(v[b], to_layout.mine()[b], c) != right;
          });
        EXPECT_EQ(wrong, 0) << name_of(mode);
      }
  });
}

std::string refusal_of(const std::function<void()>& make) {
  try {
    make();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(BoxExchange, wrong_layouts_and_fields_are_refused_on_all_ranks) {
  spmd([](team& team) {
    const std::int64_t r = team.rank();
    const auto expect = [&](const std::string& words, const std::function<void()>& make) {
      const auto text = refusal_of(make);
      EXPECT_NE(text.find(words), std::string::npos) << text;
    };
    const bool is_last = team.rank() == team.size() - 1;
    expect("overlaps", [&] {
      const std::vector<cell_box> mine{{{4 * r, 0, 0}, {is_last ? 4 : 4, 4, 4}},
                                       {{4 * r + (is_last ? 3 : 4000), 0, 0}, {1, 1, 1}}};
      (void)box_layout(team, mine);
    });
    expect("has no cells", [&] {
      const std::vector<cell_box> mine{{{4 * r, 0, 0}, {4, is_last ? 0 : 4, 4}}};
      (void)box_layout(team, mine);
    });
    expect("outside of the domain along y", [&] {
      const std::vector<cell_box> mine{{{4 * r, 0, 0}, {4, 4, 4}}};
      (void)box_layout(team, mine,
                       {.domain = {{0, 0, 0}, {100, 3, 4}}, .periodic = {false, true, false}});
    });
    expect("of 2 and 2 cells, with 1 shared layers, is wider than the periodic domain along x",
           [&] {
             const box_domain small{.domain = {{0, 0, 0}, {2, 4 * team.size(), 4}},
                                    .periodic = {true, false, false}};
             const box_layout thin(team, std::vector<cell_box>{{{0, 4 * r, 0}, {2, 4, 4}}}, small);
             box_field<double> fits(thin, halo_widths({1, 0, 0}, {1, 0, 0}), {1, 1, 1});
             box_exchange(thin, {}, fits);
             box_field<double> cells(thin, halo_widths({2, 0, 0}, {2, 0, 0}));
             box_exchange(thin, {}, cells);
             box_field<double> wide(thin, halo_widths({2, 0, 0}, {2, 0, 0}), {1, 1, 1});
             box_exchange(thin, {}, wide);
           });
    expect("use each axis once", [&] {
      const std::vector<cell_box> mine{{{4 * r, 0, 0}, {4, 4, 4}}};
      (void)box_layout(team, mine,
                       {.glued = {{.beyond = {{0, 9, 0}, {1, 1, 1}}, .axis = {0, 0, 1}}}});
    });
    const std::vector<cell_box> mine{{{4 * r, 0, 0}, {4, 4, 4}}};
    const box_layout layout(team, mine);
    box_field<double> u(layout, 1);
    expect("has 0 views", [&] {
      box_exchange(layout, {}, box_field_view<double>(std::span<const field_view<double>>{}, 1));
    });
    expect("has a halo of 1 and 1 cells", [&] {
      auto memory = u.memory();
      memory.widths = 2;
      box_exchange(layout, {}, std::vector{memory});
    });
    expect("more than any memory holds", [&] {
      // The bytes of its cells are a multiple of 2^64.
      const std::int64_t n = std::int64_t{1} << 21;
      const box_layout large(team, std::vector<cell_box>{{{0, 0, n * r}, {n, n, n}}});
      (void)box_field<double>(large, 0);
    });
    if (team.size() > 1)
      expect("passes mode", [&] {
        box_exchange(layout, {.mode = is_last ? box_mode::channel : box_mode::direct}, u);
      });
    box_exchange halos(layout, {}, u);
    halos.update();
    expect("field 1 of a part of a plan of boxes", [&] { halos.update({.fields = {1}}); });
    expect("is twice", [&] { halos.accumulate(op::add{}, {.fields = {0, 0}}); });
    if (team.size() > 1)
      expect("passes all fields, and rank", [&] {
        halos.assemble(op::add{}, {.fields = std::vector<int>(is_last ? 1 : 0), .width = 1});
      });
    halos.start_update({.width = 0});
    EXPECT_THROW(halos.start_update(), error);
    halos.wait();
    halos.start_update();
    EXPECT_THROW(halos.start_update({.width = 0}), error);
    halos.wait();
    EXPECT_THROW(halos.wait(), error);
  });
}

}  // namespace
}  // namespace longshore
