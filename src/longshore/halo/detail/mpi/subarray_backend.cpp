// Mode subarray: describes the cells of each message by a derived datatype, so that the MPI library
// packs them.
#include <longshore/halo/detail/mpi/subarray_backend.hpp>

namespace longshore::mpi {
namespace {

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

}  // namespace

subarray_backend::subarray_backend(const round_setup& setup)
    : nonblocking_backend(setup, buffering::none) {
  for (const auto& pair : round()) {
    outgoing_types_.push_back(type_of(pair.outgoing));
    incoming_types_.push_back(type_of(pair.incoming));
  }
}

subarray_backend::~subarray_backend() {
  if (has_ended()) return;
  for (auto* const types : {&outgoing_types_, &incoming_types_})
    for (auto& type : *types)
      if (type != MPI_BYTE) MPI_Type_free(&type);
}

void subarray_backend::start() {
  for (std::size_t i = 0; i < count(); ++i)
    check(MPI_Irecv(MPI_BOTTOM, incoming(i).rank == MPI_PROC_NULL ? 0 : 1, incoming_types_[i],
                    incoming(i).rank, incoming(i).tag, comm(), &requests_[i]),
          "MPI_Irecv");
  for (std::size_t i = 0; i < count(); ++i)
    check(MPI_Isend(MPI_BOTTOM, outgoing(i).rank == MPI_PROC_NULL ? 0 : 1, outgoing_types_[i],
                    outgoing(i).rank, outgoing(i).tag, comm(), &requests_[count() + i]),
          "MPI_Isend");
  in_flight_ = true;
}

}  // namespace longshore::mpi
