// The main interface of the layer: plans that exchange ghosts, the halos of meshes and matrices of
// any shape. A plan is made once and used often.
//
//     longshore::ghost_graph graph(team, owned, ghosts);       // ghosts: global indices
//     std::vector<double, longshore::shared_allocator<double>> x(owned + ghosts.size());
//     longshore::ghost_exchange plan(graph, {}, longshore::ghost_field(x.data(), x.data() + owned));
//     plan.start_update(); compute_inner(); plan.wait();       // elements to their ghosts
//     plan.accumulate(longshore::op::add{});                   // ghosts to their elements
#pragma once

#include <longshore/device/stream.hpp>
#include <longshore/exchange/combine_op.hpp>
#include <longshore/exchange/transfers.hpp>
#include <longshore/ghost/ghost_field.hpp>
#include <longshore/ghost/ghost_graph.hpp>
#include <longshore/ghost/strategy.hpp>
#include <longshore/transport/detail/team_bound.hpp>
#include <longshore/transport/traffic.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

namespace detail {
class exchange_plan;
}

struct ghost_options {
  ghost_strategy strategy = ghost_strategy::direct;
  /// Which operations the plan is made for. A plan without one of them takes less time and memory.
  bool updates = true, accumulates = true;
};

/// The operations of a plan.
enum class ghost_operation {
  update,     ///< copies elements to their ghosts
  accumulate  ///< combines elements with their ghosts
};

/// A plan of exchanges between the elements of all ranks and their ghosts, for one or several
/// fields together. A plan is bound to the memory of its fields, so that neighbours can map the
/// memory. rebind() binds it to other memory. Fields of other types need a plan of their own, which
/// can share the graph and its search for neighbours.
///
/// Any number of plans may exist and be in flight together. One plan does one operation at a time.
/// Destroying a plan is collective, and not allowed while the plan is in flight. Movable.
class ghost_exchange {
 public:
  /// An empty plan, to which a plan can be assigned. Its operations throw errc::usage, like those of
  /// a plan that was moved from.
  ghost_exchange();
  /// Whether this is a plan, and not empty.
  explicit operator bool() const noexcept { return static_cast<bool>(graph_); }
  /// Collective. REQUIRES: the memory of the fields has an element for each owned element and each
  /// ghost of the graph, and exists until the plan is destroyed or bound to other memory. All ranks
  /// pass the same options, and fields of the same types in the same order; otherwise all ranks throw
  /// errc::usage. Throws errc::unsupported on all ranks if the ranks cannot use the strategy.
  ///
  /// Without fields, this is a plan without memory, for programs whose vectors come later. Its first
  /// rebind(), update() or start_update() with fields makes the plan, and is collective that once.
  /// Operations before that throw errc::usage.
  ///
  /// The messages and the memory per rank depend on the strategy (docs/reference/ghost.md).
  template <class... T>
  ghost_exchange(const ghost_graph& graph, const ghost_options& options,
                 const ghost_field<T>&... fields)
      : ghost_exchange(graph, options, std::vector<ghost_memory>{fields.memory()...}) {}
  /// Like the constructor above, for fields whose types are not known at compile time.
  ghost_exchange(const ghost_graph& graph, const ghost_options& options,
                 const std::vector<ghost_memory>& fields);
  /// Collective. Makes the graph ghost_graph(ranks, owned, ghosts), and then the plan.
  template <class Owned, class Ghosts, class... T>
  requires std::constructible_from<ghost_graph, team&, const Owned&, const Ghosts&> ghost_exchange(
      team& ranks, const Owned& owned, const Ghosts& ghosts, const ghost_options& options,
      const ghost_field<T>&... fields)
      : ghost_exchange(ghost_graph(ranks, owned, ghosts), options, fields...) {}
  ~ghost_exchange();
  ghost_exchange(ghost_exchange&& other) noexcept;
  ghost_exchange& operator=(ghost_exchange&& other) noexcept;

