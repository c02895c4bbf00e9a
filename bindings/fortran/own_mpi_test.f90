! A Fortran program that initialises MPI (mpi_f08) makes teams and grids from its communicators.
program own_mpi_test
  use mpi_f08
  use longshore_mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  type(MPI_Comm) :: part
  type(longshore_team) :: team
  integer :: rank, world, ierr
  integer(int64) :: total
  call longshore_join(MPI_COMM_WORLD%mpi_val, team, ierr=ierr)
  if (ierr /= longshore_error_usage) error stop 'a team before the start of MPI'
  call MPI_Init()
  call longshore_join(MPI_COMM_NULL, team, ierr=ierr)
  if (ierr /= longshore_error_usage) error stop 'a team of MPI_COMM_NULL'
  if (index(longshore_error_message(), 'MPI_COMM_NULL') == 0) error stop 'no word of MPI_COMM_NULL'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, part)
  call longshore_join(part, team, ranks_per_node=1, timeout_seconds=60d0, check_calls=.true.)
  call MPI_Comm_rank(part, rank)
  if (team%rank() /= rank .or. team%transport() /= 'mpi') error stop 'the wrong team'
  if (team%nodes() /= team%size()) error stop 'ranks_per_node was ignored'
  total = rank + 1
  call team%allreduce(total, longshore_sum)
  if (total /= team%size()*(team%size() + 1)/2) error stop 'a wrong sum'
  call longshore_cart_grid_refuses(team, part)
  call team%finalize()
  call longshore_join(part%mpi_val, team)
  call team%finalize()
  call MPI_Comm_size(MPI_COMM_WORLD, world)
  if (world < 2) error stop 'start it with several ranks'
  call check_grids([world, 1, 1], 1, [.true.])
  call check_grids([1, world], 2, [.true., .false.])
  call check_grids([1, world, 1], 3, [.false., .true., .false.])
  call MPI_Finalize()

contains

  subroutine longshore_cart_grid_refuses(team, communicator)
    type(longshore_team), intent(in) :: team
    type(MPI_Comm), intent(in) :: communicator
    type(longshore_grid) :: grid
    call longshore_cart_grid(team, communicator, grid, ierr=ierr)
    if (ierr /= longshore_error_usage) error stop 'a grid of a communicator without dimensions'
    if (index(longshore_error_message(), 'MPI_Cart_create') == 0) error stop 'no word of MPI_Cart_create'
  end subroutine longshore_cart_grid_refuses

  ! Compares shape, coordinates and neighbours with those of MPI, in both orders.
  subroutine check_grids(shape, dimensions, periods)
    integer, intent(in) :: shape(:), dimensions
    logical, intent(in) :: periods(:)
    type(MPI_Comm) :: cart
    type(longshore_team) :: team
    type(longshore_grid) :: grid
    integer :: order, direction, d, below, above, step(3), coordinates(3), here(dimensions), found(3)
    call MPI_Cart_create(MPI_COMM_WORLD, dimensions, shape, periods, .false., cart)
    call longshore_join(cart, team)
    call MPI_Cart_coords(cart, team%rank(), dimensions, here)
    do order = 1, 2
      if (order == 1) then
        call longshore_cart_grid(team, cart, grid)
      else
        call longshore_cart_grid(team, cart%mpi_val, grid, cart_order='reversed')
      end if
      coordinates = grid%coordinates()
      found = grid%shape()
      do direction = 0, dimensions - 1
        d = merge(direction + 1, dimensions - direction, order == 1)
        if (found(d) /= shape(direction + 1)) error stop 'another shape'
        if (coordinates(d) /= here(direction + 1)) error stop 'other coordinates'
        call MPI_Cart_shift(cart, direction, 1, below, above)
        step = 0
        step(d) = 1
        if (grid%neighbour(step) /= merge(-1, above, above == MPI_PROC_NULL)) error stop 'another neighbour above'
        if (grid%neighbour(-step) /= merge(-1, below, below == MPI_PROC_NULL)) error stop 'another neighbour below'
      end do
      call grid%free()
    end do
    call team%finalize()
    call MPI_Comm_free(cart)
  end subroutine check_grids
end program own_mpi_test
