// The movers of the three carriers of MPI calls: requests for one exchange, persistent requests, and a
// neighbourhood collective on a graph communicator.
#include <longshore/exchange/detail/movers/mover.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/detail/watchdog.hpp>
#include <longshore/transport/mpi/detail/communicator.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

using detail::combiner;
using detail::exchange_round;
using detail::mover_context;

class mpi_mover : public detail::mover {
 public:
  mpi_mover(const mover_context& context, const exchange_round& round)
      : context_(context), store_(context) {
    std::size_t incoming_bytes = 0, outgoing_bytes = 0;
    for (const auto& out : round.outgoing) {
      outgoing_.push_back({out.peer, outgoing_bytes, detail::message_packer(context, out)});
      const std::size_t bytes = outgoing_.back().message.bytes();
      outgoing_bytes += round_up(bytes, cache_line_bytes);
      ways_.mpi += outgoing_.back().message.payload_bytes();
      ++moved_.messages;
      moved_.wire_bytes += bytes;
      if (!context.ranks.nodes().is_local(out.peer)) moved_.offnode_bytes += bytes;
    }
    for (std::size_t i = 0; i < round.incoming.size(); ++i) {
      const auto& in = round.incoming[i];
      const bool is_own = in.peer == context.ranks.rank();
      for (const auto& part : in.parts)
        if (is_own)
          ways_.copied += part.elements.size() * element_bytes_of(context.memory(part.memory));
      store_.add(in, is_own ? &context.memories : nullptr);
      if (is_own) {
        own_.push_back(i);
        continue;
      }
      incoming_.push_back({in.peer, incoming_bytes, i});
      incoming_bytes += round_up(store_.message_bytes(i), cache_line_bytes);
    }
    store_.sort();
    buffer_ = pages(std::max<std::size_t>(outgoing_bytes + incoming_bytes, 1));
    for (auto& in : incoming_) in.offset += outgoing_bytes;
    buffer_bytes_ = outgoing_bytes + incoming_bytes;
    auto& ranks = dynamic_cast<mpi::team&>(context.ranks);
    comm_ = ranks.comm();
    tag_ = ranks.take_message_tag();
  }

  void start(std::span<const combiner> combiners) override {
    store_.start(combiners);
    for (const auto& out : outgoing_) out.message.pack(context_, at(out.offset));
    start_calls();
    has_arrived_ = is_done_ = false;
    for (const auto i : own_) store_.arrive(i, nullptr, [](std::size_t) {});
  }
  void progress() override {
    if (is_done() || !test_calls()) return;
    for (const auto& in : incoming_) store_.arrive(in.number, at(in.offset), [](std::size_t) {});
    has_arrived_ = is_done_ = true;
  }
  [[nodiscard]] int awaited_peer() const override {
    return incoming_.empty() ? -1 : incoming_.front().peer;
  }
  [[nodiscard]] traffic moved() const override { return moved_; }
  [[nodiscard]] std::size_t memory_bytes() const override {
    std::size_t bytes = sizeof(*this) + store_.memory_bytes() + buffer_bytes_;
    for (const auto& out : outgoing_) bytes += sizeof(out) + out.message.memory_bytes();
    return bytes + incoming_.size() * sizeof(received_message);
  }
  [[nodiscard]] std::size_t pending() const override { return is_done() ? 0 : 1; }
  [[nodiscard]] detail::payload_ways ways() const override { return ways_; }
  void rebind() override { store_.rebind(); }

 protected:
  struct sent_message {
    int peer;
    std::size_t offset;  // in the buffer
    detail::message_packer message;
  };
  struct received_message {
    int peer;
    std::size_t offset;  // in the buffer
    std::size_t number;  // in the store
  };
  virtual void start_calls() = 0;
  [[nodiscard]] virtual bool test_calls() = 0;
  [[nodiscard]] std::byte* at(std::size_t offset) const noexcept { return buffer_.data() + offset; }
  [[nodiscard]] int bytes_of(const sent_message& out) const noexcept {
    return static_cast<int>(out.message.bytes());
  }
  [[nodiscard]] int bytes_of(const received_message& in) const noexcept {
    return static_cast<int>(store_.message_bytes(in.number));
  }
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] int tag() const noexcept { return tag_; }

  const mover_context& context_;
  std::vector<sent_message> outgoing_;
  std::vector<received_message> incoming_;

 private:
  detail::message_store store_;
  std::vector<std::size_t> own_;
  pages buffer_;
  std::size_t buffer_bytes_ = 0;
  MPI_Comm comm_;
  int tag_;
  traffic moved_;
  detail::payload_ways ways_;
};

