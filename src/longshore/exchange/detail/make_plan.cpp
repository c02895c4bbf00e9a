// Makes a plan: ranks agree on it, and each round gets a mover.
#include <longshore/exchange/detail/exchange_plan.hpp>

#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/device/device_mover.hpp>
#include <longshore/exchange/detail/movers/link_mover.hpp>
#include <longshore/exchange/detail/movers/pair_caches.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <set>

namespace longshore::detail {

std::atomic<device_mover_maker>& device_movers() noexcept {
  static constinit std::atomic<device_mover_maker> maker{
#ifdef LONGSHORE_HAVE_GPU
      make_device_mover
#endif
  };
  return maker;
}

// The sequences of calls behind mpi_persistent copy messages on the host, or let MPI pack them.
static device_messages sent_from_device(carrier by) noexcept {
  if (!is_mpi_carrier(by)) return device_messages::posted;
  return by <= carrier::mpi_persistent ? device_messages::all : device_messages::none;
}

exchange_plan::exchange_plan(team& ranks, plan_setup setup, plan_arguments arguments)
    : ranks_(ranks),
      name_(setup.name),
      awaited_(
          fmt::format("a {} {}", setup.name, is_mpi_carrier(setup.by) ? "exchange" : "message")),
      by_(setup.by),
      memory_(std::move(setup.memory)),
      types_(std::move(setup.types)),
      clock_(phase_clock::of(ranks)),
      context_{ranks_,
               memory_->memories(),
               setup.workers,
               setup.touched_bytes,
               setup.posts_in_place,
               setup.keeps_slots,
               false,
               awaited_.c_str()} {
  list_memories_to_check();
  auto& programs = setup.programs;
  std::size_t rounds = 0;
  for (const auto& program : programs) rounds += program.rounds.size();
  // A plan of channels makes direct_peers only to measure how far caches are. The distance decides
  // the stores of packing.
  static const rank_memories none;
  const bool reads = by_ == carrier::direct;
  if (!is_mpi_carrier(by_) && ranks_.nodes().largest_node() > 1)
    direct_peers_.emplace(ranks_, setup.reads, setup.neighbours, reads ? memory_->memories() : none,
                          reads ? memory_->elements() : std::span<const std::size_t>(),
                          reads ? rounds : 0);
  // The ranks agree after these checks, so that all refuse a plan that one rank cannot make.
  if (direct_peers_) arguments.attempt([] { (void)caches_by_environment(); });
  arguments.attempt([&] { place_ = memory_->place(); });
  if (is_mpi_carrier(by_) || are_posted_between_nodes(ranks_))
    arguments.attempt([&] { check_sizes(programs); });
  auto agreed = agree(*setup.neighbours, arguments, programs, setup.attachments);
  if (setup.complete) setup.complete(programs, std::move(agreed.attachments));
  context_.knows_caches = direct_peers_.has_value();
  if (!reads) direct_peers_.reset();
#ifdef LONGSHORE_HAVE_MPI
  if (is_mpi_carrier(by_)) tags_ = mpi::hold_message_tags(ranks_, by_, programs);
#endif
  std::vector<carried_mover> carried;
  const auto make_movers = [&] {
    auto* const peers = direct_peers_ ? &*direct_peers_ : nullptr;
    std::size_t number = 0;
    for (auto& program : programs) {
      auto& prepared = programs_.emplace_back();
      prepared.payload_bytes = program.payload_bytes;
      for (auto& round : program.rounds) {
        std::size_t parts = 0;
        for (auto& in : round.incoming)
          for (auto& part : in.parts) part.number = parts++;
        waits_by_calls_ = waits_by_calls_ || !round.pairs.empty();
        if (direct_peers_) split(round);
        if (!is_mpi_carrier(by_)) cut(round);
        if (device_)
          carried.push_back(device_movers().load()(context_, *device_, round, peers, number));
        prepared.rounds.push_back(
            {device_ ? std::move(carried.back().by) : make_mover(context_, round, peers, number),
             round.combines});
        ++number;
      }
    }
  };
  // A device may have too little memory on one rank. Movers of MPI calls are made collectively, so
  // the ranks agree before.
  if (device_)
    agree_on_error_of_lowest_rank(ranks_, name_, [&] {
      try {
        make_movers();
      } catch (const error& e) {
        fail(e.code(), "a {} plan on rank {}: {}", name_, ranks_.rank(), e.what());
      }
    });
  else
    make_movers();
  for (std::size_t i = 0; i < carried.size(); ++i)
    carried[i].carry([&](const mover_context& staged, const exchange_round& round) {
      return make_mover(staged, round, nullptr, i);
    });
  if (agreed.has_channels) open_channels();
  if (!is_mpi_carrier(by_) && are_posted_between_nodes(ranks_) && !context_.keeps_slots)
    post_messages();
  count_neighbours(programs);
  current_.reserve(rounds);
  ops_.reserve(types_.size());
  combiners_.reserve(types_.size());
}

void exchange_plan::list_memories_to_check() {
  freed_check_ = {};
  for (std::size_t m = 0; m < memory_->memories().size(); ++m)
    for (const auto& field : memory_->memories()[m])
      if (const auto number = static_cast<std::size_t>(field.number); field.holder)
        freed_check_.add(number, field.holder->lifetime);
      else if (memory_->elements()[m] > 0)
        freed_check_.add(number, field.data);
}

void exchange_plan::rebind(const rank_memories& memories) {
  if (in_flight_)
    fail(errc::usage,
         "a {} plan is bound to other memory while it is in flight: call wait() before", name_);
  const rank_memories before = memory_->memories();
  memory_->rebind(memories);
  try {
    const auto place = memory_->place();
    if (device_ ? place.has_host || place.device.value_or(device_->device) != device_->device
                : place.device.has_value())
      fail(errc::usage,
           "a {} plan on rank {} is bound to memory of another place than that for which it was "
           "made: make a plan for each device, and one for the host",
           name_, ranks_.rank());
    if (direct_peers_) direct_peers_->rebind(memory_->memories(), memory_->elements());
  } catch (...) {
    memory_->rebind(before);
    throw;
  }
  list_memories_to_check();
  for (const auto& program : programs_)
    for (const auto& round : program.rounds) round.by->rebind();
}

exchange_plan::~exchange_plan() {
  if (device_) {
    try {  // launches still use the buffers
      if (!device_->is_enqueued) finish();
      device_->driver.synchronise(*device_->done);
    } catch (...) {  // the next call that waits reports it
    }
    if (direct_peers_) direct_peers_->close(!in_flight_ && std::uncaught_exceptions() == 0);
  }
  if (in_flight_ && direct_peers_) direct_peers_->abandon_signals();
}

// Throws if this rank has too little memory for its messages, or if they are too long for MPI.
void exchange_plan::check_sizes(std::span<const exchange_program> programs) const {
  constexpr std::size_t max_mpi_bytes = std::numeric_limits<int>::max(),
                        checked_from_bytes = std::size_t{1} << 20;
  const bool is_mpi = is_mpi_carrier(by_);
  std::size_t total = 0;
  const auto bytes_of = [&](const exchange_round& round, const auto& messages) {
    std::size_t bytes = 0, counted = 0;
    for (const auto& message : messages) {
      const bool is_copied = message.peer == ranks_.rank() && round.pairs.empty();
      if (is_mpi ? is_copied : ranks_.nodes().is_local(message.peer)) continue;
      std::size_t length = 0;
      for (const auto& part : message.parts) {
        const auto& memory = context_.memory(part.memory);
        // Each field may need padding of up to a cache line.
        length +=
            part.elements.size() * element_bytes_of(memory) + memory.size() * cache_line_bytes;
      }
      // A collective counts the bytes of all messages.
      counted = by_ == carrier::mpi_neighbor ? counted + length : std::max(counted, length);
      const bool needs_buffer =
          by_ != carrier::mpi_subarray &&
          (!context_.posts_in_place || contiguous_memory(context_, message) == nullptr);
      if (needs_buffer) bytes += length;
    }
    if (is_mpi && counted > max_mpi_bytes)
      fail(errc::unsupported,
           "the {} messages of rank {} have {} bytes, and calls of MPI can send and receive {}: "
           "use another strategy or mode, or fewer fields in a plan",
           name_, ranks_.rank(), counted, max_mpi_bytes);
    return bytes;
  };
  for (const auto& program : programs)
    for (const auto& round : program.rounds)
      total += bytes_of(round, round.outgoing) + bytes_of(round, round.incoming);
  if (total < checked_from_bytes) return;
  const std::size_t available =
      available_memory_bytes() / static_cast<std::size_t>(ranks_.nodes().ranks_on_my_node());
  if (total > available)
    fail(errc::out_of_memory,
         "the {} messages of rank {} have {} bytes, and {} bytes are available to it: use fewer "
         "fields in a plan, or fewer ranks per node",
         name_, ranks_.rank(), total, available);
}

// Agrees on the arguments, and on whether any rank needs channels. Takes one exchange, which also
// carries the attachments. If ranks of a node share a plan for the first time, it takes two more.
exchange_plan::agreement exchange_plan::agree(
    messenger& neighbours, const plan_arguments& arguments,
    std::span<const exchange_program> programs,
    const std::vector<std::vector<std::byte>>& attachments) {
  using enum plan_arguments::number;
  auto numbers = arguments.numbers();
  agreed_numbers result{};
  const auto settle = [&](const agreed_numbers& largest) {
    arguments.agree(ranks_, largest);
    result = largest;
  };
  numbers[needs_channels] = any_needs_channel(programs) ? 1 : 0;
  numbers[on_host] = place_.has_host ? 1 : 0;
  numbers[on_device] = place_.device ? 1 : 0;
  if (!direct_peers_) {
    neighbours.agree(numbers, settle);
    if (result[on_device] != 0) result = agree_on_device(neighbours, std::move(result), programs);
    return {result[needs_channels] != 0, {}};
  }
  numbers[must_confirm] = direct_peers_->knows_peers() ? 0 : 1;
  auto received = direct_peers_->exchange(numbers, settle, attachments);
  const auto first = result;
  if (result[must_confirm] != 0) {
    direct_peers_->confirm();
    numbers.assign(numbers.size(), 0);
    numbers[needs_channels] = any_needs_channel(programs) ? 1 : 0;
    neighbours.agree(numbers, settle);
  }
  if (first[on_device] != 0) result = agree_on_device(neighbours, first, programs);
  return {result[needs_channels] != 0, std::move(received)};
}

// Some ranks have fields in device memory. All ranks refuse the plan, or make it for devices, and
// agree again on whether any rank needs channels.
agreed_numbers exchange_plan::agree_on_device(messenger& neighbours, agreed_numbers result,
                                              std::span<const exchange_program> programs) {
  using enum plan_arguments::number;
  context_.keeps_slots = false;
  if (direct_peers_) direct_peers_->set_policy_of_devices();
  agree_on_error_of_lowest_rank(ranks_, name_, [&] {
    auto* const driver = installed_driver();
    if (result[on_host] != 0 && place_.has_host)
      fail(
          errc::usage,
          "the fields of a {} plan lie in memory of the host on rank {}, and in memory of a device "
          "on other ranks: make a plan for each of them",
          name_, ranks_.rank());
    if (driver == nullptr || device_movers().load() == nullptr)
      fail(errc::unsupported,
           "the fields of a {} plan lie in memory of devices, and rank {} has no device", name_,
           ranks_.rank());
    device_.emplace(ranks_, *driver, place_.device.value_or(driver->current_device()));
    if (driver->is_known_to_libraries() && ranks_.library_takes_device_memory(driver->name()))
      device_->sent_from_device = sent_from_device(by_);
    if (!direct_peers_ || by_ != carrier::direct || !direct_peers_->reads()) return;
    if (ranks_.is_one_process()) check_peers_of_device();
    direct_peers_->use_device(device_->driver, device_->device);
  });
  agreed_numbers numbers(result.size());
  numbers[needs_channels] = any_needs_channel(programs) ? 1 : 0;
  neighbours.agree(numbers, [&](const agreed_numbers& largest) { result = largest; });
  return result;
}

// Throws if the device of this rank cannot read memory that it would read. Between processes, such
// memory is not readable.
void exchange_plan::check_peers_of_device() const {
  for (const auto& peer : direct_peers_->peers())
    for (std::size_t m = 0; m < peer.memories.size(); ++m)
      for (const auto& field : peer.memories[m]) {
        if (!peer.readable[m] || field.data == nullptr) continue;
        const int device = device_->driver.device_of(field.data);
        if (device >= 0 && !device_->driver.can_read(device_->device, device))
          fail(errc::unsupported,
               "device {} of rank {} cannot read memory of device {}, where the fields of rank {} "
               "lie: use a mode or strategy that packs messages, such as channel or standard",
               device_->device, ranks_.rank(), device, peer.rank);
      }
}

// Returns whether a message to another rank needs a channel.
bool exchange_plan::any_needs_channel(std::span<const exchange_program> programs) {
  if (is_mpi_carrier(by_)) return false;
  const auto needs = [&](const outgoing_message& message) {
    if (message.peer == ranks_.rank() || is_posted(context_, message.peer)) return false;
    return !direct_peers_ || by_ != carrier::direct ||
           direct_peers_->find_direct(message) == nullptr;
  };
  for (const auto& program : programs)
    for (const auto& round : program.rounds)
      if (std::any_of(round.outgoing.begin(), round.outgoing.end(), needs)) return true;
  return false;
}

// Splits messages of which only some parts are read: the parts that are packed become a message of
// their own.
void exchange_plan::split(exchange_round& round) {
  const auto split_all = [&](auto& messages) {
    std::remove_reference_t<decltype(messages)> all;
    for (auto& message : messages) {
      const auto* const peer = direct_peers_->find(message.peer);
      std::remove_cvref_t<decltype(message)> read{message.peer, {}}, packed{message.peer, {}};
      for (auto& part : message.parts)
        (peer != nullptr && direct_peers_->is_read(*peer, part) ? read : packed)
            .parts.push_back(std::move(part));
      if (!read.parts.empty() || packed.parts.empty()) all.push_back(std::move(read));
      if (!packed.parts.empty()) all.push_back(std::move(packed));
    }
    messages = std::move(all);
  };
  split_all(round.outgoing);
  split_all(round.incoming);
}

void exchange_plan::cut([[maybe_unused]] exchange_round& round) const {
#ifdef LONGSHORE_HAVE_MPI
  if (are_posted_between_nodes(ranks_))
    round = cut_messages(round, ranks_.nodes(), context_.memories, mpi::longest_posted_message());
#endif
}

std::unique_ptr<mover> exchange_plan::make_mover(const mover_context& context,
                                                 const exchange_round& round, direct_peers* peers,
                                                 std::size_t number) {
#ifdef LONGSHORE_HAVE_MPI
  if (is_mpi_carrier(by_)) return mpi::make_mpi_mover(by_, context, round, *tags_);
#endif
  auto made = std::make_unique<link_mover>(context, round, peers, number);
  link_movers_.push_back(made.get());
  return made;
}

// Both ends of a channel list the channels in the same order.
void exchange_plan::open_channels() {
  shared_channels to, from;
  for (const auto* mover : link_movers_) mover->add_channels(to, from);
  channels_ = ranks_.open_channels(to.ends(), from.ends(), link_mover::slots_per_channel);
  for (auto* mover : link_movers_) mover->take_channels(*channels_, to, from);
  // On a node, the slots lie at the sender.
  for (const auto& end : to.ends())
    channel_bytes_ += link_mover::slots_per_channel * end.slot_bytes;
  for (const auto& end : from.ends())
    if (!ranks_.nodes().is_local(end.peer))
      channel_bytes_ += link_mover::slots_per_channel * end.slot_bytes;
}

// Ghosts are cut into messages of a size that MPI sends at once. Boxes travel in pieces if that is
// faster.
void exchange_plan::post_messages() {
#ifdef LONGSHORE_HAVE_MPI
  link_mover::posted_ends all;
  for (const auto* mover : link_movers_) {
    const auto [to, from] = mover->ends();
    all.to.insert(all.to.end(), to.begin(), to.end());
    all.from.insert(all.from.end(), from.begin(), from.end());
  }
  const std::size_t piece_bytes = mpi::choose_piece_bytes(ranks_, all.to, all.from);
  for (auto* mover : link_movers_) mover->post(piece_bytes);
#endif
}

void exchange_plan::count_neighbours(std::span<const exchange_program> programs) {
  std::set<int> neighbours;
  for (const auto& program : programs)
    for (const auto& round : program.rounds) {
      for (const auto& out : round.outgoing) neighbours.insert(out.peer);
      for (const auto& in : round.incoming) neighbours.insert(in.peer);
    }
  neighbours.erase(ranks_.rank());
  neighbours_ = neighbours.size();
}

traffic exchange_plan::moved(std::size_t program) const {
  const auto& prepared = programs_[program];
  traffic total;
  if (!prepared.rounds.empty()) total.payload_bytes = prepared.payload_bytes;
  for (const auto& round : prepared.rounds) total += round.by->moved();
  return total;
}

exchange_transfers exchange_plan::transfers(std::size_t program) const {
  exchange_transfers total;
  for (const auto& round : programs_[program].rounds) total += round.by->transfers();
  return total;
}

std::size_t exchange_plan::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + memory_->buffer_bytes() + channel_bytes_;
  for (const auto& program : programs_)
    for (const auto& round : program.rounds) bytes += round.by->memory_bytes();
  return bytes;
}

}  // namespace longshore::detail
