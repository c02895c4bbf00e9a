// The carriers whose messages are all in flight together: waitall, persistent, partitioned and
// subarray. The sequences of the first two are those of halobench (github.com/davidhenty/halobench,
// haloswap.f90).
//
// Cost: one step; one request per message. start() does not block.
#include <longshore/exchange/detail/mpi/mpi_mover.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

using detail::carrier;

// Calls all MPI_Irecv, all MPI_Isend, and one MPI_Waitall. This class is the base of the others. An
// exchange is complete when all requests are complete.
class request_mover : public mpi_mover {
 public:
  request_mover(const mover_context& context, const exchange_round& round,
                std::span<const int> tags, buffering buffered = buffering::strided)
      : mpi_mover(context, round, tags, buffered),
        requests_(incoming_.size() + outgoing_.size(), MPI_REQUEST_NULL) {
    requests_.reserve(1);  // Open MPI refuses a null pointer even if there is no request
  }
  ~request_mover() override {
    if (has_ended()) return;
    for (auto& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

 protected:
  void start_calls() override {
    request_receives(MPI_Irecv, "MPI_Irecv");
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      pack(outgoing_[i]);
      request_send(i, MPI_Isend, "MPI_Isend");
    }
  }
  // `call` is MPI_Irecv or MPI_Recv_init; MPI_Isend or MPI_Send_init.
  template <class Call>
  void request_receives(const Call& call, const char* name) {
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
      const auto& in = incoming_[i];
      check(call(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), receive_request(i)), name);
    }
  }
  template <class Call>
  void request_send(std::size_t i, const Call& call, const char* name) {
    const auto& out = outgoing_[i];
    check(call(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), send_request(i)), name);
  }
  [[nodiscard]] bool test_calls() override { return test_all(requests_); }
  void wait_calls() final {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
  }
  [[nodiscard]] MPI_Request* receive_request(std::size_t i) { return &requests_[i]; }
  [[nodiscard]] MPI_Request* send_request(std::size_t i) {
    return &requests_[incoming_.size() + i];
  }

  std::vector<MPI_Request> requests_;  // all receives, then all sends
};

// MPI_Recv_init and MPI_Send_init once; then MPI_Startall and MPI_Waitall.
class persistent_mover final : public request_mover {
 public:
  persistent_mover(const mover_context& context, const exchange_round& round,
                   std::span<const int> tags)
      : request_mover(context, round, tags) {
    request_receives(MPI_Recv_init, "MPI_Recv_init");
    for (std::size_t i = 0; i < outgoing_.size(); ++i)
      request_send(i, MPI_Send_init, "MPI_Send_init");
  }

 private:
  void start_calls() override {
    for (const auto& out : outgoing_) pack(out);
    check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
  }
};

#if MPI_VERSION >= 4
// Persistent messages in partitions, each of which is sent as soon as it is packed. If the parts of
// a message, usually one per field, have equal sizes, each part is a partition. Otherwise the
// message is one partition, because MPI requires partitions of equal size.
class partitioned_mover final : public request_mover {
 public:
  partitioned_mover(const mover_context& context, const exchange_round& round,
                    std::span<const int> tags)
      : request_mover(context, round, tags) {
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
      const auto& in = incoming_[i];
      const int partitions = partitions_of(round.incoming[in.number].parts);
      check(MPI_Precv_init(in.data, partitions, in.bytes / partitions, MPI_BYTE, in.rank, in.tag,
                           comm(), MPI_INFO_NULL, receive_request(i)),
            "MPI_Precv_init");
    }
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      const auto& out = outgoing_[i];
      const int partitions = partitions_.emplace_back(partitions_of(round.outgoing[i].parts));
      check(MPI_Psend_init(out.data, partitions, out.bytes / partitions, MPI_BYTE, out.rank,
                           out.tag, comm(), MPI_INFO_NULL, send_request(i)),
            "MPI_Psend_init");
    }
  }

 private:
  void start_calls() override {
    for (auto& request : requests_) check(MPI_Start(&request), "MPI_Start");
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      const auto& out = outgoing_[i];
      if (partitions_[i] == 1) pack(out);
      for (int p = 0; p < partitions_[i]; ++p) {
        if (partitions_[i] > 1 && is_in_buffer(out))
          out.packer.pack_part(context_, static_cast<std::size_t>(p), out.data);
        check(MPI_Pready(p, *send_request(i)), "MPI_Pready");
      }
    }
  }
  // Depends on sizes only, so it is the same at both ends of a message.
  template <class Parts>
  [[nodiscard]] int partitions_of(const Parts& parts) const {
    const auto bytes = [&](const auto& part) {
      return part.elements.size() * element_bytes_of(context_.memory(part.memory));
    };
    const bool are_equal = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
      return bytes(part) == bytes(parts[0]);
    });
    return are_equal ? static_cast<int>(parts.size()) : 1;
  }
  // Tests one request at a time, because MPI_Testall of MPICH 5.0 fails on partitioned requests.
  [[nodiscard]] bool test_calls() override {
    return std::all_of(requests_.begin(), requests_.end(), [](MPI_Request& request) {
      int is_complete = 0;
      check(MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
      return is_complete != 0;
    });
  }

  std::vector<int> partitions_;  // of each outgoing message
};
#endif

