// The backend of mode subarray: derived datatypes describe the cells, and the MPI library packs
// them. The calls are those of mode waitall: all MPI_Irecv, all MPI_Isend, one MPI_Waitall. A
// datatype has a vector of vectors of rows for each field, at absolute addresses. So fields may
// have any strides.
//
// Cost: one step; 12 or 52 requests. start() does not block. The number of copies of a cell depends
// on the MPI library.
#pragma once

#include <longshore/halo/detail/mpi/nonblocking_backend.hpp>

namespace longshore::mpi {

class subarray_backend final : public nonblocking_backend {
 public:
  explicit subarray_backend(const round_setup& setup);
  ~subarray_backend() override;
  void start() override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return round()[pair].incoming.contiguous();
  }

 private:
  // Indexed by message pair. MPI_BYTE if there is no message.
  std::vector<MPI_Datatype> outgoing_types_, incoming_types_;
};

}  // namespace longshore::mpi
