// Ownership of an MPI communicator.
#pragma once

#include <longshore/transport/mpi/detail/call.hpp>
#include <longshore/transport/mpi/lifetime.hpp>

#include <utility>

namespace longshore {
class team;
}

namespace longshore::mpi {

class communicator {
 public:
  communicator() = default;
  explicit communicator(MPI_Comm owned) : comm_(owned) {}
  ~communicator() {
    if (comm_ != MPI_COMM_NULL && !has_ended()) MPI_Comm_free(&comm_);
  }
  communicator(communicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  communicator& operator=(communicator&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }

  /// Collective. Returns a duplicate whose calls return errors instead of aborting.
  static communicator duplicate(MPI_Comm original) {
    MPI_Comm copy = MPI_COMM_NULL;
    check(MPI_Comm_dup(original, &copy), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    return communicator(copy);
  }
  /// Collective. Returns the communicator of the ranks with the same color, in rank order.
  static communicator split(MPI_Comm whole, int color) {
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(whole, color, 0, &part), "MPI_Comm_split");
    return communicator(part);
  }

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  [[nodiscard]] int rank() const {
    int rank = 0;
    check(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
    return rank;
  }
  [[nodiscard]] int size() const {
    int size = 0;
    check(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
    return size;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The communicator of a team of the mpi transport, with the same ranks; MPI_COMM_NULL for teams of
/// other transports. The team owns the communicator; a caller who wants to send must duplicate it.
[[nodiscard]] MPI_Comm communicator_of(const longshore::team& team) noexcept;

}  // namespace longshore::mpi
