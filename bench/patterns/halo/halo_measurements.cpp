// The measurements of pattern halo in C++: fields with a halo, or a contiguous buffer per face as
// in halobench.
#include "patterns/halo/halo_measurements.hpp"

#include "harness/task_factors.hpp"
#include "patterns/halo/block_check.hpp"
#include "patterns/memory_check.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/device/driver.hpp>
#include <longshore/halo/cell_check.hpp>
#include <longshore/halo/face_exchange.hpp>
#include <longshore/halo/halo_exchange.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <cstring>
#include <span>

namespace longshore::bench {

std::vector<metric> exchange_metrics(team& ranks, const traffic& moved, const summary& seconds) {
  const auto bytes =
      static_cast<double>(ranks.allreduce_value(moved.payload_bytes, reduction::sum));
  return {
      {"exchange_bandwidth", 2e-9 * bytes / seconds.median, "GB/s"},
      per_rank("process_bandwidth", bytes / ranks.size() / (1 << 20) / seconds.median, "MiB/s")};
}

json exchange_measurement::transfers_of(const exchange_transfers& mine) {
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

// The blocks of all ranks of a grid.
block_layout blocks_of(const rank_grid& grid, const std::array<std::size_t, 3>& cells) {
  block_layout layout;
  layout.blocks.resize(static_cast<std::size_t>(grid.ranks().size()));
  layout.periodic = grid.periodic();
  cell_box block;
  for (int d = 0; d < 3; ++d) {
    block.cells[d] = static_cast<std::int64_t>(cells[d]);
    layout.domain.cells[d] = grid.shape()[d] * block.cells[d];
  }
  for (int z = 0; z < grid.shape()[2]; ++z)
    for (int y = 0; y < grid.shape()[1]; ++y)
      for (int x = 0; x < grid.shape()[0]; ++x) {
        block.first = {x * block.cells[0], y * block.cells[1], z * block.cells[2]};
        layout.blocks[static_cast<std::size_t>(grid.rank_at({x, y, z}))] = block;
      }
  return layout;
}

// Fields with a halo. Before each repetition all cells get new values, so that results of an
// earlier exchange are wrong.
template <class T>
class field_measurement final : public exchange_measurement {
 public:
  field_measurement(team& team, const variant& levels, const launch_facts& facts)
      : exchange_measurement(team, levels),
        operation_(operation_of(levels)),
        shared_(shared_layers(levels)),
        width_(levels.at("halo").get<int>()),
        workers_(tasks_of(levels, team)),
        tag_(mix_bits(facts.seed)) {
    const auto cells = triple<std::size_t>(levels.at("domain"));
    const auto count = levels.at("fields").get<std::size_t>();
    auto extents = cells;
    double bytes = static_cast<double>(count) * sizeof(T);
    for (auto& extent : extents) {
      extent += static_cast<std::size_t>(shared_);
      bytes *= static_cast<double>(extent) + 2.0 * width_;
    }
    check_memory(team, "the fields", bytes);
    std::vector<field_memory> memories;
    const auto kind = levels.value("memory", "shared");
    for (std::size_t i = 0; i < count; ++i) {
      fields_.push_back(kind != "shared"
                            ? field_in(own_, extents, width_, shared_)
                            : in_shared_.emplace_back(grid_, extents, width_,
                                                      std::array{shared_, shared_, shared_}));
      memories.push_back(fields_.back().memory());
      if (kind == "device") memories.back().first = add_device_copy(memories.back().first);
    }
    block_ = equal_block(grid_, cells);
    const halo_options options{.width = width_,
                               .algorithm = level_of<halo_algorithm>(levels, "algorithm"),
                               .mode = level_of<halo_mode>(levels, "mode"),
                               .reach = level_of<halo_reach>(levels, "reach"),
                               .workers = &workers_};
    team.barrier();
    const double began = team.now();
    exchange_ = std::make_unique<halo_exchange>(grid_, options, memories);
    // The first sum makes a plan. Blocks that are too thin are refused here.
    if (operation_ != halo_operation::exchange) run();
    plan_seconds_ = team.allreduce_value(team.now() - began, reduction::max);
    if (is_plain()) return;
    blocks_ = blocks_of(grid_, cells);
    blocks_.shared = shared_;
    blocks_.width = width_;
    blocks_.reach = exchange_->filled();
  }

  void reset() override {
    tag_ += fields_.size();
    runs_ = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (is_plain())
        fill_cells(fields_[i], block_, tag_ + i);
      else
        check_of_block().fill(fields_[i], tag_ + i);
    for (std::size_t i = 0; i < on_device_.size(); ++i)
      driver_->copy(on_device_[i].get(), own_[i].data(), own_[i].size() * sizeof(T));
  }
  // Each assemble multiplies the values, which would soon be infinite.
  [[nodiscard]] bool repeatable() const override { return operation_ != halo_operation::assemble; }
  void run() override {
    ++runs_;
    switch (operation_) {
      case halo_operation::exchange: exchange_->exchange(); break;
      case halo_operation::accumulate: exchange_->accumulate(op::add{}); break;
      case halo_operation::assemble: exchange_->assemble(op::add{}); break;
    }
  }
  [[nodiscard]] bool verify() override {
    for (std::size_t i = 0; i < on_device_.size(); ++i)
      driver_->copy(own_[i].data(), on_device_[i].get(), own_[i].size() * sizeof(T));
    return fields_are_right(fields_.size(), [&](std::size_t i) {
      return is_plain() ? first_wrong_cell<T>(fields_[i], block_, tag_ + i, grid_,
                                              exchange_->filled(), width_)
                        : check_of_block().first_wrong(fields_[i], tag_ + i, runs_);
    });
  }
  [[nodiscard]] traffic moved() const override { return exchange_->moved(operation_); }
  [[nodiscard]] json collect_facts() override {
    json facts = exchange_measurement::collect_facts();
    facts["algorithm"] = name_of(exchange_->algorithm());
    facts["plan_seconds"] = plan_seconds_;
    if (!on_device_.empty())
      facts["device"] = {
          {"driver", driver_->name()},
          {"library_takes_memory", driver_->is_known_to_libraries() &&
                                       grid_.ranks().library_takes_device_memory(driver_->name())},
          {"copy_bandwidth", copy_bandwidth()}};
    if (operation_ != halo_operation::exchange) return facts;
    facts["rounds"] = exchange_->rounds();
    facts["transfers"] = transfers_of(exchange_->transfers());
    return facts;
  }

 private:
  // Whether the check of the library knows the operation.
  [[nodiscard]] bool is_plain() const {
    return operation_ == halo_operation::exchange && shared_ == 0;
  }
  [[nodiscard]] block_check<T> check_of_block() const {
    return {blocks_, operation_, static_cast<std::size_t>(grid_.ranks().rank())};
  }
  // Allocates a copy of the latest own memory on the device. Returns the address of `cell` there.
  std::byte* add_device_copy(const std::byte* cell) {
    driver_ = longshore::detail::installed_driver();
    const auto* const first = reinterpret_cast<const std::byte*>(own_.back().data());
    on_device_.push_back(
        driver_->allocate(driver_->current_device(), own_.back().size() * sizeof(T)));
    return on_device_.back().get() + (cell - first);
  }

  // The GB/s of launches that copy as many bytes within the device as this rank moves in an
  // operation, read and written. The ranks take turns.
  [[nodiscard]] double copy_bandwidth() {
    constexpr int launches = 20;
    team& ranks = grid_.ranks();
    const int device = driver_->current_device();
    const auto bytes = std::max<std::size_t>(moved().payload_bytes, sizeof(T));
    const auto to = driver_->allocate(device, bytes), from = driver_->allocate(device, bytes);
    longshore::detail::device_piece piece{to.get(), from.get(), sizeof(T)};
    piece.extents[0] = bytes / sizeof(T);
    piece.to_strides[0] = piece.from_strides[0] = sizeof(T);
    const auto copy = driver_->prepare(device, std::span(&piece, 1));
    const auto stream = driver_->make_stream(device);
    const auto event = driver_->make_event(device);
    double seconds = 0;
    for (int turn = 0; turn < ranks.size(); ++turn) {
      ranks.barrier();
      for (int i = 0; i <= launches && turn == ranks.rank(); ++i) {
        const double began = ranks.now();
        copy(stream.get());
        driver_->record(device, stream.get(), event);
        driver_->synchronise(event);
        if (i > 0) seconds += (ranks.now() - began) / launches;  // the first one warms up
      }
    }
    return 2e-9 * static_cast<double>(bytes) / seconds;
  }

  halo_operation operation_;
  int shared_, width_;
  tasks workers_;
  double plan_seconds_ = 0;
  std::uint64_t tag_, runs_ = 0;
  domain_block block_;
  block_layout blocks_;  // empty for plain exchanges
  std::vector<field<T>> in_shared_;
  std::vector<std::vector<T>> own_;
  std::vector<field_view<T>> fields_;  // in in_shared_ or in own_
  longshore::detail::device_driver* driver_ = nullptr;
  std::vector<std::shared_ptr<std::byte>> on_device_;  // if the plan exchanges copies of own_
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
        faces_(grid_, {.bytes = bytes_of_face(), .mode = level_of<halo_mode>(levels, "mode")}) {}

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
  [[nodiscard]] json collect_facts() override {
    json facts = exchange_measurement::collect_facts();
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
  if (boxes_per_rank(levels) > 0) return measure_boxes(team, levels, facts);
  return levels.at("type") == "float" ? make<float>(team, levels, facts)
                                      : make<double>(team, levels, facts);
}

}  // namespace longshore::bench
