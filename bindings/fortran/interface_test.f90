! Tests the Fortran module on any transport: checks the result of each pattern against values that
! the test computes itself, and checks that wrong arguments are refused.
module interface_checks
  use checks
  use longshore
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  logical :: fault = .false.  ! option --fault: a cell is made wrong, and the test must fail
contains

  subroutine collectives(team)
    type(longshore_team), intent(inout) :: team
    integer(int32) :: counts(2)
    real(real32) :: largest
    real(real64) :: received(3)
    real(real64), allocatable :: twos(:), came(:)
    integer(int32), allocatable :: ranks(:)
    integer :: i, ierr
    counts = [team%rank(), 1]
    call team%allreduce(counts, longshore_sum)
    call check(counts(1) == team%size()*(team%size() - 1)/2 .and. counts(2) == team%size(), 'a sum over ranks')
    largest = real(team%rank(), real32)
    call team%allreduce(largest, longshore_max)
    call check(nint(largest) == team%size() - 1, 'a maximum over ranks')
    counts = team%rank() + 1
    call team%reduce(counts, longshore_sum, team%size() - 1)
    call check(counts(2) == merge(team%size()*(team%size() + 1)/2, team%rank() + 1, team%rank() == team%size() - 1), &
               'a sum at a root')
    largest = real(team%rank(), real32)
    call team%reduce(largest, longshore_max, 0)
    call check(nint(largest) == merge(team%size() - 1, team%rank(), team%rank() == 0), 'a maximum at a root')
    call team%reduce(largest, longshore_max, -1, ierr)
    call check_refused(ierr, 'the ranks are 0 to', 'a refused reduction')
    received = merge(1.5_real64, 0.0_real64, team%rank() == team%size() - 1)
    call team%broadcast(received, team%size() - 1)
    call check(all(received == 1.5_real64), 'a broadcast')
    call team%broadcast(received, team%size(), ierr)
    call check_refused(ierr, 'the ranks are 0 to', 'a refused broadcast')
    allocate (ranks(team%size()), twos(2*team%size()), came(2*team%size()))
    call team%allgather(team%rank(), ranks)
    call check(all(ranks == [(i, i=0, team%size() - 1)]), 'an allgather of scalars')
    call team%allgather([real(team%rank(), real64), -1.0_real64], twos)
    call check(all(nint(twos(1::2)) == ranks .and. nint(twos(2::2)) == -1), 'an allgather of vectors')
    twos = [(real(100*team%rank() + i, real64), i=0, 2*team%size() - 1)]
    call team%alltoall(twos, came)
    call check(all(nint(came(2::2)) == [(100*i + 2*team%rank() + 1, i=0, team%size() - 1)]), 'an alltoall')
    call team%allgather(-1.0_real64, twos, ierr)
    call check(ierr == longshore_error_usage, 'a result of an allgather that is too long')
    call team%alltoall(twos, came(2:), ierr)
    call check(ierr == longshore_error_usage, 'a number of elements that is not a multiple of the ranks')
    call check(team%nodes() >= 1 .and. len_trim(team%transport()) > 0, 'properties of the run')
    call check(len_trim(longshore_version()) >= 5, 'a version')
    call team%barrier(ierr)
    call check(ierr == longshore_ok, 'a barrier')
  end subroutine collectives

  ! Every rank updates every element, with each operation. The array is block-cyclic.
  subroutine updates(team)
    type(longshore_team), intent(inout) :: team
    integer, parameter :: operations(6) = [longshore_sum, longshore_min, longshore_max, longshore_xor, longshore_or, longshore_and]
    type(longshore_array) :: table, blocks
    type(longshore_update_plan) :: plan
    integer(int32), pointer :: mine(:)
    real(real64), pointer :: reals(:)
    integer(int64) :: n, i, k
    integer :: expected, o, r, ierr
    n = 9*team%size() + 2
    call table%create(team, longshore_int32, n, 'block-cyclic', 4_int64)
    call table%get_local(mine)
    do o = 1, size(operations)
      mine = 3
      call team%barrier()
      call plan%create(table, operations(o), 'exstack', buffer_items=8)
      call plan%run([(i, i=0, n/2 - 1)], [(value(i, team%rank()), i=0, n/2 - 1)])
      call check(plan%strategy() == 'exstack', 'the strategy of an update')
      call plan%free()
      call table%update([(i, i=n/2, n - 1)], [(value(i, team%rank()), i=n/2, n - 1)], operations(o), strategy='exstack')
      call team%barrier()
      do k = 0, table%local_size() - 1
        expected = 3
        do r = 0, team%size() - 1
          expected = combined(operations(o), expected, value(table%index(k), r))
        end do
        call check(mine(k) == expected, 'an updated element')
        call check(mod(table%index(k)/4, int(team%size(), int64)) == team%rank(), 'a block of a rank')
      end do
      call team%barrier()
    end do
    call table%update([0_int64], [1_int32], 7, ierr=ierr)
    call check_refused(ierr, 'LONGSHORE_XOR', 'an unknown operation')
    call table%free()
    call table%create(team, longshore_float64, n)
    call table%update([n - 1], [-2.5_real64], longshore_min, strategy='exstack')
    call team%barrier()
    call table%get_local(reals)
    if (team%rank() == team%size() - 1) call check(reals(table%local_size() - 1) == -2.5_real64, 'the smallest of reals')
    call table%free()
    call blocks%create(team, longshore_int32, n, 'block-cyclic', ierr=ierr)
    call check_refused(ierr, 'together', 'block-cyclic without block_items')
  contains
    integer(int32) function value(i, rank)
      integer(int64), intent(in) :: i
      integer, intent(in) :: rank
      value = int(mod(i*31 + rank*17, 23_int64), int32) - 11
    end function value

    integer function combined(operation, a, b)
      integer, intent(in) :: operation, a, b
      select case (operation)
      case (longshore_sum)
        combined = a + b
      case (longshore_min)
        combined = min(a, b)
      case (longshore_max)
        combined = max(a, b)
      case (longshore_xor)
        combined = ieor(a, b)
      case (longshore_or)
        combined = ior(a, b)
      case default
        combined = iand(a, b)
      end select
    end function combined
  end subroutine updates

  subroutine gather_and_scatter(team, distribution, strategy)
    type(longshore_team), intent(inout) :: team
    character(len=*), intent(in) :: distribution, strategy
    type(longshore_array) :: table, counts
    type(longshore_gather_plan) :: plan
    type(longshore_histogram_plan) :: add
    real(real64), pointer :: mine(:)
    integer(int32), pointer :: counted(:)
    integer(int64) :: n, k, indices(100)
    real(real64) :: values(100)
    real(real32) :: wrong_kind(100)
    integer :: ierr
    n = 31*team%size() + 4
    call table%create(team, longshore_float64, n, distribution)
    call table%get_local(mine)
    call check(lbound(mine, 1) == 0 .and. size(mine, kind=int64) == table%local_size(), 'a part of an array')
    call check(table%size() == n, 'the size of an array')
    do k = 0, table%local_size() - 1
      call check(table%owner(table%index(k)) == team%rank(), 'the owner of an element')
      mine(k) = 0.5_real64*real(table%index(k), real64)
    end do
    call team%barrier()
    indices = [(mod(k*7919 + team%rank(), n), k=1, 100)]
    call table%gather(indices, values, strategy=strategy)
    call check(all(values == 0.5_real64*real(indices, real64)), 'gathered values')
    call plan%create(table, expected_requests=-1_int64, ierr=ierr)
    call check_refused(ierr, 'expected_requests', 'a negative number of requests')
    call plan%create(table, strategy, buffer_items=16, expected_requests=100_int64)
    values = 0
    call plan%run(indices(2:51), values(2:51))
    call check(all(values(2:51) == 0.5_real64*real(indices(2:51), real64)) .and. values(52) == 0, 'values by a plan')
    call check(plan%strategy() == strategy, 'the strategy of a plan')
    call plan%run(indices, wrong_kind, ierr)
    call check(ierr == longshore_error_usage, 'values of another kind')
    call plan%run(indices, values(:99), ierr)
    call check(ierr == longshore_error_usage, 'fewer values than indices')
    call plan%free()
    call team%barrier()
    values(:2) = -1
    call table%scatter([int(team%rank(), int64), n - 1], values(:2), strategy=strategy)
    call team%barrier()
    do k = 0, table%local_size() - 1
      if (table%index(k) < team%size() .or. table%index(k) == n - 1) call check(mine(k) == -1, 'a scattered value')
    end do
    call table%free()

    call counts%create(team, longshore_int32, int(team%size(), int64), 'cyclic')
    call add%create(counts, strategy)
    call add%run([(int(k, int64), k=0, team%size() - 1)])
    call add%run([(int(k, int64), k=0, team%size() - 1)], [(5_int32, k=1, team%size())])
    call team%barrier()
    call counts%get_local(counted)
    call check(counted(0) == 6*team%size(), 'a count')
    call add%free()
    call counts%free()
    call table%create(team, longshore_int32, 10_int64, 'diagonal', ierr=ierr)
    call check_refused(ierr, 'block, cyclic', 'a refused distribution')
  end subroutine gather_and_scatter

  ! The value of cell (x, y, z) of the periodic domain. Cells are counted from 0.
  integer function cell(x, y, z, cells, salt)
    integer, intent(in) :: x, y, z, cells(3), salt
    cell = salt + modulo(x, cells(1)) + 50*(modulo(y, cells(2)) + 50*modulo(z, cells(3)))
  end function cell

  ! Three dimensions: two arrays in one call. One array has other lower bounds, the other array is
  ! every second cell of a larger array.
  subroutine halo_3(team, mode)
    type(longshore_team), intent(inout) :: team
    character(len=*), intent(in) :: mode
    integer, parameter :: n(3) = [4, 3, 5]
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    real(real64), allocatable, target :: u(:, :, :), wide(:, :, :)
    integer :: at(3), all_cells(3), x, y, z, use, ierr
    logical :: complete
    call grid%create(team)
    at = grid%coordinates()*n
    all_cells = grid%shape()*n
    allocate (u(-1:n(1) + 2, 0:n(2) + 3, 5:n(3) + 8), wide(2*(n(1) + 4), n(2) + 4, 2*(n(3) + 4)))
    call halo%create(grid, width=2, mode=mode)
    do use = 1, 3
      u = -1
      wide = -1
      do z = 1, n(3)
        do y = 1, n(2)
          do x = 1, n(1)
            u(x, y + 1, z + 6) = cell(at(1) + x, at(2) + y, at(3) + z, all_cells, use)
            wide(2*(x + 2) - 1, y + 2, 2*(z + 2)) = cell(at(1) + x, at(2) + y, at(3) + z, all_cells, use + 7)
          end do
        end do
      end do
      call team%barrier()
      if (use < 3) then
        call halo%exchange(u, wide(::2, :, 2::2))
      else
        call halo%start(u, wide(::2, :, 2::2))
        complete = .false.
        do while (.not. complete)
          call halo%test(complete)
        end do
      end if
      if (fault) u(0, 2, 7) = -9
      do z = -1, n(3) + 2
        do y = -1, n(2) + 2
          do x = -1, n(1) + 2
            call check(nint(u(x, y + 1, z + 6)) == cell(at(1) + x, at(2) + y, at(3) + z, all_cells, use), 'a cell')
            call check(nint(wide(2*(x + 2) - 1, y + 2, 2*(z + 2))) == cell(at(1) + x, at(2) + y, at(3) + z, all_cells, use + 7), &
                       'a cell of a section')
            call check(wide(2*(x + 2), y + 2, 2*(z + 2)) == -1, 'a cell between those of a section')
          end do
        end do
      end do
    end do
    call halo%exchange(wide(::2, :, 2::2), u, ierr=ierr)
    call check(ierr == longshore_error_usage, 'other arrays than the planned ones')
    call halo%exchange(u, ierr=ierr)
    call check(ierr == longshore_error_usage, 'fewer arrays than the planned ones')
    call halo%exchange(u(:n(1) + 1, :, :), wide(::2, :, 2::2), ierr=ierr)
    call check(ierr == longshore_error_usage, 'other shapes than the planned ones')
    call halo%free()
    call halo%create(grid, width=2)
    call halo%exchange(u(:, :3, :), ierr=ierr)
    call check_refused(ierr, 'an array of 4 cells along dimension 2 has no interior between halos of 2 and 2 cells', &
                       'an array without interior cells')
    call halo%exchange(u, u(:, :4, :), ierr=ierr)
    call check(ierr == longshore_error_usage, 'a second array without interior cells')
    call halo%exchange(u, ierr=ierr)
    call check(ierr == longshore_ok, 'the first array after a refused call')
    call halo%free()
    call halo%create(grid, low=[0, 0, 0], high=[0, 0, 1])
    call halo%exchange(wide(:n(1):1, :, :), ierr=ierr)
    call check(ierr == longshore_ok, 'a part of an array')
    call halo%exchange(wide(:2*n(1) - 1:2, :, :), ierr=ierr)
    call check(ierr == longshore_error_usage, 'the same first cell and extents, but other strides')
    call halo%free()
    call halo%create(grid, low=[1, 1, 1, 1], high=[1, 1, 1], ierr=ierr)
    call check(ierr == longshore_error_usage, 'a halo of four dimensions')
    call halo%create(grid, width=1, mode='telepathy')
    call halo%exchange(u, ierr=ierr)
    call check(ierr == longshore_error_usage, 'an unknown mode')
    call halo%exchange(u, ierr=ierr)
    call check_refused(ierr, 'isend-recv', 'an unknown mode')
    call grid%free()
  end subroutine halo_3

  ! Two dimensions: fields of several kinds in one exchange, widths per side, and memory that the
  ! ranks of the node can read.
  subroutine halo_2(team)
    type(longshore_team), intent(inout) :: team
    integer, parameter :: n(2) = [6, 4]
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    real(real32), pointer :: u(:, :)
    integer(int64), allocatable, target :: v(:, :)
    complex(real64), allocatable, target :: z(:, :)
    complex(real32), pointer :: narrow(:, :)
    integer :: at(3), all_cells(3), x, y, ierr
    call grid%create(team, ranks=[1, 1, 1, 1], ierr=ierr)
    call check(ierr == longshore_error_usage, 'a grid of four dimensions')
    call grid%create(team, dimensions=2, cells=[1000, 1])  ! no dimension gets more ranks than cells
    at = grid%shape()
    call check(at(1) == team%size() .and. at(2) == 1, 'a grid for a flat domain')
    call grid%free()
    call grid%create(team, dimensions=2, cells=[4, 4, 4, 4], ierr=ierr)
    call check(ierr == longshore_error_usage, 'a domain of four dimensions')
    call grid%create(team, dimensions=2)
    call grid%piece(0, 10, x, y, ierr)
    call check(ierr == longshore_error_usage .and. x == 1 .and. y == 0, 'a piece along dimension 0')
    call grid%block([4, 4, 4, 4], at, all_cells, ierr)
    call check(ierr == longshore_error_usage, 'a block of four dimensions')
    call check(grid%neighbour([0, 0]) == team%rank(), 'the rank at distance 0')
    at = grid%coordinates()
    all_cells = grid%shape()
    at(:2) = at(:2)*n
    all_cells(:2) = all_cells(:2)*n
    call grid%allocate(u, n, 2)
    call check(all(lbound(u) == -1) .and. all(ubound(u) == n + 2), 'bounds of an allocated field')
    call grid%allocate(narrow, n, 2)
    allocate (v(-1:n(1) + 2, -1:n(2) + 2), z(-1:n(1) + 2, -1:n(2) + 2))
    u = -1
    v = -1
    z = -1
    narrow = -1
    do y = 1, n(2)
      do x = 1, n(1)
        u(x, y) = real(cell(at(1) + x, at(2) + y, 0, all_cells, 0), real32)
        v(x, y) = cell(at(1) + x, at(2) + y, 0, all_cells, 3)
        z(x, y) = cmplx(v(x, y), -2*v(x, y), real64)
        narrow(x, y) = cmplx(-u(x, y), u(x, y), real32)
      end do
    end do
    call halo%create(grid, low=[2, 2], high=[2, 2], algorithm='staged')
    call halo%add(u)
    call halo%add(v)
    call halo%add(z)
    call halo%add(narrow)
    call halo%exchange()
    call check(halo%algorithm() == 'staged' .and. halo%payload_bytes() > 0, 'properties of a plan')
    do y = -1, n(2) + 2
      do x = -1, n(1) + 2
        call check(nint(u(x, y)) == cell(at(1) + x, at(2) + y, 0, all_cells, 0), 'a cell of real32')
        call check(v(x, y) == cell(at(1) + x, at(2) + y, 0, all_cells, 3), 'a cell of int64')
        call check(z(x, y) == cmplx(v(x, y), -2*v(x, y), real64), 'a complex cell')
        call check(narrow(x, y) == cmplx(-u(x, y), u(x, y), real32), 'a complex cell of real32')
      end do
    end do
    call grid%deallocate(u, ierr)
    call check(ierr == longshore_error_usage .and. associated(u), 'a field that a halo still uses')
    call halo%free()
    call grid%deallocate(u, ierr)
    call check(ierr == longshore_ok .and. .not. associated(u), 'a deallocated field')
    call halo%create(grid, width=2)
    call halo%exchange(z)
    call halo%exchange(narrow, ierr=ierr)
    call check(ierr == longshore_error_usage, 'a complex array of another kind than the planned one')
    call halo%free()
    call grid%deallocate(narrow)
    call grid%deallocate(u, ierr)
    call check(ierr == longshore_error_usage, 'a field that was not allocated')
  end subroutine halo_2

  ! One dimension with borders.
  subroutine halo_1(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    integer(int32), allocatable, target :: u(:)
    integer :: first, count, i
    call grid%create(team, dimensions=1, periodic=[.false.])
    if (grid%neighbour([-1]) /= merge(-1, team%rank() - 1, team%rank() == 0)) error stop 'an open border has a neighbour'
    call grid%piece(1, 10*team%size() + 1, first, count)
    allocate (u(first - 1:first + count))
    u = -1
    u(first:first + count - 1) = [(i, i=first, first + count - 1)]
    call halo%create(grid, width=1, mode='channel')
    call halo%start(u)
    call halo%wait()
    call check(u(first - 1) == merge(-1, first - 1, first == 1), 'the halo below')
    call check(u(first + count) == merge(-1, first + count, first + count > 10*team%size() + 1), 'the halo above')
    call halo%free()
    call grid%free()
  end subroutine halo_1

  ! Objects that were not created or were freed, vectors that are not allocated, a very long text,
  ! and a field with more cells than a default integer can count.
  subroutine missing_objects(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_array) :: table
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    real(real64), target :: u(4)
    real(real32), target :: cell
    real(real64), pointer :: mine(:), field(:, :)
    real(real32), pointer :: large(:, :, :)
    integer :: first, count, ierr
    call table%get_local(mine, ierr)
    call check(ierr == longshore_error_usage, 'the elements of an array that was not created')
    call grid%piece(1, 10, first, count, ierr)
    call check(ierr == longshore_error_usage .and. count == 0, 'a piece of a grid that was not created')
    call halo%exchange(u, ierr=ierr)
    call check_refused(ierr, 'before it was created', 'a halo that was not created')
    call halo%add(u, ierr)
    call check(ierr == longshore_error_usage, 'a field of a halo that was not created')
    call halo%plan(ierr)
    call check(ierr == longshore_error_usage, 'a plan of a halo that was not created')
    call halo%create(grid, width=1, ierr=ierr)
    call check_refused(ierr, 'grid that was not created', 'a halo on a grid that was not created')
    call grid%create(team, dimensions=1, placement=repeat('far away ', 60), ierr=ierr)
    call check(ierr == longshore_error_usage, 'a very long text')
    call grid%create(team, dimensions=1)
    call halo%create(grid, width=1)
    call halo%exchange(u)
    call halo%free()
    call halo%exchange(u, ierr=ierr)
    call check_refused(ierr, 'freed', 'a halo that was freed')
    call grid%free()
    call grid%create(team, dimensions=2)
    call grid%allocate(field, [-8, -8], 1, ierr)
    call check(ierr == longshore_error_usage .and. .not. associated(field), 'a field with a negative number of cells')
    call grid%free()
    call grid%create(team)
    call halo%create(grid, width=1)
    call c_f_pointer(c_loc(cell), large, [4096, 1024, 1024])  ! no element of large is accessed
    call halo%add(large, ierr)
    call check(ierr == longshore_ok, 'a field of 2^32 cells')
    call halo%free()
    call grid%free()
  end subroutine missing_objects

  subroutine sorting(team)
    type(longshore_team), intent(inout) :: team
    integer(int32), allocatable, target :: keys(:)
    real(real64), allocatable, target :: reals(:)
    integer(int64), allocatable, target :: values(:), few(:), with(:)
    integer(int64) :: found
    integer :: i, lowest(1), ierr
    keys = [(mod(i*7919 + team%rank(), 1000) - 500, i=1, 400)]
    values = int(keys, int64)*3
    call longshore_sort(team, keys, values)
    call check(all(keys(2:) >= keys(:size(keys) - 1)) .and. all(values == int(keys, int64)*3), 'sorted keys with their values')
    found = size(keys)
    call team%allreduce(found, longshore_sum)
    call check(found == 400*team%size(), 'the number of keys')
    reals = [(sin(real(i + 400*team%rank(), real64)), i=1, 400)]
    call longshore_sort(team, reals, exchange='sendrecv')
    call check(all(reals(2:) >= reals(:size(reals) - 1)), 'sorted reals')
    lowest = huge(1)
    if (size(reals) > 0) lowest = nint(1e6*reals(1))
    call team%allreduce(lowest, longshore_min)
    if (team%rank() == 0) call check(size(reals) > 0 .and. lowest(1) == nint(1e6*reals(1)), 'the smallest key on rank 0')
    if (team%rank() > 0) few = [(int(2, int64)**mod(i, 40), i=1, 40)]  ! unallocated on rank 0
    if (team%rank() > 0) with = -few
    call longshore_sort(team, few, with, exchange='put', splitters='sampled', order='random', together=.true., seed=7_int64, &
                        barrier_before_exchange=.true., tasks='threads', task_count=2)
    call check(all(few(2:) >= few(:size(few) - 1)) .and. all(with == -few), 'keys on all ranks but one')
    found = size(few)
    call team%allreduce(found, longshore_sum)
    call check(found == 40*(team%size() - 1), 'the number of keys of all ranks but one')
    deallocate (few)
    call longshore_sort(team, few)
    call check(size(few) == 0, 'no keys at all')
    call longshore_sort(team, reals, max_key=5_int64, ierr=ierr)
    call check(ierr == longshore_error_usage, 'max_key of reals')
    call longshore_sort(team, reals, splitters='sampled')
    call check(all(reals(2:) >= reals(:size(reals) - 1)), 'sorted reals, by a sample')
    call longshore_sort(team, reals, order='sideways', ierr=ierr)
    call check_refused(ierr, 'round-robin', 'an unknown order')
    call longshore_sort(team, reals, tasks='elves', ierr=ierr)
    call check_refused(ierr, 'openmp', 'an unknown tasking layer')
  end subroutine sorting

  subroutine streams(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_stream) :: stream
    integer :: ierr
    call stream%create(team, 1000_int64, kernel='add', element_type=longshore_float32)
    call stream%run()
    call check(stream%wrong() == 0 .and. stream%bytes() == 12000, 'a run of STREAM')
    call stream%free()
    call stream%create(team, 1000_int64, stores='streaming', first_touch='serial')
    call stream%run()
    call check(stream%wrong() == 0, 'a run of STREAM with streaming stores')
    call stream%free()
    call stream%create(team, 1000_int64, stores='grocery', ierr=ierr)
    call check_refused(ierr, 'ordinary, streaming', 'unknown stores')
    call stream%create(team, 1000_int64, first_touch='last', ierr=ierr)
    call check_refused(ierr, 'auto, serial, parallel', 'an unknown first touch')
    call stream%create(team, 1000_int64, kernel='cubed', ierr=ierr)
    call check(ierr == longshore_error_usage, 'an unknown kernel')
  end subroutine streams

  ! The last rank passes something else, and all ranks get the same error.
  subroutine other_arguments(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_array) :: table
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    type(longshore_gather_plan) :: gather
    real(real64), target :: u(3, 3, 3)
    integer(int32), allocatable :: keys(:)
    logical :: is_other
    integer :: ierr
    if (team%size() == 1) return
    is_other = team%rank() == team%size() - 1
    call table%create(team, merge(longshore_int64, longshore_float64, is_other), 100_int64, ierr=ierr)
    call check_refused(ierr, 'float64', 'tables of different types')
    call table%create(team, longshore_int64, 100_int64)
    call gather%create(table, merge('conveyor', 'exstack ', is_other), ierr=ierr)
    call check_refused(ierr, 'conveyor', 'gathers by different strategies')
    call table%free()
    call grid%create(team)
    call halo%create(grid, width=1, mode=merge('channel', 'direct ', is_other))
    u = 0
    call halo%exchange(u, ierr=ierr)
    call check_refused(ierr, 'channel', 'halos of different modes')
    call halo%free()
    call halo%create(grid, width=1, algorithm=merge('faces   ', 'standard', is_other))
    call halo%exchange(u, ierr=ierr)
    call check_refused(ierr, 'faces', 'halos of different algorithms')
    call halo%free()
    call grid%free()
    allocate (keys(10), source=1)
    call longshore_sort(team, keys, max_key=merge(9_int64, 99_int64, is_other), ierr=ierr)
    call check_refused(ierr, '99', 'sorts up to different keys')
    call longshore_sort(team, keys, order=merge('rnd   ', 'random', is_other), ierr=ierr)
    call check(ierr /= longshore_ok .and. index(longshore_error_message(), 'rnd') > 0, 'an order of one rank')
  end subroutine other_arguments

  subroutine run_all_checks(team)
    type(longshore_team), intent(inout) :: team
    call other_arguments(team)
    call collectives(team)
    call gather_and_scatter(team, 'block', 'exstack')
    call gather_and_scatter(team, 'cyclic', 'conveyor')
    call updates(team)
    call halo_3(team, 'direct')
    call halo_3(team, 'channel')
    call halo_2(team)
    call halo_1(team)
    call missing_objects(team)
    call sorting(team)
    call streams(team)
  end subroutine run_all_checks

  subroutine stops(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_array) :: table
    call table%create(team, longshore_int32, 10_int64, &
                      merge('diagonal', 'cyclic  ', team%rank() == team%size() - 1))
    call team%barrier()
    print '(a)', 'it continued'
  end subroutine stops
end module interface_checks

program interface_test
  use interface_checks
  implicit none
  character(len=16) :: word
  call get_command_argument(1, word)
  fault = word == '--fault'
  if (word == '--stop') call longshore_run(stops)
  call longshore_run(run_all_checks)
end program interface_test
