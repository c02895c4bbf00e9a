// The measurements of pattern halo in C++: fields with a halo, or a contiguous buffer per face as
// in halobench.
#include "patterns/halo/halo_measurements.hpp"

#include "harness/task_factors.hpp"
#include "patterns/memory_check.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/face_exchange.hpp>
#include <longshore/halo/halo_exchange.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <cstring>
#include <span>

namespace longshore::bench {

std::vector<metric> exchange_measurement::metrics(const summary& seconds) {
  team& ranks = grid_.ranks();
  const auto bytes =
      static_cast<double>(ranks.allreduce_value(moved().payload_bytes, reduction::sum));
  return {
      {"exchange_bandwidth", 2e-9 * bytes / seconds.median, "GB/s"},
      per_rank("process_bandwidth", bytes / ranks.size() / (1 << 20) / seconds.median, "MiB/s")};
}

json exchange_measurement::transfers_of(const halo_transfers& mine) {
  json transfers = json::object();
  const auto add = [&](const char* way, std::uint64_t bytes) {
    const auto all = grid_.ranks().allreduce_value(bytes, reduction::sum);
    if (all > 0) transfers[way] = all;
  };
  add("copied", mine.copied);
  add("read", mine.read);
  add("channels", mine.channels);
  add("posted", mine.posted);
  add("mpi", mine.mpi);
  return transfers;
}

namespace {

tasks tasks_of(const variant& levels, const team& ranks) {
  const auto layer = levels.at("tasks").get<std::string>();
  if (layer == "serial") return tasks();
  const int count =
      levels.contains("task_count") ? task_count_of(levels) : static_cast<int>(ranks.cpus().size());
  return tasks({.layer = layer, .count = count, .cpus = {}});
}

// Fields with a halo. Before each repetition all cells get new values, so that results of an
// earlier exchange are wrong.
template <class T>
class field_measurement final : public exchange_measurement {
 public:
  field_measurement(team& team, const variant& levels, const launch_facts& facts)
      : exchange_measurement(team, levels),
        width_(levels.at("halo").get<int>()),
        workers_(tasks_of(levels, team)),
        tag_(mix_bits(facts.seed)) {
    const auto extents = triple<std::size_t>(levels.at("domain"));
    const auto count = levels.at("fields").get<std::size_t>();
    double bytes = static_cast<double>(count) * sizeof(T);
    for (const auto cells : extents) bytes *= static_cast<double>(cells) + 2.0 * width_;
    check_memory(team, "the fields", bytes);
    std::vector<field_memory> memories;
    const bool is_own = levels.contains("memory") && levels.at("memory") == "own";
    for (std::size_t i = 0; i < count; ++i) {
      fields_.push_back(is_own ? in_own_memory(extents)
                               : shared_.emplace_back(grid_, extents, width_));
      memories.push_back(fields_.back().memory());
    }
    block_ = equal_block(grid_, extents);
    const halo_options options{
        .width = width_,
        .algorithm = from_name<halo_algorithm>(levels.at("algorithm").get<std::string>()),
        .mode = from_name<halo_mode>(levels.at("mode").get<std::string>()),
        .reach = from_name<halo_reach>(levels.at("reach").get<std::string>()),
        .workers = &workers_};
    team.barrier();
    const double began = team.now();
    exchange_ = std::make_unique<halo_exchange>(grid_, options, memories);
    plan_seconds_ = team.allreduce_value(team.now() - began, reduction::max);
  }

  void reset() override {
    tag_ += fields_.size();
    for (std::size_t i = 0; i < fields_.size(); ++i) fill_cells(fields_[i], block_, tag_ + i);
  }
  void run() override { exchange_->exchange(); }
  [[nodiscard]] bool verify() override {
    return cells_are_right<T>(fields_, block_, tag_, grid_, exchange_->filled(), width_);
  }
  [[nodiscard]] traffic moved() const override { return exchange_->moved(); }
  [[nodiscard]] json facts() override {
    json facts = exchange_measurement::facts();
    facts["algorithm"] = name_of(exchange_->algorithm());
    facts["rounds"] = exchange_->rounds();
    facts["plan_seconds"] = plan_seconds_;
    facts["transfers"] = transfers_of(exchange_->transfers());
    return facts;
  }

