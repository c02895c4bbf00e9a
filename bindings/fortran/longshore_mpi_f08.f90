!> Module longshore for programs with `use mpi_f08`: longshore_join and longshore_cart_grid also take
!> a type(MPI_Comm). Use this module instead of module longshore.
module longshore_mpi_f08
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08, only: MPI_Comm
  use longshore
  implicit none
  private :: real64, MPI_Comm, join_f08, cart_grid_f08

  !> As in module longshore.
  interface longshore_join
    module procedure join_f08
  end interface longshore_join
  !> As in module longshore.
  interface longshore_cart_grid
    module procedure cart_grid_f08
  end interface longshore_cart_grid

contains

  subroutine join_f08(communicator, team, ranks_per_node, timeout_seconds, check_calls, ierr)
    type(MPI_Comm), intent(in) :: communicator
    type(longshore_team), intent(out) :: team
    integer, intent(in), optional :: ranks_per_node
    real(real64), intent(in), optional :: timeout_seconds
    logical, intent(in), optional :: check_calls
    integer, intent(out), optional :: ierr
    call longshore_join(communicator%mpi_val, team, ranks_per_node, timeout_seconds, check_calls, ierr)
  end subroutine join_f08

  subroutine cart_grid_f08(team, communicator, grid, cart_order, ierr)
    type(longshore_team), intent(in) :: team
    type(MPI_Comm), intent(in) :: communicator
    type(longshore_grid), intent(inout) :: grid
    character(len=*), intent(in), optional :: cart_order
    integer, intent(out), optional :: ierr
    call longshore_cart_grid(team, communicator%mpi_val, grid, cart_order, ierr)
  end subroutine cart_grid_f08

end module longshore_mpi_f08
