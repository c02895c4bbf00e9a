! Solves the heat equation on a periodic cube, on any number of ranks.
!
! Each rank owns a box of cells. A cell needs its six neighbours, and some neighbours lie on other
! ranks. A halo exchange copies those cells into a border around the box. Meanwhile the rank
! computes the interior, which needs no border.
!
! Verification: a cosine wave keeps its shape, and its height falls by a known factor per step.
program heat
  use longshore
  implicit none
  logical :: right = .true.
  call longshore_run(solve)
  if (.not. right) error stop 1
contains
  subroutine solve(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    double precision, pointer :: u(:, :, :), v(:, :, :), wave(:, :, :)
    integer :: first(3), n(3), i, x, y, z
    double precision :: error, c(48)
    call grid%create(team)
    call grid%block([48, 48, 48], first, n)  ! the first cell and the shape of this rank's box
    call grid%allocate(u, n, 1)              ! with a border of one cell: u(0:n(1) + 1, ...)
    call grid%allocate(v, n, 0)
    call grid%allocate(wave, n, 0)
    c = cos([(i, i=1, 48)]*acos(-1d0)/24)
    forall (x=1:n(1), y=1:n(2), z=1:n(3))
      wave(x, y, z) = c(first(1) + x - 1)*c(first(2) + y - 1)*c(first(3) + z - 1)
    end forall
    u(1:n(1), 1:n(2), 1:n(3)) = wave
    call halo%create(grid, width=1, reach='faces')
    do i = 1, 60
      call halo%start(u)
      call compute(u, v, [2, 2, 2], n - 1)  ! the interior
      call halo%wait()
      do x = 1, 3                           ! the cells that need the border, in each dimension
        call compute(u, v, [1, 1, 1], merge(1, n, [1, 2, 3] == x))
        call compute(u, v, merge(n, 1, [1, 2, 3] == x), n)
      end do
      u(1:n(1), 1:n(2), 1:n(3)) = v
    end do
    error = maxval(abs(v - (0.4d0 + 0.6d0*c(1))**60*wave))
    call team%allreduce(error, longshore_max)
    if (team%rank() > 0) return
    right = error < 1d-9
    print '(a, i0, a, es7.1, 2a)', 'heat: ranks=', team%size(), ' error=', error, &
      ' verified=', merge('yes', 'no ', right)
  end subroutine solve
  subroutine compute(u, v, low, high)
    double precision, intent(in) :: u(0:, 0:, 0:)
    double precision, intent(inout) :: v(:, :, :)
    integer, intent(in) :: low(3), high(3)
    integer :: x, y, z
    forall (x=low(1):high(1), y=low(2):high(2), z=low(3):high(3))
      v(x, y, z) = 0.4d0*u(x, y, z) + 0.1d0*(u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) &
                                             + u(x, y + 1, z) + u(x, y, z - 1) + u(x, y, z + 1))
    end forall
  end subroutine compute
end program heat
