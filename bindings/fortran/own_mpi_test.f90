! A Fortran program that initialises MPI (mpi_f08) and makes a team from a communicator.
program own_mpi_test
  use mpi_f08
  use longshore
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  type(MPI_Comm) :: part
  type(longshore_team) :: team
  integer :: rank, world, ierr
  integer(int64) :: total
  call longshore_init_mpi(MPI_COMM_WORLD%mpi_val, team, ierr)
  if (ierr /= longshore_error_usage) error stop 'a team before the start of MPI'
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, part)
  call longshore_init_mpi(part%mpi_val, team)
  call MPI_Comm_rank(part, rank)
  if (team%rank() /= rank .or. team%transport() /= 'mpi') error stop 'the wrong team'
  total = rank + 1
  call team%allreduce(total, longshore_sum)
  if (total /= team%size()*(team%size() + 1)/2) error stop 'a wrong sum'
  call team%finalize()
  call MPI_Comm_size(MPI_COMM_WORLD, world)
  if (world < 2) error stop 'start it with several ranks'
  call MPI_Finalize()
end program own_mpi_test
