! Heat equation on a periodic cube, on any number of ranks, threads or MPI; the exchange goes on while the interior is computed.
program heat
  use longshore
  implicit none
  call longshore_run(solve)
contains
  subroutine solve(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    double precision, pointer :: u(:, :, :), v(:, :, :)
    double precision :: total
    integer :: first(3), n(3), d, step
    call grid%create(team)
    call grid%block([48, 48, 48], first, n)                               ! this rank's cells of the cube
    call grid%allocate(u, n, 1); call grid%allocate(v, n, 0)              ! u(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), zero
    if (all(first <= 24 .and. first + n > 24)) u(25 - first(1), 25 - first(2), 25 - first(3)) = 1
    call halo%create(grid, width=1, reach='faces')
    do step = 1, 20
      call halo%start(u)
      call compute(u, v, [2, 2, 2], n - 1)                                ! cells that need no halo
      call halo%wait()
      do d = 1, 3                                                         ! and those beside it
        call compute(u, v, [1, 1, 1], merge(1, n, [1, 2, 3] == d))
        call compute(u, v, merge(n, 1, [1, 2, 3] == d), n)
      end do
      u(1:n(1), 1:n(2), 1:n(3)) = v
    end do
    total = sum(v)
    call team%allreduce(total, longshore_sum)
    if (team%rank() == 0) print '(a, f9.6)', 'total heat', total
  end subroutine solve
  subroutine compute(u, v, low, high)
    double precision, intent(in) :: u(0:, 0:, 0:)
    double precision, intent(inout) :: v(:, :, :)
    integer, intent(in) :: low(3), high(3)
    integer :: x, y, z
    forall (x=low(1):high(1), y=low(2):high(2), z=low(3):high(3)) v(x, y, z) = 0.4d0*u(x, y, z) &
      + 0.1d0*(u(x - 1, y, z) + u(x + 1, y, z) + u(x, y - 1, z) + u(x, y + 1, z) + u(x, y, z - 1) + u(x, y, z + 1))
  end subroutine compute
end program heat
