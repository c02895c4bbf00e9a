! Jacobi steps on a grid of cells, with Longshore in place of the halo exchange of
! jacobi_by_hand.f90. The rest of the program, in jacobi_domain.f90, is the same.
!
!     mpirun -n 4 jacobi_longshore 37 30 26 10      37 x 30 x 26 cells, 10 steps
program jacobi_longshore
  use mpi_f08
  use longshore_mpi_f08
  use jacobi_domain
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  real(real64), allocatable, target :: a(:, :, :), b(:, :, :)
  real(real64), pointer, contiguous :: u(:, :, :), v(:, :, :), other(:, :, :)
  real(real64) :: begin, before, seconds, exchanging
  integer :: i, steps
  type(longshore_team) :: team
  type(longshore_grid) :: grid
  type(longshore_halo) :: halos(0:1)

  call MPI_Init()
  call make_block([argument(1, 37), argument(2, 30), argument(3, 26)])
  steps = argument(4, 10)
  call make_cells(a)
  call make_cells(b)
  call set_cells(a)
  u => a
  v => b

  call longshore_join(cart, team)
  call longshore_cart_grid(team, cart, grid)
  do i = 0, 1  ! Steps alternate between two arrays. Each array has a plan.
    call halos(i)%create(grid, width=w)
  end do
  exchanging = 0
  begin = MPI_Wtime()
  do i = 1, steps
    before = MPI_Wtime()
    call halos(mod(i, 2))%exchange(u)  ! The first exchange of an array makes the plan.
    exchanging = exchanging + MPI_Wtime() - before
    call step(u, v)
    other => u
    u => v
    v => other
  end do
  seconds = MPI_Wtime() - begin
  call team%finalize()  ! also frees the halos and the grid

  call print_result('jacobi_longshore', u, steps, seconds, exchanging)
  call MPI_Comm_free(cart)
  call MPI_Finalize()
end program jacobi_longshore
