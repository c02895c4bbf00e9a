! The common parts of jacobi_by_hand.f90 and jacobi_longshore.f90: the block of a rank, a step, and
! the result. The two programs differ in the halo exchange.
!
! The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
! a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z all
! values are 0.
module jacobi_domain
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: w = 2  ! width of the halo
  type(MPI_Comm) :: cart
  integer :: first(3), n(3)  ! this rank's block: its position in the domain, and its cells

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

  ! Allocates the memory of a block with its halo, filled with 0.
  subroutine make_cells(a)
    real(real64), allocatable, intent(out) :: a(:, :, :)
    allocate (a(1 - w:n(1) + w, 1 - w:n(2) + w, 1 - w:n(3) + w), source=0._real64)
  end subroutine make_cells

  ! Stores the values before the first step.
  subroutine set_cells(u)
    real(real64), intent(inout), contiguous :: u(1 - w:, 1 - w:, 1 - w:)
    integer :: x, y, z
    do z = 1, n(3)
      do y = 1, n(2)
        do x = 1, n(1)
          u(x, y, z) = mod(7*(first(1) + x - 1) + 13*(first(2) + y - 1) + 29*(first(3) + z - 1), 17)
        end do
      end do
    end do
  end subroutine set_cells

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

  ! Prints the sum of all squares, and the mean times of a step and of an exchange.
  subroutine print_result(program, u, steps, seconds, exchanging)
    character(len=*), intent(in) :: program
    real(real64), intent(in), contiguous :: u(1 - w:, 1 - w:, 1 - w:)
    integer, intent(in) :: steps
    real(real64), intent(in) :: seconds, exchanging
    real(real64) :: total
    integer :: rank
    total = sum(u(1:n(1), 1:n(2), 1:n(3))**2)
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, cart)
    call MPI_Comm_rank(cart, rank)
    if (rank == 0) print '(2a, es15.9e2, 2(a, f0.1), a)', program, ': checksum=', total, &
      ' step=', 1e6*seconds/steps, ' us exchange=', 1e6*exchanging/steps, ' us'
  end subroutine print_result
end module jacobi_domain
