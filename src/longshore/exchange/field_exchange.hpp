// What plans of halos and boxes share: their operations, and the plans of parts.
#pragma once

#include <longshore/device/stream.hpp>
#include <longshore/exchange/combine_op.hpp>
#include <longshore/exchange/exchange_part.hpp>
#include <longshore/exchange/transfers.hpp>
#include <longshore/transport/detail/team_bound.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

namespace detail {
class exchange_plan;

/// The operations of a plan, in the order of halo_operation and box_operation.
enum class field_operation { update, accumulate, assemble };

/// How messages name a plan, and what they say of an exchange that was started twice or never.
struct exchange_words {
  const char *plan, *exchange, *twice, *not_started;
};
}  // namespace detail

/// The operations of halo_exchange and box_exchange. One operation is in flight at a time.
class field_exchange {
 public:
  virtual ~field_exchange();
  /// Begins to combine copies of cells into the cells of their owners: cell = op(cell, copy). Copies
  /// lie in halos and in shared layers. They are combined one after another, in an order that the
  /// class of the plan defines, so the bits of the result do not depend on the algorithm, the mode,
  /// the nodes or timing. Copies keep their values. Until wait() returns or test() is true, no cell of
  /// the fields within a halo width of a border of its block may be read or written.
  ///
  /// All ranks pass the same operation: one for all fields, or one per field of the part. The first
  /// call of start_accumulate() or start_assemble() is collective: it makes the plan of both, in which
  /// each neighbour gets one message. Throws errc::usage if a field's type does not have the
  /// operation, or if an operation is in flight.
  void start_accumulate(const combine_ops& operations, const exchange_part& part = {},
                        std::optional<device_stream> stream = {});
  /// Begins an accumulate, and then gives the value of each cell to all its copies, in halos and in
  /// shared layers. So a cell has the same bits everywhere. Throws like start_accumulate().
  void start_assemble(const combine_ops& operations, const exchange_part& part = {},
                      std::optional<device_stream> stream = {});
  /// Continues the operation as far as possible without blocking. Returns whether it is complete.
  [[nodiscard]] bool test();
  /// Returns when the operation is complete on this rank: its halo is filled, and its cells may be
  /// written. Throws errc::usage if no operation was started.
  void wait(std::optional<device_stream> stream = {});
  void accumulate(const combine_ops& operations, const exchange_part& part = {});
  void assemble(const combine_ops& operations, const exchange_part& part = {});

  /// The payload of this rank when all halos are filled, split by the way in which it moves.
  [[nodiscard]] exchange_transfers transfers() const;

 protected:
  explicit field_exchange(const detail::exchange_words& words);
  field_exchange(field_exchange&& other) noexcept;
  field_exchange& operator=(field_exchange&& other) noexcept;

  void start(detail::field_operation operation, std::span<const combine_op> operations,
             const exchange_part& part, std::optional<device_stream> stream);
  /// Collective. Sets accumulates_.
  virtual void make_accumulates() = 0;
  /// Collective. Makes the plan of a part.
  [[nodiscard]] virtual std::unique_ptr<field_exchange> make_part(const exchange_part& part) = 0;
  /// The plan that fills halos. Throws errc::usage for an empty plan.
  [[nodiscard]] detail::exchange_plan& update_plan() const;
  [[nodiscard]] traffic moved(detail::field_operation operation) const;
  [[nodiscard]] std::size_t memory_of_plans() const;

  // If both have the same program `update`, accumulates_ may replace updates_, which is then null.
  detail::team_bound<detail::exchange_plan> updates_;
  detail::team_bound<detail::exchange_plan> accumulates_;  // null until the first accumulate

 private:
  detail::exchange_plan& run(detail::field_operation operation,
                             std::span<const combine_op> operations,
                             std::optional<device_stream> stream);

  // The plan of a part. It is this plan, or is made by the first call with the part.
  [[nodiscard]] field_exchange& plan_of(const exchange_part& part);

  struct made_part {
    exchange_part part;
    std::unique_ptr<field_exchange> plan;
  };
  const detail::exchange_words* words_;
  std::vector<made_part> parts_;
  detail::exchange_plan* running_ = nullptr;  // of this plan or of a part
};

}  // namespace longshore
