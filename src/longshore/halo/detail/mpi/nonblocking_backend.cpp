// The modes whose messages are all in flight together: waitall, persistent, partitioned and subarray.
// The call sequences of the first two are those of halobench (github.com/davidhenty/halobench,
// haloswap.f90).
//
// Cost: one step; 12 or 52 requests. start() does not block.
#include <longshore/halo/detail/mpi/mode_backend.hpp>

#include <algorithm>

namespace longshore::mpi {
namespace {

// Base of these backends: the exchange is complete when all requests are complete.
class nonblocking_backend : public mode_backend {
 public:
  explicit nonblocking_backend(const round_setup& setup, buffering buffered = buffering::strided)
      : mode_backend(setup, buffered), requests_(2 * count(), MPI_REQUEST_NULL) {}
  ~nonblocking_backend() override {
    if (has_ended()) return;
    for (auto& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

 protected:
  [[nodiscard]] MPI_Request* receive_request(std::size_t pair) { return &requests_[pair]; }
  [[nodiscard]] MPI_Request* send_request(std::size_t pair) { return &requests_[count() + pair]; }

  // All receives in the order of the message pairs, then all sends.
  std::vector<MPI_Request> requests_;

 private:
  [[nodiscard]] bool test_calls() override { return test_all(requests_); }
  void wait_calls() final { wait_all(requests_); }
};

// All MPI_Irecv, all MPI_Isend, one MPI_Waitall.
class waitall_backend final : public nonblocking_backend {
 public:
  using nonblocking_backend::nonblocking_backend;
  void start() override {
    for (std::size_t i = 0; i < count(); ++i) {
      const auto& in = incoming(i);
      check(MPI_Irecv(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), receive_request(i)),
            "MPI_Irecv");
    }
    for (std::size_t i = 0; i < count(); ++i) {
      pack(i);
      const auto& out = outgoing(i);
      check(MPI_Isend(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), send_request(i)),
            "MPI_Isend");
    }
    in_flight_ = true;
  }
};

// MPI_Recv_init and MPI_Send_init once; then MPI_Startall and MPI_Waitall.
class persistent_backend final : public nonblocking_backend {
 public:
  explicit persistent_backend(const round_setup& setup) : nonblocking_backend(setup) {
    for (std::size_t i = 0; i < count(); ++i) {
      const auto& in = incoming(i);
      check(MPI_Recv_init(in.data, in.bytes, MPI_BYTE, in.rank, in.tag, comm(), receive_request(i)),
            "MPI_Recv_init");
      const auto& out = outgoing(i);
      check(
          MPI_Send_init(out.data, out.bytes, MPI_BYTE, out.rank, out.tag, comm(), send_request(i)),
          "MPI_Send_init");
    }
  }
  void start() override {
    for (std::size_t i = 0; i < count(); ++i) pack(i);
    check(MPI_Startall(static_cast<int>(requests_.size()), requests_.data()), "MPI_Startall");
    in_flight_ = true;
  }
};

#if MPI_VERSION >= 4
// Persistent messages in partitions, each of which is sent as soon as it is packed. If the parts of
// a message, usually one per field, have equal sizes, each part is a partition. Otherwise the
// message is one partition, because MPI requires partitions of equal size.
class partitioned_backend final : public nonblocking_backend {
 public:
  explicit partitioned_backend(const round_setup& setup) : nonblocking_backend(setup) {
    for (std::size_t i = 0; i < count(); ++i) {
      const auto& in = incoming(i);
      if (in.rank == MPI_PROC_NULL) continue;
      const int partitions = partitions_of(round()[i].incoming);
      check(MPI_Precv_init(in.data, partitions, in.bytes / partitions, MPI_BYTE, in.rank, in.tag,
                           comm(), MPI_INFO_NULL, receive_request(i)),
            "MPI_Precv_init");
    }
    for (std::size_t i = 0; i < count(); ++i) {
      const auto& out = outgoing(i);
      if (out.rank == MPI_PROC_NULL) continue;
      const int partitions = partitions_of(round()[i].outgoing);
      check(MPI_Psend_init(out.data, partitions, out.bytes / partitions, MPI_BYTE, out.rank,
                           out.tag, comm(), MPI_INFO_NULL, send_request(i)),
            "MPI_Psend_init");
    }
  }
  void start() override {
    // A message that does not exist has a null request, which MPI_Start refuses.
    for (auto& request : requests_)
      if (request != MPI_REQUEST_NULL) check(MPI_Start(&request), "MPI_Start");
    for (std::size_t i = 0; i < count(); ++i) {
      const auto& out = outgoing(i);
      if (out.rank == MPI_PROC_NULL) continue;
      const int partitions = partitions_of(round()[i].outgoing);
      if (partitions == 1) pack(i);
      for (int p = 0; p < partitions; ++p) {
        if (partitions > 1 && packing(i).size_bytes() > 0)
          packing(i).pack_part(static_cast<std::size_t>(p), static_cast<std::byte*>(out.data));
        check(MPI_Pready(p, *send_request(i)), "MPI_Pready");
      }
    }
    in_flight_ = true;
  }