  /// Begins to copy the elements to their ghosts. Until wait() returns or test() is true, owned
  /// elements must not be written, and ghosts must not be read or written. Throws errc::usage if
  /// the plan is in flight, or if it was made without this operation.
  void start_update(std::optional<device_stream> stream = {});
  /// Begins to combine each element with all its ghosts: element = op(element, ghost). Ghosts are
  /// combined one after another, in the order of their ranks, and within a rank in the order of its
  /// list. So the bits of the result do not depend on the strategy, the nodes or timing. Ghosts
  /// keep their values. Until wait() returns or test() is true, ghosts must not be written, and
  /// owned elements must not be read or written.
  ///
  /// All ranks pass the same operation: one for all fields, or one per field. Throws errc::usage if
  /// a field's type does not have the operation, and in the cases of start_update().
  void start_accumulate(const combine_ops& operations, std::optional<device_stream> stream = {});
  /// Begins an accumulate, and then an update: each element and all its ghosts get the same value,
  /// bit by bit. In between, no rank waits for all ranks. The rules of both operations hold. Throws
  /// in the cases of both.
  void start_assemble(const combine_ops& operations, std::optional<device_stream> stream = {});
  /// Continues the operation as far as possible without blocking. Returns whether it is complete.
  [[nodiscard]] bool test();
  /// Returns when the operation is complete on this rank, and its memory may be used again. Throws
  /// errc::usage if no operation was started.
  void wait(std::optional<device_stream> stream = {});
  void update();
  void accumulate(const combine_ops& operations);
  void assemble(const combine_ops& operations);

  /// Local, but collective if the plan has no memory yet. Binds the plan to other fields of the same
  /// types, and with the same places, such as vectors that a program allocates anew. Neighbours that
  /// read a field learn its address in the next operation. A plan that was made for own memory
  /// still packs its messages after it was bound to shareable memory. Throws errc::usage for other
  /// types or places, if the plan is in flight, and if neighbours read the memory of the plan but
  /// cannot read the new memory.
  template <class... T>
  void rebind(const ghost_field<T>&... fields) {
    rebind(std::vector<ghost_memory>{fields.memory()...});
  }
  void rebind(const std::vector<ghost_memory>& fields);
  /// Binds the plan to `fields`, and begins to exchange them, or exchanges them.
  template <class... T>
  void start_update(const ghost_field<T>&... fields) {
    rebind(fields...);
    start_update();
  }
  template <class... T>
  void update(const ghost_field<T>&... fields) {
    start_update(fields...);
    wait();
  }

  /// Collective. Remakes the plan for other ghosts, which have the same form as in the graph.
  /// REQUIRES: the fields have memory for the new number of ghosts, at the same addresses. The call
  /// is cheap if few ghosts change. A plan without memory stays without memory, unless fields are
  /// given.
  void remake(std::span<const location> ghosts);
  void remake(const global_indices& ghosts);
  void remake(const global_indices& ghosts, std::span<const int> owners);
  /// Collective. Remakes the plan for another graph. `fields` are the fields at other addresses;
  /// without them, the addresses stay the same.
  void remake(const ghost_graph& graph);
  void remake(const ghost_graph& graph, const std::vector<ghost_memory>& fields);

  /// The traffic of this rank in one operation. The payload of an update is the bytes of elements
  /// that this rank gives to ghosts. The payload of an accumulate is the bytes of ghosts that this
  /// rank gives to elements. Both include copies within the rank. Direct reads are payload without
  /// messages. A plan without memory has no traffic, no neighbours and no bytes.
  [[nodiscard]] traffic moved(ghost_operation operation = ghost_operation::update) const;
  /// The payload of this rank in one operation, split by the way in which it moves.
  [[nodiscard]] exchange_transfers transfers(
      ghost_operation operation = ghost_operation::update) const;
  /// The strategy of the plan. With option `automatic`, it is the chosen strategy, unless the plan
  /// has no memory yet.
  [[nodiscard]] ghost_strategy strategy() const noexcept { return strategy_; }
  [[nodiscard]] const ghost_graph& graph() const noexcept { return graph_; }
  /// The number of other ranks with which this rank exchanges messages, or whose memory it reads.
  [[nodiscard]] std::size_t neighbours() const;
  /// The memory of the plan on this rank: lists of indices, buffers and slots of channels, without
  /// the graph and the fields.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  void make(const ghost_graph& graph, const std::vector<ghost_memory>& fields);
  [[nodiscard]] bool awaits_memory() const noexcept;
  [[nodiscard]] detail::exchange_plan& made_plan() const;
  void start(std::initializer_list<ghost_operation> programs,
             std::span<const combine_op> operations, std::optional<device_stream> stream);

  ghost_graph graph_;
  ghost_options options_;
  std::vector<ghost_memory> fields_;
  ghost_strategy strategy_ = ghost_strategy::direct;
  detail::team_bound<detail::exchange_plan> plan_;
};

}  // namespace longshore