 private:
  // A field in a std::vector, with the layout of class field.
  field_view<T> in_own_memory(const std::array<std::size_t, 3>& extents) {
    std::array<std::ptrdiff_t, 3> strides{};
    std::ptrdiff_t cells = 1, first = 0;
    for (int d = 0; d < 3; ++d) {
      strides[d] = cells;
      first += width_ * cells;
      cells *= static_cast<std::ptrdiff_t>(extents[d]) + 2 * width_;
    }
    T* const memory = own_.emplace_back(static_cast<std::size_t>(cells)).data();
    return {memory + first, extents, strides, width_};
  }

  int width_;
  tasks workers_;
  double plan_seconds_ = 0;
  std::uint64_t tag_;
  domain_block block_;
  std::vector<field<T>> shared_;
  std::vector<std::vector<T>> own_;
  std::vector<field_view<T>> fields_;  // in shared_ or in own_
  std::unique_ptr<halo_exchange> exchange_;
};

// Contiguous buffers. Incoming messages are copied to buffers at fixed addresses, as with MPI.
template <class T>
class contiguous_measurement final : public exchange_measurement {
 public:
  contiguous_measurement(team& team, const variant& levels, const launch_facts& facts)
      : exchange_measurement(team, levels),
        elements_(levels.at("contiguous").get<std::size_t>()),
        tag_(mix_bits(facts.seed)),
        faces_(grid_, {.bytes = bytes_of_face(),
                       .mode = from_name<halo_mode>(levels.at("mode").get<std::string>())}) {}

  void reset() override {
    ++tag_;
    for (std::size_t side = 0; side < faces_.sides().size(); ++side) {
      T* const out = reinterpret_cast<T*>(faces_.outgoing(side).data());
      T* const in = reinterpret_cast<T*>(faces_.incoming(side).data());
      const auto row = row_of(grid_.ranks().rank(), side);
      for (std::size_t i = 0; i < elements_; ++i) {
        out[i] = cell_value<T>(row, static_cast<std::ptrdiff_t>(i));
        in[i] = untouched_cell<T>;
      }
    }
  }
  void run() override {
    faces_.start();
    faces_.wait();
  }
  [[nodiscard]] bool verify() override {
    for (std::size_t side = 0; side < faces_.sides().size(); ++side) {
      const int peer = grid_.neighbour(faces_.sides()[side]);
      if (peer < 0) continue;
      const T* const in = reinterpret_cast<const T*>(faces_.received(side).data());
      // Sides 2 d and 2 d + 1 are the two ends of dimension d. The neighbour sent this message from
      // the opposite side.
      const auto row = row_of(peer, side ^ 1);
      for (std::size_t i = 0; i < elements_; ++i) {
        if (in[i] == cell_value<T>(row, static_cast<std::ptrdiff_t>(i))) continue;
        fmt::print(
            stderr,
            "longshore-bench: halo: rank {}: element {} from rank {} on side {} is {}, not {}\n",
            grid_.ranks().rank(), i, peer, side, in[i],
            cell_value<T>(row, static_cast<std::ptrdiff_t>(i)));
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] traffic moved() const override { return faces_.moved(); }
  [[nodiscard]] json facts() override {
    json facts = exchange_measurement::facts();
    facts["transfers"] = transfers_of(faces_.transfers());
    return facts;
  }

 private:
  // Called while faces_ is constructed: uses only members that are declared before faces_.
  [[nodiscard]] std::size_t bytes_of_face() const {
    constexpr double max_sides = 6, directions = 2;  // an outgoing and an incoming buffer per side
    check_memory(grid_.ranks(), "the buffers of all faces",
                 max_sides * directions * static_cast<double>(elements_) * sizeof(T));
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(elements_, sizeof(T), &bytes))
      fail(errc::out_of_memory, "faces of {} elements are more than any memory holds", elements_);
    return bytes;
  }
  [[nodiscard]] std::uint64_t row_of(int rank, std::size_t side) const {
    return row_seed(tag_, static_cast<std::ptrdiff_t>(side), rank);
  }

  std::size_t elements_;
  std::uint64_t tag_;
  face_exchange faces_;
};

template <class T>
std::unique_ptr<measurement> make(team& team, const variant& levels, const launch_facts& facts) {
  if (levels.contains("contiguous"))
    return std::make_unique<contiguous_measurement<T>>(team, levels, facts);
  return std::make_unique<field_measurement<T>>(team, levels, facts);
}

}  // namespace

std::unique_ptr<measurement> measure_halo(team& team, const variant& levels,
                                          const launch_facts& facts) {
  if (levels.contains("language") && levels.at("language") != "c++")
    return measure_in_its_language(team, levels, facts);
  return levels.at("type") == "float" ? make<float>(team, levels, facts)
                                      : make<double>(team, levels, facts);
}

}  // namespace longshore::bench