// Replaces a type by a vector of `count` elements of the type, `stride` bytes apart.
void repeat(MPI_Datatype& type, std::size_t count, std::ptrdiff_t stride) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  check(MPI_Type_create_hvector(mpi::count(count, "a side of a box"), 1,
                                static_cast<MPI_Aint>(stride), type, &vector),
        "MPI_Type_create_hvector");
  MPI_Type_free(&type);
  type = vector;
}

// The first dimensions without gaps make a contiguous run, and each other dimension a vector.
MPI_Datatype type_of(const detail::element_box& box, const detail::bound_field& field) {
  std::size_t run = field.element_bytes;
  const auto stride = [&](int d) { return box.strides[d] * field.stride_bytes; };
  int d = 0;
  for (; d < 3 && (box.extents[d] == 1 || stride(d) == static_cast<std::ptrdiff_t>(run)); ++d)
    run *= box.extents[d];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(count(run, "a row of a box"), MPI_BYTE, &type), "MPI_Type_contiguous");
  for (; d < 3; ++d)
    if (box.extents[d] > 1) repeat(type, box.extents[d], stride(d));
  return type;
}

// Makes the calls of waitall with derived datatypes that describe the elements. So the MPI library
// packs them. A datatype has a vector of vectors of rows for each field. The number of copies of an
// element depends on the MPI library.
class subarray_mover final : public request_mover {
 public:
  subarray_mover(const mover_context& context, const exchange_round& round,
                 std::span<const int> tags)
      : request_mover(context, round, tags, buffering::none) {
    for (const auto& in : incoming_)
      incoming_types_.push_back(type_of(round.incoming[in.number].parts));
    for (const auto& out : round.outgoing) outgoing_types_.push_back(type_of(out.parts));
  }
  ~subarray_mover() override {
    if (has_ended()) return;
    for (auto* const types : {&outgoing_types_, &incoming_types_})
      for (auto& type : *types) MPI_Type_free(&type);
  }

 private:
  void start_calls() override {
    for (std::size_t i = 0; i < incoming_.size(); ++i)
      check(MPI_Irecv(MPI_BOTTOM, 1, incoming_types_[i], incoming_[i].rank, incoming_[i].tag,
                      comm(), receive_request(i)),
            "MPI_Irecv");
    for (std::size_t i = 0; i < outgoing_.size(); ++i)
      check(MPI_Isend(MPI_BOTTOM, 1, outgoing_types_[i], outgoing_[i].rank, outgoing_[i].tag,
                      comm(), send_request(i)),
            "MPI_Isend");
  }
  // The type holds absolute addresses, so messages are sent from and received at MPI_BOTTOM.
  template <class Parts>
  [[nodiscard]] MPI_Datatype type_of(const Parts& parts) const {
    std::vector<MPI_Datatype> boxes;
    std::vector<MPI_Aint> addresses;
    for (const auto& part : parts) {
      const auto& box = *part.elements.box();
      for (const auto& field : context_.memory(part.memory)) {
        boxes.push_back(mpi::type_of(box, field));
        check(
            MPI_Get_address(field.data + box.first * field.stride_bytes, &addresses.emplace_back()),
            "MPI_Get_address");
      }
    }
    const std::vector<int> ones(boxes.size(), 1);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_create_struct(static_cast<int>(boxes.size()), ones.data(), addresses.data(),
                                 boxes.data(), &type),
          "MPI_Type_create_struct");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    for (auto& box : boxes) MPI_Type_free(&box);
    return type;
  }

  std::vector<MPI_Datatype> outgoing_types_, incoming_types_;  // of each message
};

}  // namespace

made_mover make_request_mover(carrier by, const mover_context& context, const exchange_round& round,
                              std::span<const int> tags) {
  switch (by) {
    case carrier::mpi_persistent: return std::make_unique<persistent_mover>(context, round, tags);
#if MPI_VERSION >= 4
    case carrier::mpi_partitioned: return std::make_unique<partitioned_mover>(context, round, tags);
#endif
    case carrier::mpi_subarray: return std::make_unique<subarray_mover>(context, round, tags);
    default: return std::make_unique<request_mover>(context, round, tags);
  }
}

}  // namespace longshore::mpi
