// The measurement of pattern ghost for elements of one type: fields on a part of a mesh, whose
// ghosts are updated from their elements, or accumulated into them.
#pragma once

#include "harness/pattern.hpp"
#include "patterns/ghost/ghost_mesh.hpp"
#include "patterns/memory_check.hpp"
#include "patterns/plan_measurement.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/ghost/ghost_exchange.hpp>
#include <longshore/transport/agree_on_errors.hpp>
#include <longshore/transport/shared_allocator.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

namespace longshore::bench {

/// Makes the value of an element of a field, and the number that each of its ghosts adds. Both are
/// small whole numbers, never negative, which every type holds exactly. They depend on the element
/// and on `tag` alone, so that any rank knows them for any element.
struct element_bits {
  std::uint64_t bits;
  element_bits(std::uint64_t tag, const location& element)
      : bits(mix_bits(mix_bits(mix_bits(tag) + static_cast<std::uint64_t>(element.rank)) +
                      element.offset)) {}
  template <class T>
  [[nodiscard]] T value() const {
    return static_cast<T>(bits % 1024);
  }
  template <class T>
  [[nodiscard]] T added() const {
    return static_cast<T>(1 + (bits >> 32) % 3);
  }
};

template <class T>
class ghost_measurement : public plan_measurement {
 public:
  ghost_measurement(team& ranks, const variant& levels, const launch_facts& facts)
      : plan_measurement(ranks),
        team_(ranks),
        operation_(levels.at("operation") == "update" ? ghost_operation::update
                                                      : ghost_operation::accumulate),
        field_count_(levels.at("fields").get<std::size_t>()),
        tag_(mix_bits(facts.seed)),
        mesh_(ranks, levels, facts.seed, sizeof(T)) {
    const bool is_own = levels.contains("memory") && levels.at("memory") == "own";
    const std::size_t elements = owned() + ghosts();
    check_memory(ranks, "the fields of the mesh",
                 static_cast<double>(elements) * static_cast<double>(field_count_ * sizeof(T)));
    agree_on_errors(ranks, "the fields of the mesh", [&] {
      for (std::size_t i = 0; i < field_count_; ++i)
        fields_.push_back(is_own ? std::span<T>(own_.emplace_back(elements))
                                 : std::span<T>(shared_.emplace_back(elements)));
    });
    make_plan(level_of<ghost_strategy>(levels, "strategy"));
  }

  // All elements and ghosts get new values, so that results of an earlier exchange are wrong.
  void reset() override {
    tag_ += field_count_;
    runs_ = 0;
    for (std::size_t f = 0; f < field_count_; ++f) {
      for (std::size_t i = 0; i < owned(); ++i)
        fields_[f][i] = bits(f, element(i)).template value<T>();
      for (std::size_t i = 0; i < ghosts(); ++i) fields_[f][owned() + i] = ghost_before(f, i);
    }
  }

  void run() override {
    ++runs_;
    if (operation_ == ghost_operation::update)
      plan_->update();
    else
      plan_->accumulate(op::add{});
  }

  [[nodiscard]] bool verify() override {
    spoil(fields_);
    for (std::size_t f = 0; f < field_count_; ++f) {
      for (std::size_t i = 0; i < owned(); ++i)
        if (const T right = right_element(f, i); fields_[f][i] != right)
          return report(f, "element", element(i), fields_[f][i], right);
      for (std::size_t i = 0; i < ghosts(); ++i) {
        const location& of = mesh_.part.ghosts[i];
        const T right = operation_ == ghost_operation::update ? bits(f, of).template value<T>()
                                                              : ghost_before(f, i);
        if (const T found = fields_[f][owned() + i]; found != right)
          return report(f, "the ghost of element", of, found, right);
      }
    }
    return true;
  }

  [[nodiscard]] traffic moved() const override { return plan_->moved(operation_); }

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    const double nodes = team_.nodes().node_count();
    const double fields = static_cast<double>(field_count_);
    // An update reads the cache lines of elements and writes those of ghosts. Accumulating reads
    // the lines of both, and writes the lines of elements.
    const int passes_over_elements = operation_ == ghost_operation::update ? 1 : 2;
    const double line_bytes =
        passes_over_elements * mesh_.element_line_bytes + mesh_.ghost_line_bytes;
    const auto rate = [&](double bytes) { return 1e-9 * fields * bytes / nodes / seconds.median; };
    return {per_node("ghost_bandwidth", rate(mesh_.all_ghosts * sizeof(T)), "GB/s"),
            per_node("line_bandwidth", rate(line_bytes), "GB/s"),
            {"plan_seconds", plan_seconds_, "s", false},
            {"remake_seconds", remake_seconds_, "s", false}};
  }

