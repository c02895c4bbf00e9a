! Tests sums over copies of cells, arrays of vertices, widths of each array, and parts of plans of
! the Fortran module. Every rank computes the cells of all ranks itself.
module halo_checks
  use checks
  use longshore
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  integer, parameter :: n(2) = [5, 4]  ! the cells of each rank
contains
  subroutine run_all(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid) :: grid
    integer :: ierr
    call grid%create(team, dimensions=2, periodic=[.false., .true.])
    call all_checks(team, grid)
    call grid%free()
    call grid%create(team, dimensions=2, ranks=[team%size()], ierr=ierr)
    call check_refused(ierr, 'differ from each other, or from dimensions', 'ranks of another number of dimensions')
    call grid%create(team, ranks=[team%size(), 1], periodic=[.false., .true.])
    call all_checks(team, grid)
    call grid%free()
    call three_dimensions(team)
  end subroutine run_all

  subroutine all_checks(team, grid)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid), intent(in) :: grid
    call combines(team, grid, 'direct')
    call combines(team, grid, 'channel')
    call functions(team, grid, 'direct')
    call functions(team, grid, 'channel')
    call parts(team, grid)
    call errors(grid)
  end subroutine all_checks

  ! The place of a cell of a rank in the whole domain, which is open along x and periodic along y;
  ! 0 beyond the domain. Cells are counted from 1.
  integer function place_of(grid, shared, rank, x, y) result(place)
    type(longshore_grid), intent(in) :: grid
    integer, intent(in) :: shared, rank, x, y
    integer :: shape(3), all(2), at(2)
    shape = grid%shape()
    all = shape(:2)*n
    at = [mod(rank, shape(1))*n(1) + x, rank/shape(1)*n(2) + y]
    place = 0
    if (at(1) >= 1 .and. at(1) <= all(1) + shared) place = at(1) + (all(1) + shared)*modulo(at(2) - 1, all(2))
  end function place_of

  ! Whether a cell of a rank is not a copy.
  logical function is_own(grid, shared, rank, x, y)
    type(longshore_grid), intent(in) :: grid
    integer, intent(in) :: shared, rank, x, y
    integer :: shape(3)
    shape = grid%shape()
    is_own = x > merge(shared, 0, mod(rank, shape(1)) > 0) .and. x <= n(1) + shared .and. y > shared .and. y <= n(2) + shared
  end function is_own

  integer function value_of(rank, x, y)
    integer, intent(in) :: rank, x, y
    value_of = mod(37*rank + 11*(x + 3) + 5*(y + 3), 64) + 1
  end function value_of

  ! The sums and the maxima over all copies of each place.
  subroutine combine_all(team, grid, shared, low, high, sums, maxima)
    type(longshore_team), intent(in) :: team
    type(longshore_grid), intent(in) :: grid
    integer, intent(in) :: shared, low(2), high(2)
    integer, allocatable, intent(out) :: sums(:), maxima(:)
    integer :: rank, x, y, place
    allocate (sums((n(1) + shared)*n(2)*team%size()*2), maxima((n(1) + shared)*n(2)*team%size()*2))
    sums = 0
    maxima = 0
    do rank = 0, team%size() - 1
      do y = 1 - low(2), n(2) + shared + high(2)
        do x = 1 - low(1), n(1) + shared + high(1)
          place = place_of(grid, shared, rank, x, y)
          if (place == 0) cycle
          sums(place) = sums(place) + value_of(rank, x, y)
          maxima(place) = max(maxima(place), value_of(rank, x, y))
        end do
      end do
    end do
  end subroutine combine_all

  ! Cells with wider halos on some sides, vertices without a halo, and complex vertices with one.
  subroutine combines(team, grid, mode)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid), intent(in) :: grid
    character(len=*), intent(in) :: mode
    type(longshore_halo) :: halo
    real(real64), allocatable, target :: u(:, :)
    integer(int32), allocatable, target :: v(:, :)
    complex(real32), allocatable, target :: z(:, :)
    integer, allocatable :: sums(:), maxima(:)
    logical :: complete
    integer :: turn
    allocate (u(0:n(1) + 2, -1:n(2) + 1), v(n(1) + 1, n(2) + 1), z(0:n(1) + 2, 0:n(2) + 2))
    call halo%create(grid, width=1, mode=mode)
    call halo%add(u, low=[1, 2], high=[2, 1])
    call halo%add(v, low=[0, 0], high=[0, 0], shared=[1, 1])
    call halo%add(z, shared=[1, 1])
    do turn = 1, 4
      call fill()
      call team%barrier()
      select case (turn)
      case (1)
        call halo%assemble(longshore_sum)
        call check_u(.true., .false.)
        call check_v(.true., .false.)
        call check_z(.true.)
      case (2)
        call halo%accumulate(longshore_sum, fields=[3, 1])
        call check_u(.false., .false.)
        call check_z(.false.)
        call check(v(1, 1) == value_of(team%rank(), 1, 1), 'an array outside of the part')
      case (3)
        call halo%start_assemble(longshore_max, fields=[2, 1])
        call halo%wait()
        call check_u(.true., .true.)
        call check_v(.true., .true.)
        call check(nint(real(z(1, 1))) == value_of(team%rank(), 1, 1), 'a complex array outside of the part')
      case (4)
        call halo%start_accumulate(longshore_sum)
        complete = .false.
        do while (.not. complete)
          call halo%test(complete)
        end do
        call check_u(.false., .false.)
        call check_v(.false., .false.)
        call check_z(.false.)
      end select
    end do
    call halo%free()
  contains
    subroutine fill()
      integer :: x, y
      do y = -1, n(2) + 2
        do x = 0, n(1) + 2
          if (y <= n(2) + 1) u(x, y) = value_of(team%rank(), x, y)
          if (x >= 1 .and. y >= 1 .and. x <= n(1) + 1 .and. y <= n(2) + 1) v(x, y) = value_of(team%rank(), x, y)
          if (y >= 0) z(x, y) = cmplx(value_of(team%rank(), x, y), -2*value_of(team%rank(), x, y), real32)
        end do
      end do
    end subroutine fill

    ! The expected value of a cell with these sums or maxima.
    integer function expected(shared, x, y, is_assembled, is_maximum)
      integer, intent(in) :: shared, x, y
      logical, intent(in) :: is_assembled, is_maximum
      integer :: place
      expected = value_of(team%rank(), x, y)
      place = place_of(grid, shared, team%rank(), x, y)
      if (place > 0 .and. (is_assembled .or. is_own(grid, shared, team%rank(), x, y))) &
        expected = merge(maxima(max(place, 1)), sums(max(place, 1)), is_maximum)
    end function expected

    subroutine check_u(is_assembled, is_maximum)
      logical, intent(in) :: is_assembled, is_maximum
      integer :: x, y
      call combine_all(team, grid, 0, [1, 2], [2, 1], sums, maxima)
      do y = -1, n(2) + 1
        do x = 0, n(1) + 2
          call check(nint(u(x, y)) == expected(0, x, y, is_assembled, is_maximum), 'a combined cell')
        end do
      end do
    end subroutine check_u

    subroutine check_v(is_assembled, is_maximum)
      logical, intent(in) :: is_assembled, is_maximum
      integer :: x, y
      call combine_all(team, grid, 1, [0, 0], [0, 0], sums, maxima)
      do y = 1, n(2) + 1
        do x = 1, n(1) + 1
          call check(v(x, y) == expected(1, x, y, is_assembled, is_maximum), 'a combined vertex')
        end do
      end do
    end subroutine check_v

    subroutine check_z(is_assembled)
      logical, intent(in) :: is_assembled
      integer :: x, y, number
      call combine_all(team, grid, 1, [1, 1], [1, 1], sums, maxima)
      do y = 0, n(2) + 2
        do x = 0, n(1) + 2
          number = expected(1, x, y, is_assembled, .false.)
          call check(z(x, y) == cmplx(number, -2*number, real32), 'a combined complex vertex')
        end do
      end do
    end subroutine check_z
  end subroutine combines

  ! A value that all copies of a place on a rank have.
  integer function value_at(rank, place)
    integer, intent(in) :: rank, place
    value_at = merge(mod(37*rank + 11*place, 64) + 1, 0, place > 0)
  end function value_at

  subroutine mix(batch)
    type(longshore_combine_batch), intent(in) :: batch
    real(real64), pointer :: u, of_u
    integer(int32), pointer :: v, of_v
    integer(int64) :: i
    do i = 1, batch%count
      if (batch%field == 1) then
        call batch%get_pair(i, u, of_u)
        u = mixed(1, nint(u), nint(of_u))
      else
        call batch%get_pair(i, v, of_v)
        v = mixed(batch%field, v, of_v)
      end if
    end do
  end subroutine mix

  subroutine keep(batch)
    type(longshore_combine_batch), intent(in) :: batch
    call check(batch%count < 0, 'a procedure of a refused call')
  end subroutine keep

  ! The values that owners have after copies were mixed in, in the order of ranks.
  subroutine mix_all(team, grid, field, shared, low, high, results)
    type(longshore_team), intent(in) :: team
    type(longshore_grid), intent(in) :: grid
    integer, intent(in) :: field, shared, low(2), high(2)
    integer, allocatable, intent(out) :: results(:)
    integer :: turn, rank, x, y, place
    allocate (results((n(1) + shared)*n(2)*team%size()*2))
    do turn = 1, 2  ! owners, and then copies
      do rank = 0, team%size() - 1
        do y = 1 - low(2), n(2) + shared + high(2)
          do x = 1 - low(1), n(1) + shared + high(1)
            place = place_of(grid, shared, rank, x, y)
            if (place == 0 .or. (is_own(grid, shared, rank, x, y) .neqv. turn == 1)) cycle
            if (turn == 1) then
              results(place) = value_at(rank, place)
            else
              results(place) = mixed(field, results(place), value_at(rank, place))
            end if
          end do
        end do
      end do
    end do
  end subroutine mix_all

  ! Cells, of which each second column is exchanged, and vertices.
  subroutine functions(team, grid, mode)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid), intent(in) :: grid
    character(len=*), intent(in) :: mode
    integer, parameter :: one(2) = 1
    type(longshore_halo) :: halo
    real(real64), allocatable, target :: u(:, :)
    integer(int32), allocatable, target :: v(:, :)
    integer :: turn, ierr
    allocate (u(0:2*n(1) + 5, -1:n(2) + 1), v(0:n(1) + 2, 0:n(2) + 2))
    call halo%create(grid, width=1, mode=mode)
    call halo%add(u(::2, :), low=[1, 2], high=[2, 1])
    call halo%add(v, shared=[1, 1])
    do turn = 1, 4
      call each(1, 0, [1, 2], [2, 1], .true., .false., .false.)
      call each(2, 1, one, one, .true., .false., .false.)
      call team%barrier()
      select case (turn)
      case (1)
        call halo%accumulate_by(mix)
      case (2)
        call halo%assemble_by(mix, fields=[2])
      case (3)
        call halo%start_accumulate_by(mix, fields=[2, 1])
        call halo%accumulate_by(keep, ierr=ierr)
        call check_refused(ierr, 'started twice', 'a second operation')
        call halo%wait()
      case (4)
        call halo%start_assemble_by(mix)
        call halo%wait()
      end select
      call each(1, 0, [1, 2], [2, 1], .false., turn /= 2, turn == 4)
      call each(2, 1, one, one, .false., .true., mod(turn, 2) == 0)
    end do
    call halo%free()
  contains
    ! Fills or checks an array.
    subroutine each(field, shared, low, high, fills, is_combined, is_assembled)
      integer, intent(in) :: field, shared, low(2), high(2)
      logical, intent(in) :: fills, is_combined, is_assembled
      integer, allocatable :: results(:)
      integer :: x, y, place, right, found
      call mix_all(team, grid, field, shared, low, high, results)
      do y = 1 - low(2), n(2) + shared + high(2)
        do x = 1 - low(1), n(1) + shared + high(1)
          place = place_of(grid, shared, team%rank(), x, y)
          right = value_at(team%rank(), place)
          if (fills) then
            if (field == 1) u(2*x, y) = right
            if (field == 2) v(x, y) = right
            cycle
          end if
          if (is_combined .and. place > 0) then
            if (is_assembled .or. is_own(grid, shared, team%rank(), x, y)) right = results(place)
          end if
          if (field == 1) then
            found = nint(u(2*x, y))
          else
            found = v(x, y)
          end if
          call check(found == right, 'a cell or vertex that a procedure combines')
        end do
      end do
    end subroutine each
  end subroutine functions

  ! Exchanges some arrays of a plan, and some layers of their halos.
  subroutine parts(team, grid)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid), intent(in) :: grid
    type(longshore_halo) :: halo
    real(real32), allocatable, target :: u(:, :)
    integer(int64), allocatable, target :: v(:, :)
    integer :: turn
    allocate (u(-1:n(1) + 2, -1:n(2) + 2), v(0:n(1) + 2, 0:n(2) + 2))
    call halo%create(grid, width=2)
    call halo%add(u)
    call halo%add(v, low=[1, 1], high=[1, 1], shared=[1, 1])
    call halo%plan()
    do turn = 1, 2
      call fill()
      call halo%exchange(fields=[2, 1], width=1)
      call check_halos([1, 1], [1, 1], .true.)
      call fill()
      call halo%exchange(fields=[2])
      call check_halos([0, 0], [0, 0], .true.)
      call fill()
      call halo%start(fields=[1], low=[2, 0], high=[1, 2])
      call halo%wait()
      call check_halos([2, 0], [1, 2], .false.)
      call fill()
      call halo%start(width=2)
      call halo%wait()
      call check_halos([2, 2], [2, 2], .true.)
      call fill()
      call halo%exchange()
      call check_halos([2, 2], [2, 2], .true.)
    end do
    call halo%free()
    ! the arrays of the first exchange are numbered, too
    call halo%create(grid, width=2)
    call fill()
    call halo%exchange(u)
    call check_halos([2, 2], [2, 2], .false.)
    call fill()
    call halo%exchange(fields=[1], width=1)
    call check_halos([1, 1], [1, 1], .false.)
    call halo%free()
  contains
    subroutine fill()
      integer :: x, y
      u = -1
      v = -1
      do y = 1, n(2) + 1
        do x = 1, n(1) + 1
          if (x <= n(1) .and. y <= n(2)) u(x, y) = place_of(grid, 0, team%rank(), x, y)
          v(x, y) = place_of(grid, 1, team%rank(), x, y)
        end do
      end do
      call team%barrier()
    end subroutine fill

    ! Checks the halo of u, and that of v if it is filled.
    subroutine check_halos(low, high, is_v_filled)
      integer, intent(in) :: low(2), high(2)
      logical, intent(in) :: is_v_filled
      integer :: x, y, place
      logical :: is_filled
      do y = -1, n(2) + 2
        do x = -1, n(1) + 2
          place = place_of(grid, 0, team%rank(), x, y)
          is_filled = place > 0 .and. x > -low(1) .and. y > -low(2) .and. x <= n(1) + high(1) .and. y <= n(2) + high(2)
          call check(nint(u(x, y)) == merge(place, -1, is_filled), 'a cell of a part')
          if (x < 0 .or. y < 0) cycle
          place = place_of(grid, 1, team%rank(), x, y)
          is_filled = place > 0 .and. (is_v_filled .or. (x >= 1 .and. y >= 1 .and. x <= n(1) + 1 .and. y <= n(2) + 1))
          call check(v(x, y) == merge(place, -1, is_filled), 'a vertex of a part')
        end do
      end do
    end subroutine check_halos
  end subroutine parts

  ! The corner of eight blocks gets the sum of eight vertices.
  subroutine three_dimensions(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    real(real64), allocatable, target :: vertices(:, :, :)
    call grid%create(team)
    allocate (vertices(0:3, 0:4, 0:5), source=1.0_real64)
    call halo%create(grid, width=0)
    call halo%add(vertices, shared=[1, 1, 1])
    call halo%assemble(longshore_sum)
    call check(nint(vertices(0, 0, 0)) == 8 .and. nint(vertices(3, 4, 5)) == 8, 'a corner')
    call check(nint(vertices(0, 0, 2)) == 4 .and. nint(vertices(3, 2, 5)) == 4, 'an edge')
    call check(nint(vertices(1, 4, 2)) == 2 .and. nint(vertices(2, 2, 2)) == 1, 'a face and an inner vertex')
    call halo%free()
    call grid%free()
  end subroutine three_dimensions

  subroutine errors(grid)
    type(longshore_grid), intent(in) :: grid
    type(longshore_halo) :: halo
    real(real64), target :: u(0:5, 0:5)
    complex(real64), target :: z(6, 6)
    integer, target :: numbers(2)
    integer :: ierr
    numbers = 1
    u = 0
    z = 0
    call halo%accumulate(longshore_sum, ierr=ierr)
    call check_refused(ierr, 'before it was created', 'a sum of a halo that was not created')
    call halo%create(grid, width=1)
    call halo%add(u, low=[1, 1, 1, 1], ierr=ierr)
    call check_refused(ierr, 'more than three numbers', 'widths of four dimensions')
    call halo%add(u, low=[-1, 1], ierr=ierr)
    call check_refused(ierr, 'negative number of cells', 'a negative width')
    call halo%add(u, high=[9, 1], ierr=ierr)
    call check_refused(ierr, 'between halos of 1 and 9 cells', 'a width without interior cells')
    call halo%add(u, shared=[-1], ierr=ierr)
    call halo%plan(ierr)
    call check_refused(ierr, 'shares -1 layers along x', 'a negative number of layers')
    call halo%create(grid, width=1)
    call halo%add(u)
    call halo%add(z)
    call halo%exchange(numbers, ierr=ierr)
    call check_refused(ierr, 'pass numbers as fields=', 'numbers of arrays in place of arrays')
    call halo%exchange(fields=numbers, ierr=ierr)
    call check_refused(ierr, 'the 1st field is twice', 'an array that is twice in a part')
    call halo%exchange(fields=[1, 3], ierr=ierr)
    call check_refused(ierr, 'numbers 1 to 2', 'an array that the plan does not have')
    call halo%start(fields=numbers(:0), ierr=ierr)
    call check_refused(ierr, 'numbers 1 to 2', 'a part without arrays')
    call halo%assemble(longshore_sum, fields=[0], ierr=ierr)
    call check_refused(ierr, 'numbers 1 to 2', 'array 0')
    call halo%exchange(width=0, ierr=ierr)
    call check_refused(ierr, 'width of 1 or more', 'a part of width 0')
    call halo%exchange(width=1, low=[1, 1], high=[1, 1], ierr=ierr)
    call check_refused(ierr, 'or low and high', 'a part with width, and low and high')
    call halo%exchange(low=[1, 1], ierr=ierr)
    call check_refused(ierr, 'one of low and high', 'a part without high')
    call halo%exchange(low=[1, 1, 1, 1], high=[1], ierr=ierr)
    call check_refused(ierr, 'more than three numbers', 'a part of four dimensions')
    call halo%accumulate(longshore_max, ierr=ierr)
    call check_refused(ierr, 'longshore_sum only', 'a maximum of complex numbers')
    call halo%assemble(longshore_max, fields=[2], ierr=ierr)
    call check_refused(ierr, 'longshore_sum only', 'a maximum of complex numbers of a part')
    call halo%assemble(longshore_xor, fields=[1], ierr=ierr)
    call check_refused(ierr, 'operation 4 of an accumulate or assemble', 'an operation that halos do not have')
    call halo%assemble(longshore_max, fields=[1], ierr=ierr)
    call check(ierr == longshore_ok, 'a maximum of reals')
    call halo%add(u, ierr=ierr)
    call check_refused(ierr, 'after the first exchange', 'an array that is added late')
    call halo%free()
  end subroutine errors
end module halo_checks

program halo_test
  use halo_checks
  implicit none
  call longshore_run(run_all)
end program halo_test
