! Jacobi steps on a grid of cells, with a halo exchange that is written by hand over MPI.
! jacobi_longshore.f90 is the same program with Longshore in place of the exchange.
!
!     mpirun -n 4 jacobi_by_hand 37 30 26 10      37 x 30 x 26 cells, 10 steps
program jacobi_by_hand
  use mpi_f08
  use jacobi_domain
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  real(real64), allocatable, target :: a(:, :, :), b(:, :, :)
  real(real64), pointer, contiguous :: u(:, :, :), v(:, :, :), other(:, :, :)
  real(real64) :: begin, before, seconds, exchanging
  integer :: i, steps

  call MPI_Init()
  call make_block([argument(1, 37), argument(2, 30), argument(3, 26)])
  steps = argument(4, 10)
  call make_cells(a)
  call make_cells(b)
  call set_cells(a)
  u => a
  v => b

  exchanging = 0
  begin = MPI_Wtime()
  do i = 1, steps
    before = MPI_Wtime()
    call exchange(u)
    exchanging = exchanging + MPI_Wtime() - before
    call step(u, v)
    other => u
    u => v
    v => other
  end do
  seconds = MPI_Wtime() - begin

  call print_result('jacobi_by_hand', u, steps, seconds, exchanging)
  call MPI_Comm_free(cart)
  call MPI_Finalize()

contains

  ! Fills the halo along x, then y, then z. Later messages include the halo that was received
  ! before, so edges and corners need no messages of their own.
  subroutine exchange(u)
    real(real64), intent(inout), contiguous :: u(1 - w:, 1 - w:, 1 - w:)
    real(real64), allocatable, asynchronous :: outgoing(:, :), incoming(:, :)
    integer :: low(3), high(3), d, side, first_out(2), first_in(2), neighbours(2), cells, made
    type(MPI_Request) :: requests(4)
    low = 1
    high = n
    do d = 1, 3
      first_out = [1, n(d) + 1 - w]  ! the first cells, below and above
      first_in = [1 - w, n(d) + 1]
      call MPI_Cart_shift(cart, d - 1, 1, neighbours(1), neighbours(2))
      high(d) = low(d) + w - 1
      cells = product(high - low + 1)
      allocate (outgoing(cells, 2), incoming(cells, 2))
      made = 0
      do side = 1, 2
        if (neighbours(side) == MPI_PROC_NULL) cycle
        call MPI_Irecv(incoming(:, side), cells, MPI_DOUBLE_PRECISION, neighbours(side), 3 - side, cart, requests(made + 1))
        low(d) = first_out(side)
        high(d) = low(d) + w - 1
        outgoing(:, side) = reshape(u(low(1):high(1), low(2):high(2), low(3):high(3)), [cells])
        call MPI_Isend(outgoing(:, side), cells, MPI_DOUBLE_PRECISION, neighbours(side), side, cart, requests(made + 2))
        made = made + 2
      end do
      call MPI_Waitall(made, requests, MPI_STATUSES_IGNORE)
      do side = 1, 2
        if (neighbours(side) == MPI_PROC_NULL) cycle
        low(d) = first_in(side)
        high(d) = low(d) + w - 1
        u(low(1):high(1), low(2):high(2), low(3):high(3)) = reshape(incoming(:, side), high - low + 1)
      end do
      deallocate (outgoing, incoming)
      low(d) = 1 - w  ! the next dimension includes this halo
      high(d) = n(d) + w
    end do
  end subroutine exchange
end program jacobi_by_hand
