// Computes the arguments of the MPI calls for each message, gives messages that are not contiguous a
// part of one buffer, and chooses the mover of a carrier.
#include <longshore/exchange/detail/mpi/mpi_mover.hpp>

#include <longshore/core/bytes.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace longshore::mpi {

using detail::carrier;

namespace {

// The bytes of the cache lines that a message fills, if it has them to itself.
std::size_t whole_lines(const call_arguments& call) noexcept {
  return round_up(static_cast<std::size_t>(call.bytes), cache_line_bytes);
}

}  // namespace

mpi_mover::mpi_mover(const mover_context& context, const exchange_round& round,
                     std::span<const int> tags, buffering buffered)
    : context_(context),
      team_(dynamic_cast<mpi::team&>(context.ranks)),
      pairs_(round.pairs),
      store_(context) {
  const int me = context.ranks.rank();
  const auto address = [&](const auto& message) -> std::byte* {
    const bool may_be_in_place =
        context.posts_in_place && buffered != buffering::all && buffered != buffering::none;
    return may_be_in_place ? detail::contiguous_memory(context, message) : nullptr;
  };
  for (const auto& out : round.outgoing) {
    detail::message_packer packer(context, out);
    // MPI packs without the padding between fields.
    const std::size_t bytes = buffered == buffering::none ? packer.payload_bytes() : packer.bytes();
    transfers_.mpi += packer.payload_bytes();
    ++moved_.messages;
    moved_.wire_bytes += bytes;
    if (!context.ranks.nodes().is_local(out.peer)) moved_.offnode_bytes += bytes;
    outgoing_.push_back(
        {{address(out), count(bytes, "a message"), out.peer, tags[0]}, std::move(packer)});
  }
  for (const auto& in : round.incoming) {
    const bool is_copied = in.peer == me && round.pairs.empty();
    const std::size_t number = store_.add(in, is_copied ? &context.memories : nullptr);
    if (is_copied) {
      transfers_.copied += payload_bytes(context, in);
      messages_to_self_.push_back(number);
      continue;
    }
    std::byte* const data = buffered == buffering::strided ? address(in) : nullptr;
    incoming_.push_back({{data, count(store_.message_bytes(number), "a message"), in.peer, tags[0]},
                         number,
                         data != nullptr || buffered == buffering::none});
  }
  store_.sort();
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const auto& [out, in, opposite, sends_first] = pairs_[p];
    const int tag = tags[p < tags.size() ? p : 0];
    if (out >= 0) outgoing_[static_cast<std::size_t>(out)].tag = tag;
    if (in >= 0) incoming_[static_cast<std::size_t>(in)].tag = tag;
  }
  if (buffered == buffering::none) return;
  std::vector<call_arguments*> placed;  // the messages without an address get parts of the buffer
  for (auto& out : outgoing_)
    if (out.data == nullptr) placed.push_back(&out);
  if (buffered != buffering::strided_outgoing)
    for (auto& in : incoming_)
      if (in.data == nullptr) placed.push_back(&in);
  for (const auto* const call : placed) buffer_bytes_ += whole_lines(*call);
  buffer_ = pages(buffer_bytes_);
  std::byte* next = buffer_.data();
  for (auto* const call : placed) {
    call->data = next;
    next += whole_lines(*call);
  }
}

std::size_t mpi_mover::incoming_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& in : incoming_) bytes += whole_lines(in);
  return bytes;
}

void mpi_mover::receive_into(std::byte* memory) {
  for (auto& in : incoming_) {
    in.data = memory;
    memory += whole_lines(in);
  }
}

void mpi_mover::receive_in_place(const exchange_round& round) {
  for (auto& in : incoming_) {
    in.data = detail::contiguous_memory(context_, round.incoming[in.number]);
    in.is_in_place = true;
  }
}

void mpi_mover::start(std::span<const detail::combiner> combiners) {
  store_.start(combiners);
  has_arrived_ = is_done_ = false;
  start_calls();
  for (const auto i : messages_to_self_) store_.arrive(i, nullptr, [](std::size_t) {});
}

void mpi_mover::complete() {
  if (is_done()) return;
  {
    const auto deadline = limit_time();
    wait_calls();
  }
  store_all();
}

void mpi_mover::store_all() {
  const detail::timed_phase unpacking(context_.clock, detail::exchange_phase::unpack);
  if (store_.copies_boxes()) {
    if (!copies_) {
      copies_.emplace(detail::copy_source::messages);
      for (const auto& in : incoming_)
        if (!in.is_in_place) store_.add_copies(in.number, in.data, *copies_);
    }
    copies_->run(context_.workers);
  } else {
    for (const auto& in : incoming_)
      store_.arrive(
          in.number, in.data, [](std::size_t) {}, in.is_in_place);
  }
  has_arrived_ = is_done_ = true;
}

std::size_t mpi_mover::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + store_.memory_bytes() + buffer_bytes_;
  for (const auto& out : outgoing_) bytes += sizeof(out) + out.packer.memory_bytes();
  return bytes + incoming_.size() * sizeof(received_message);
}

std::shared_ptr<const std::vector<int>> hold_message_tags(
    longshore::team& ranks, carrier by, std::span<const detail::exchange_program> programs) {
  std::size_t count = 2;
  if (by == carrier::mpi_persistent)
    for (const auto& program : programs)
      for (const auto& round : program.rounds) count = std::max(count, round.pairs.size());
  auto& holder = dynamic_cast<mpi::team&>(ranks);
  const std::shared_ptr<std::vector<int>> tags(new std::vector<int>, [&holder](auto* held) {
    for (const int tag : *held) holder.release_message_tag(tag);
    delete held;
  });
  while (tags->size() < count) tags->push_back(holder.hold_message_tag());
  return tags;
}

std::unique_ptr<detail::mover> make_mpi_mover(carrier by, const mover_context& context,
                                              const exchange_round& round,
                                              std::span<const int> tags) {
  using enum carrier;
  switch (by) {
    case mpi_waitall:
    case mpi_persistent:
    case mpi_partitioned:
    case mpi_subarray: return make_request_mover(by, context, round, tags);
    case mpi_neighbor: return make_neighbor_mover(context, round, tags);
    case mpi_rma_fence:
    case mpi_rma_pscw:
    case mpi_rma_flush: return make_rma_mover(by, context, round, tags);
    default: return make_pair_mover(by, context, round, tags);
  }
}

std::optional<std::string> missing_in_library(carrier by) {
  if (by != carrier::mpi_partitioned || MPI_VERSION >= 4) return std::nullopt;
  return fmt::format("MPI 4, and this program was built with MPI {}.{}", MPI_VERSION,
                     MPI_SUBVERSION);
}

}  // namespace longshore::mpi
