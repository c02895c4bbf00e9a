// The implementation of tables for one size of elements, which table_narrow.cpp and table_wide.cpp
// instantiate.
#pragma once

#include "table.hpp"

#include <longshore/array/dist_array.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/op.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/gather/scatter.hpp>
#include <longshore/gather/update.hpp>

#include <map>

namespace longshore::python {

/// The kind of number that the bits of an element represent.
[[nodiscard]] constexpr bindings::number_kind number_kind_of(element type) noexcept {
  if (is_floating(type)) return bindings::number_kind::floating;
  return is_signed(type) ? bindings::number_kind::signed_integer
                         : bindings::number_kind::unsigned_integer;
}

template <class Bits>
class table_of final : public table {
 public:
  table_of(team& ranks, std::size_t size, element type, table_distribution distribution)
      : array_(std::make_unique<dist_array<Bits, table_distribution>>(ranks, size, distribution,
                                                                      name_of(type))),
        map_(array_->map()),
        local_(array_->local()),
        rank_(ranks.rank()),
        type_(type) {}

  std::size_t size() const override { return map_.size(); }
  std::span<std::byte> local() override { return std::as_writable_bytes(local_); }
  int owner_of(std::size_t index) const override { return map_.owner_offset(index).rank; }
  void write_indices(std::int64_t* to) const override {
    for (std::size_t i = 0; i < local_.size(); ++i)
      to[i] = static_cast<std::int64_t>(map_.index_of(rank_, i));
  }

  gather_strategy gather(const plan_key& key, std::span<const std::int64_t> indices,
                         std::byte* out) override {
    auto& plan = plan_of(gathers_, key);
    plan(indices, {reinterpret_cast<Bits*>(out), indices.size()});
    return plan.strategy();
  }
  gather_strategy scatter(const plan_key& key, std::span<const std::int64_t> indices,
                          const std::byte* values) override {
    auto& plan = plan_of(scatters_, key);
    plan(indices, {reinterpret_cast<const Bits*>(values), indices.size()});
    return plan.strategy();
  }
  gather_strategy update(const plan_key& key, std::span<const std::int64_t> indices,
                         const std::byte* values, bool common, const char* what) override {
    if constexpr (has_updates) {
      if constexpr (has_remote_addition)
        if (key.update == operation::sum && !is_floating(type_))
          return run(plan_of(additions_, key), indices, values, common, what);
      const bindings::word_operation operation{key.update, number_kind_of(type_)};
      return run(plan_of(updates_, key, operation), indices, values, common, what);
    } else {
      fail(errc::unsupported,
           "a table with elements of 1 or 2 bytes cannot be updated, since they overflow soon: use "
           "int32 or int64");
    }
  }

  void outlive_team() override {
    gathers_.clear(), scatters_.clear(), additions_.clear(), updates_.clear();
    // With processes, freeing the memory would unmap it while arrays of Python still use it.
    if (array_->team().transport_name() != "threads") static_cast<void>(array_.release());
  }

 private:
  template <class Plan>
  using plans = std::map<plan_key, std::unique_ptr<Plan>>;
  static constexpr bool has_updates = sizeof(Bits) >= sizeof(float);
  // Transports have a remote addition of 64-bit integers, for which a plan needs op::add.
  static constexpr bool has_remote_addition = sizeof(Bits) == sizeof(std::int64_t);

  template <class Plan, class... Operation>
  Plan& plan_of(plans<Plan>& kept, const plan_key& key, const Operation&... operation) {
    auto& plan = kept[key];
    if (!plan) {
      try {
        plan = std::make_unique<Plan>(*array_, operation...,
                                      gather_options{.strategy = key.strategy,
                                                     .buffer_items = key.buffer_items,
                                                     .hops = key.hops,
                                                     .combine = key.combine});
      } catch (...) {  // keeps no entry without a plan
        kept.erase(key);
        throw;
      }
    }
    return *plan;
  }

  template <class Plan>
  static gather_strategy run(Plan& plan, std::span<const std::int64_t> indices,
                             const std::byte* values, bool common, const char* what) {
    plan.set_name(what);
    const auto* from = reinterpret_cast<const Bits*>(values);
    if (common)
      plan(indices, *from);
    else
      plan(indices, std::span<const Bits>(from, indices.size()));
    return plan.strategy();
  }

  std::unique_ptr<dist_array<Bits, table_distribution>> array_;
  table_distribution::map map_;
  std::span<Bits> local_;
  int rank_;  // write_indices() needs it also after the end of the team
  element type_;
  plans<gather_plan<Bits, table_distribution>> gathers_;
  plans<scatter_plan<Bits, table_distribution>> scatters_;
  plans<update_plan<Bits, table_distribution>> additions_;
  plans<update_plan<Bits, table_distribution, bindings::word_operation>> updates_;
};

}  // namespace longshore::python
