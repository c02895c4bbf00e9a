! A program that has started MPI itself exchanges a halo.
program joined
  use mpi
  use longshore
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  type(longshore_team) :: team
  type(longshore_grid) :: grid
  type(longshore_halo) :: halo
  real(real64), target :: u(0:3)
  integer :: code
  call MPI_Init(code)
  call longshore_join(MPI_COMM_WORLD, team)
  call grid%create(team, dimensions=1)
  call halo%create(grid, width=1)
  u = [-1, 2, 3, -1]
  call halo%exchange(u)
  call team%finalize()
  call MPI_Finalize(code)
  print '(a)', merge('joined: right', 'joined: wrong', all(u == [3, 2, 3, 2]))
end program joined
