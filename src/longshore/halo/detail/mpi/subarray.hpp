// Mode subarray: derived datatypes describe the cells, and the MPI library finds them: all
// MPI_Irecv, all MPI_Isend, one MPI_Waitall, as in mode waitall, without packing of our own. A type
// is a vector of vectors of rows, one per field, at absolute addresses: so fields may have any
// strides.
//
// Cost: one step; 12 or 52 requests. start() does not block. How often a cell is copied is the
// library's business.
#pragma once

#include <longshore/halo/detail/mpi/all_at_once.hpp>

namespace longshore::mpi {

class subarray final : public all_at_once {
 public:
  subarray(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers);
  ~subarray() override;
  void start() override;
  [[nodiscard]] const std::byte* received(std::size_t leg) const override {
    return round()[leg].incoming.dense();
  }

 private:
  std::vector<MPI_Datatype> outgoing_types_,
      incoming_types_;  // by leg; MPI_BYTE where there is no message
};

}  // namespace longshore::mpi