 private:
  // The number of partitions depends on sizes only. So it is the same at both ends of a message.
  static int partitions_of(const detail::halo_message& message) {
    const auto& parts = message.parts;
    const bool are_equal = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
      return part.size_bytes() == parts[0].size_bytes();
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
};
#endif

// Replaces a type by a vector of `count` elements of the type, `stride` bytes apart.
void repeat(MPI_Datatype& type, std::size_t count, std::ptrdiff_t stride) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  check(MPI_Type_create_hvector(mpi::count(count, "a side of a halo"), 1,
                                static_cast<MPI_Aint>(stride), type, &vector),
        "MPI_Type_create_hvector");
  MPI_Type_free(&type);
  type = vector;
}

// The first dimensions without gaps make a contiguous run, and each other dimension a vector.
MPI_Datatype type_of(const detail::strided_box& box) {
  std::size_t run = box.element_bytes;
  int d = 0;
  for (; d < 3 && (box.extents[d] == 1 || box.strides_bytes[d] == static_cast<std::ptrdiff_t>(run));
       ++d)
    run *= box.extents[d];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(mpi::count(run, "a row of a halo"), MPI_BYTE, &type),
        "MPI_Type_contiguous");
  for (; d < 3; ++d)
    if (box.extents[d] > 1) repeat(type, box.extents[d], box.strides_bytes[d]);
  return type;
}

// The type holds absolute addresses, so messages are sent from and received at MPI_BOTTOM.
MPI_Datatype type_of(const detail::halo_message& message) {
  if (!message.exists()) return MPI_BYTE;
  std::vector<MPI_Datatype> boxes;
  std::vector<MPI_Aint> addresses;
  for (const auto& part : message.parts) {
    boxes.push_back(type_of(part));
    check(MPI_Get_address(part.first, &addresses.emplace_back()), "MPI_Get_address");
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

// Makes the calls of mode waitall with derived datatypes that describe the cells. So the MPI
// library packs the cells. A datatype has a vector of vectors of rows for each field. So fields may
// have any strides. The number of copies of a cell depends on the MPI library.
class subarray_backend final : public nonblocking_backend {
 public:
  explicit subarray_backend(const round_setup& setup)
      : nonblocking_backend(setup, buffering::none) {
    for (const auto& pair : round()) {
      outgoing_types_.push_back(type_of(pair.outgoing));
      incoming_types_.push_back(type_of(pair.incoming));
    }
  }
  ~subarray_backend() override {
    if (has_ended()) return;
    for (auto* const types : {&outgoing_types_, &incoming_types_})
      for (auto& type : *types)
        if (type != MPI_BYTE) MPI_Type_free(&type);
  }
  void start() override {
    for (std::size_t i = 0; i < count(); ++i)
      check(MPI_Irecv(MPI_BOTTOM, incoming(i).rank == MPI_PROC_NULL ? 0 : 1, incoming_types_[i],
                      incoming(i).rank, incoming(i).tag, comm(), receive_request(i)),
            "MPI_Irecv");
    for (std::size_t i = 0; i < count(); ++i)
      check(MPI_Isend(MPI_BOTTOM, outgoing(i).rank == MPI_PROC_NULL ? 0 : 1, outgoing_types_[i],
                      outgoing(i).rank, outgoing(i).tag, comm(), send_request(i)),
            "MPI_Isend");
    in_flight_ = true;
  }
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return round()[pair].incoming.contiguous();
  }

 private:
  // Indexed by message pair. MPI_BYTE if there is no message.
  std::vector<MPI_Datatype> outgoing_types_, incoming_types_;
};

}  // namespace

made_backend make_nonblocking_backend(halo_mode mode, const round_setup& setup) {
  switch (mode) {
    case halo_mode::persistent: return std::make_unique<persistent_backend>(setup);
#if MPI_VERSION >= 4
    case halo_mode::partitioned: return std::make_unique<partitioned_backend>(setup);
#endif
    case halo_mode::subarray: return std::make_unique<subarray_backend>(setup);
    default: return std::make_unique<waitall_backend>(setup);
  }
}

}  // namespace longshore::mpi
