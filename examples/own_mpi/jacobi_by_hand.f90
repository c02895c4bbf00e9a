! Jacobi steps on a grid of cells, with a halo exchange that is written by hand over MPI.
! jacobi_longshore.f90 is the same program with Longshore in place of the exchange.
!
! The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
! a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z
! all values are 0.
!
!     mpirun -n 4 jacobi_by_hand 37 30 26 10      37 x 30 x 26 cells, 10 steps
program jacobi_by_hand
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: w = 2  ! width of the halo
  type(MPI_Comm) :: cart
  integer :: first(3), n(3)  ! this rank's block: its position in the domain, and its cells
  real(real64), allocatable, target :: a(:, :, :), b(:, :, :)
  real(real64), pointer, contiguous :: u(:, :, :), v(:, :, :), other(:, :, :)
  real(real64) :: total, begin, before, seconds, exchanging
  integer :: i, x, y, z, rank, steps

  call MPI_Init()
  call make_block([argument(1, 37), argument(2, 30), argument(3, 26)])
  steps = argument(4, 10)
  allocate (a(1 - w:n(1) + w, 1 - w:n(2) + w, 1 - w:n(3) + w), source=0._real64)
  allocate (b(1 - w:n(1) + w, 1 - w:n(2) + w, 1 - w:n(3) + w), source=0._real64)
  do z = 1, n(3)
    do y = 1, n(2)
      do x = 1, n(1)
        a(x, y, z) = mod(7*(first(1) + x - 1) + 13*(first(2) + y - 1) + 29*(first(3) + z - 1), 17)
      end do
    end do
  end do
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

  total = sum(u(1:n(1), 1:n(2), 1:n(3))**2)
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, cart)
  call MPI_Comm_rank(cart, rank)
  if (rank == 0) print '(a, es15.9e2, 2(a, f0.1), a)', 'jacobi_by_hand: checksum=', total, &
    ' step=', 1e6*seconds/steps, ' us exchange=', 1e6*exchanging/steps, ' us'
  call MPI_Comm_free(cart)
  call MPI_Finalize()

contains

  integer function argument(i, default)
    integer, intent(in) :: i, default
    character(len=20) :: text
    argument = default
    if (command_argument_count() < i) return
    call get_command_argument(i, text)
    read (text, *) argument
  end function argument

  subroutine make_block(domain)
    integer, intent(in) :: domain(3)
    integer :: ranks, shape(3), position(3), d
    logical :: periods(3)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    shape = 0
    call MPI_Dims_create(ranks, 3, shape)
    call MPI_Cart_create(MPI_COMM_WORLD, 3, shape, [.true., .true., .false.], .false., cart)
    call MPI_Cart_get(cart, 3, shape, periods, position)
    do d = 1, 3  ! With a remainder, the first ranks get one cell more.
      n(d) = domain(d)/shape(d) + merge(1, 0, position(d) < mod(domain(d), shape(d)))
      first(d) = position(d)*(domain(d)/shape(d)) + min(position(d), mod(domain(d), shape(d)))
    end do
    if (any(domain/shape < w)) then
      print *, 'there are too few cells for so many ranks: each rank needs at least', w
      call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
  end subroutine make_block

  ! Fills the halo along x, then y, then z. Later messages include the halo that was received
  ! before: so edges and corners need no messages of their own.
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

  ! One step from u to v.
  subroutine step(u, v)
    real(real64), intent(in), contiguous :: u(1 - w:, 1 - w:, 1 - w:)
    real(real64), intent(inout), contiguous :: v(1 - w:, 1 - w:, 1 - w:)
    real(real64) :: faces, corners
    integer :: x, y, z
    do z = 1, n(3)
      do y = 1, n(2)
        do x = 1, n(1)
          faces = u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) + u(x, y + 1, z) + u(x, y, z - 1) + u(x, y, z + 1)
          corners = u(x - w, y - w, z - w) + u(x + w, y - w, z - w) + u(x - w, y + w, z + w) + u(x + w, y + w, z + w) &
                  + u(x - w, y + w, z - w) + u(x + w, y + w, z - w) + u(x - w, y - w, z + w) + u(x + w, y - w, z + w)
          v(x, y, z) = 0.4_real64*u(x, y, z) + 0.05_real64*faces + 0.0375_real64*corners
        end do
      end do
    end do
  end subroutine step
end program jacobi_by_hand