// Calls MPI_Irecv and MPI_Isend for all messages, or starts persistent requests.
class request_mover final : public mpi_mover {
 public:
  request_mover(const mover_context& context, const exchange_round& round, bool are_persistent)
      : mpi_mover(context, round),
        are_persistent_(are_persistent),
        requests_(incoming_.size() + outgoing_.size(), MPI_REQUEST_NULL) {
    requests_.reserve(1);  // Open MPI refuses a null pointer even if there is no request
    if (are_persistent)
      make_requests(&MPI_Recv_init, &MPI_Send_init, "MPI_Recv_init, MPI_Send_init");
  }
  ~request_mover() override {
    if (has_ended()) return;
    for (auto& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

 private:
  template <class Receive, class Send>
  void make_requests(const Receive& receive, const Send& send, const char* calls) {
    std::size_t next = 0;
    for (const auto& in : incoming_)
      check(receive(at(in.offset), bytes_of(in), MPI_BYTE, in.peer, tag(), comm(),
                    &requests_[next++]),
            calls);
    for (const auto& out : outgoing_)
      check(send(at(out.offset), bytes_of(out), MPI_BYTE, out.peer, tag(), comm(),
                 &requests_[next++]),
            calls);
  }
  void start_calls() override {
    if (are_persistent_)
      check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
    else
      make_requests(&MPI_Irecv, &MPI_Isend, "MPI_Irecv, MPI_Isend");
  }
  bool test_calls() override { return test_all(requests_); }

  bool are_persistent_;
  std::vector<MPI_Request> requests_;
};

class neighbor_mover final : public mpi_mover {
 public:
  neighbor_mover(const mover_context& context, const exchange_round& round)
      : mpi_mover(context, round) {
    std::vector<int> sources, destinations;
    for (const auto& in : incoming_) {
      sources.push_back(in.peer);
      receive_bytes_.push_back(bytes_of(in));
      receive_offsets_.push_back(static_cast<int>(in.offset));
    }
    for (const auto& out : outgoing_) {
      destinations.push_back(out.peer);
      send_bytes_.push_back(bytes_of(out));
      send_offsets_.push_back(static_cast<int>(out.offset));
    }
    // MPICH refuses null pointers even if there is no block.
    for (auto* const list : {&sources, &destinations, &send_bytes_, &send_offsets_, &receive_bytes_,
                             &receive_offsets_})
      list->reserve(1);
    MPI_Comm graph = MPI_COMM_NULL;
    check(MPI_Dist_graph_create_adjacent(comm(), static_cast<int>(sources.size()), sources.data(),
                                         MPI_UNWEIGHTED, static_cast<int>(destinations.size()),
                                         destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                         &graph),
          "MPI_Dist_graph_create_adjacent");
    neighbours_ = communicator(graph);
  }

 private:
  void start_calls() override {
    check(MPI_Ineighbor_alltoallv(at(0), send_bytes_.data(), send_offsets_.data(), MPI_BYTE, at(0),
                                  receive_bytes_.data(), receive_offsets_.data(), MPI_BYTE,
                                  neighbours_.get(), &request_),
          "MPI_Ineighbor_alltoallv");
  }
  bool test_calls() override {
    int is_complete = 0;
    check(MPI_Test(&request_, &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
    return is_complete != 0;
  }

  std::vector<int> send_bytes_, send_offsets_, receive_bytes_, receive_offsets_;
  communicator neighbours_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<detail::mover> make_mpi_mover(detail::carrier by,
                                              const detail::mover_context& context,
                                              const detail::exchange_round& round) {
  if (by == detail::carrier::mpi_neighbor) return std::make_unique<neighbor_mover>(context, round);
  return std::make_unique<request_mover>(context, round, by == detail::carrier::mpi_persistent);
}

}  // namespace longshore::mpi
