// The carriers that exchange one pair of messages after another, as programs do that exchange one
// side at a time. The sequences are those of halobench (github.com/davidhenty/halobench,
// haloswap.f90).
//
// Cost: one dependent step per pair. start() blocks until all messages have arrived.
#include <longshore/exchange/detail/mpi/mpi_mover.hpp>

#include <cassert>

namespace longshore::mpi {
namespace {

using detail::call_pair, detail::carrier;

class pair_mover final : public mpi_mover {
 public:
  pair_mover(carrier by, const mover_context& context, const exchange_round& round,
             std::span<const int> tags)
      : mpi_mover(context, round, tags), by_(by) {
    assert(!round.pairs.empty());
  }

 private:
  void start_calls() override {
    const auto deadline = limit_time();
    for (const auto& pair : pairs_) exchange(pair);
  }
  void exchange(const call_pair& pair);
  void exchange_by_colour(const call_pair& pair);
  void send_and_receive(const call_pair& pair);
  void send(const call_pair& pair) {
    const auto calls = sending();
    const auto& out = outgoing(pair);
    pack(out);
    check(MPI_Send(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm()), "MPI_Send");
  }
  void receive(const call_pair& pair) {
    const auto& in = incoming(pair);
    check(MPI_Recv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
          "MPI_Recv");
  }
  void start_send(const call_pair& pair, MPI_Request& request) {
    const auto calls = sending();
    const auto& out = outgoing(pair);
    pack(out);
    check(MPI_Isend(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), &request),
          "MPI_Isend");
  }
  void start_receive(const call_pair& pair, MPI_Request& request) {
    const auto calls = sending();
    const auto& in = incoming(pair);
    check(MPI_Irecv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), &request), "MPI_Irecv");
  }

  carrier by_;
};

void pair_mover::exchange(const call_pair& pair) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  switch (by_) {
    case carrier::mpi_redblack: return exchange_by_colour(pair);
    case carrier::mpi_isend_recv:
      start_send(pair, requests[0]);
      receive(pair);
      return check(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait");
    case carrier::mpi_irecv_send:
      start_receive(pair, requests[0]);
      send(pair);
      return check(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait");
    case carrier::mpi_pairwise:
      start_receive(pair, requests[0]);
      start_send(pair, requests[1]);
      return check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
    default: return send_and_receive(pair);
  }
}

void pair_mover::send_and_receive(const call_pair& pair) {
  const auto& out = outgoing(pair);
  const auto& in = incoming(pair);
  pack(out);
  check(MPI_Sendrecv(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, in.data, in.bytes, MPI_BYTE,
                     in.rank, in.tag, comm(), MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

// A red rank sends in the pair's direction, and then receives from the same side. The neighbour on
// that side is black and does the reverse. If both ends sent first, both could wait for ever, and
// so would a rank that sent to itself.
void pair_mover::exchange_by_colour(const call_pair& pair) {
  const auto& back = opposite(pair);
  for (const int peer : {outgoing(pair).rank, incoming(pair).rank, outgoing(back).rank})
    if (peer == team_.rank()) return send_and_receive(pair);
  if (pair.sends_first) {
    send(pair);
    receive(back);
  } else {
    receive(pair);
    send(back);
  }
}

}  // namespace

made_mover make_pair_mover(carrier by, const mover_context& context, const exchange_round& round,
                           std::span<const int> tags) {
  return std::make_unique<pair_mover>(by, context, round, tags);
}

}  // namespace longshore::mpi
