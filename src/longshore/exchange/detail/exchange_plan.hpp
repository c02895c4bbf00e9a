// A plan: programs, and a mover for each of their rounds. It serves all front ends.
#pragma once

#include <longshore/device/stream.hpp>
#include <longshore/exchange/combine_op.hpp>
#include <longshore/exchange/detail/agreement/plan_arguments.hpp>
#include <longshore/exchange/detail/device/device_access.hpp>
#include <longshore/exchange/detail/exchange_program.hpp>
#include <longshore/exchange/detail/movers/direct_peers.hpp>
#include <longshore/exchange/detail/movers/mover.hpp>
#include <longshore/exchange/detail/plan_memory.hpp>
#include <longshore/transport/channel.hpp>
#include <longshore/transport/detail/freed_memory_check.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::detail {

class link_mover;

/// What a front end gives to make a plan.
struct plan_setup {
  std::string_view name;  ///< of the front end in messages, such as "ghost"
  carrier by = carrier::direct;
  read_policy reads = read_policy::dense;  ///< with carrier `direct`
  /// The options of mover_context.
  tasks* workers = nullptr;
  std::size_t touched_bytes = 0;
  bool posts_in_place = false, keeps_slots = false;
  /// Reaches all ranks with which this rank exchanges messages.
  std::shared_ptr<messenger> neighbours;
  std::unique_ptr<plan_memory> memory = {};
  /// The type of each field, by its number.
  std::vector<const element_type*> types = {};
  /// A program without rounds is not prepared.
  std::vector<exchange_program> programs = {};
  /// None, or a message for each peer of `neighbours` on the node. complete() gets the messages of
  /// these peers, and completes the programs by their contents.
  std::vector<std::vector<std::byte>> attachments = {};
  std::function<void(std::span<exchange_program>, std::vector<std::vector<std::byte>>)> complete =
      {};
};

class exchange_plan {
 public:
  /// Collective. Agrees on the arguments of all ranks.
  exchange_plan(team& ranks, plan_setup setup, plan_arguments arguments);
  ~exchange_plan();

  [[nodiscard]] bool has(std::size_t program) const noexcept {
    return program < programs_.size() && !programs_[program].rounds.empty();
  }
  /// Local. Binds the plan to other addresses. `memories` differ from those of the setup in nothing
  /// else. Neighbours that read a memory learn its address in the next run. Throws errc::usage if
  /// the plan is in flight, or if neighbours cannot read the memory at its new address.
  void rebind(const rank_memories& memories);
  /// Begins to run some programs, one after another. If a round of these programs combines,
  /// `operations` are one operation for all fields, or one per field. Fields in device memory are
  /// read after the work that `stream` has now. Without a stream, they can be read now.
  void start(std::span<const std::size_t> programs, std::span<const combine_op> operations,
             std::optional<device_stream> stream = {});
  [[nodiscard]] bool test();
  /// Returns when the programs are done. With a stream, returns when all messages have arrived: work
  /// that is then appended to the stream begins after the programs are done. Throws errc::usage for
  /// a stream if the fields do not lie in device memory, or lie on another device.
  void wait(std::optional<device_stream> stream = {});
  /// The traffic of one run of a program.
  [[nodiscard]] traffic moved(std::size_t program) const;
  /// The payload of one run of a program, split by the way in which it moves.
  [[nodiscard]] exchange_transfers transfers(std::size_t program) const;
  /// The bytes of incoming message `i` of the first round of program 0. They stay in their slot
  /// until the next run. Null if the message is not kept.
  [[nodiscard]] const std::byte* kept(std::size_t i) const;
  [[nodiscard]] std::size_t neighbours() const noexcept { return neighbours_; }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct prepared_round {
    std::unique_ptr<mover> by;
    bool combines;
  };
  struct prepared_program {
    std::vector<prepared_round> rounds;
    std::size_t payload_bytes = 0;
  };
  struct agreement {
    bool has_channels;
    std::vector<std::vector<std::byte>> attachments;
  };
  [[nodiscard]] agreement agree(messenger& neighbours, const plan_arguments& arguments,
                                std::span<const exchange_program> programs,
                                const std::vector<std::vector<std::byte>>& attachments);
  [[nodiscard]] bool any_needs_channel(std::span<const exchange_program> programs);
  [[nodiscard]] agreed_numbers agree_on_device(messenger& neighbours, agreed_numbers result,
                                               std::span<const exchange_program> programs);
  void check_peers_of_device() const;
  void check_stream(std::optional<device_stream> stream) const;
  void check_sizes(std::span<const exchange_program> programs) const;
  void split(exchange_round& round);
  void cut(exchange_round& round) const;
  [[nodiscard]] std::unique_ptr<mover> make_mover(const mover_context& context,
                                                  const exchange_round& round, direct_peers* peers,
                                                  std::size_t number);
  void open_channels();
  void post_messages();
  [[nodiscard]] std::size_t pending() const;
  void count_neighbours(std::span<const exchange_program> programs);
  void list_memories_to_check();
  void set_combiners(std::span<const combine_op> operations);
  void start_round();
  void start_next_round();
  [[nodiscard]] bool progress();
  void run_to_end();
  void finish();
  [[nodiscard]] int awaited_peer() const;

  team& ranks_;
  std::string_view name_;
  std::string awaited_;  // what a rank waits for, in messages
  carrier by_;
  std::unique_ptr<plan_memory> memory_;
  std::vector<const element_type*> types_;
  freed_memory_check freed_check_;
  phase_clock& clock_;
  mover_context context_;
  std::optional<direct_peers> direct_peers_;
  field_place place_;
  std::optional<plan_device> device_;  // of fields in device memory
  // Whether the plan waits by the blocking calls of its sequence of MPI calls, without tests.
  bool waits_by_calls_ = false;
  std::shared_ptr<const std::vector<int>> tags_;  // of MPI calls
  std::vector<prepared_program> programs_;
  std::vector<link_mover*> link_movers_;
  std::unique_ptr<channel_set> channels_;
  std::size_t channel_bytes_ = 0;
  std::size_t neighbours_ = 0;
  // The programs that run, or ran last, and their rounds.
  std::vector<std::size_t> running_;
  bool combines_ = false;  // whether a round combines
  std::vector<const prepared_round*> current_;
  std::size_t current_round_ = 0;
  bool in_flight_ = false;
  std::vector<combine_op> ops_;
  std::vector<combiner> combiners_;
};

}  // namespace longshore::detail