  [[nodiscard]] json collect_facts() override {
    const auto range = [&](std::size_t mine) { return max_and_mean(team_, mine); };
    return {{"strategy", name_of(plan_->strategy())},
            {"mesh",
             {{"elements", range(owned())},
              {"ghosts", range(ghosts())},
              {"neighbours", range(plan_->neighbours())},
              {"offnode_fraction", mesh_.offnode_fraction}}},
            {"plan",
             {{"graph_seconds", graph_seconds_},
              {"memory_bytes", range(plan_->memory_bytes())},
              {"graph_bytes", range(plan_->graph().memory_bytes())}}}};
  }

 protected:
  [[nodiscard]] std::size_t owned() const { return mesh_.part.owned; }
  [[nodiscard]] std::size_t ghosts() const { return mesh_.part.ghosts.size(); }
  /// Called before the verification. Tests change values here.
  virtual void spoil([[maybe_unused]] std::span<const std::span<T>> fields) {}

 private:
  // Collective. Times the making of a plan. Removes one in a hundred ghosts from the plan, and
  // times the remake that adds them again. All repetitions use the remade plan.
  void make_plan(ghost_strategy strategy) {
    std::vector<ghost_memory> memories;
    for (const auto& field : fields_)
      memories.push_back(ghost_field(field.data(), field.data() + owned()).memory());
    const bool updates = operation_ == ghost_operation::update;
    const ghost_options options{.strategy = strategy, .updates = updates, .accumulates = !updates};
    const auto seconds_of = [&](const auto& work) {
      team_.barrier();
      const double began = team_.now();
      work();
      return team_.allreduce_value(team_.now() - began, reduction::max);
    };
    const std::span<const location> all = mesh_.owners;
    std::vector<location> fewer;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i % 100 != 99 && i + 1 < all.size()) fewer.push_back(all[i]);
    plan_seconds_ = seconds_of([&] {
      const double began = team_.now();
      const ghost_graph graph(team_, owned(), all);
      graph_seconds_ = team_.now() - began;
      plan_ = std::make_unique<ghost_exchange>(graph, options, memories);
    });
    graph_seconds_ = team_.allreduce_value(graph_seconds_, reduction::max);
    plan_->remake(std::span<const location>(fewer));
    remake_seconds_ = seconds_of([&] { plan_->remake(all); });
  }

  [[nodiscard]] element_bits bits(std::size_t field, const location& of) const {
    return {tag_ + field, of};
  }
  [[nodiscard]] location element(std::size_t i) const { return {mesh_.part_number, i}; }
  // The value of a ghost before the operation. An update replaces it.
  [[nodiscard]] T ghost_before(std::size_t field, std::size_t i) const {
    return operation_ == ghost_operation::update
               ? static_cast<T>(-1)
               : bits(field, mesh_.part.ghosts[i]).template added<T>();
  }
  // The value of an element after the operations since reset(). Adds one by one like the
  // operations, because the sum of many floats depends on the order.
  [[nodiscard]] T right_element(std::size_t field, std::size_t i) const {
    T value = bits(field, element(i)).template value<T>();
    if (operation_ == ghost_operation::update) return value;
    const T added = bits(field, element(i)).template added<T>();
    const std::uint64_t times = runs_ * mesh_.part.copies[i];
    for (std::uint64_t k = 0; k < times; ++k) value = static_cast<T>(value + added);
    return value;
  }
  bool report(std::size_t field, const char* what, const location& of, T found, T right) const {
    fmt::print(stderr,
               "longshore-bench: ghost: rank {}: field {}: {} {} of part {} is {}, not {}\n",
               team_.rank(), field, what, of.offset, of.rank, found, right);
    return false;
  }

  team& team_;
  ghost_operation operation_;
  std::size_t field_count_;
  std::uint64_t tag_, runs_ = 0;
  ghost_mesh mesh_;
  std::vector<std::vector<T, shared_allocator<T>>> shared_;
  std::vector<std::vector<T>> own_;
  std::vector<std::span<T>> fields_;  // in shared_ or in own_
  std::unique_ptr<ghost_exchange> plan_;
  double plan_seconds_ = 0, graph_seconds_ = 0, remake_seconds_ = 0;
};

}  // namespace longshore::bench
