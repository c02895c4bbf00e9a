! Tests layouts, exchanges and copies of boxes of the Fortran module. Every rank computes the cells of
! all ranks itself.
module box_checks
  use checks
  use longshore
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  integer, parameter :: origin(2) = [-2, 5], n(2) = [12, 7]  ! the domain, which is periodic along x
  integer, parameter :: low(2) = [2, 1], high(2) = [1, 2], one(2) = 1, none(2) = 0

  ! The boxes of all ranks by their numbers, and their owners.
  type :: decomposition
    integer :: count = 0
    integer :: first(2, 8), cells(2, 8), owner(8)
  end type decomposition

  ! The arrays of a box: cells, complex cells, vertices.
  type :: box_arrays
    real(real64), allocatable :: u(:, :)
    complex(real32), allocatable :: z(:, :)
    integer(int32), allocatable :: v(:, :)
  end type box_arrays
contains
  subroutine run_all(team)
    type(longshore_team), intent(inout) :: team
    call exchanges(team, 'direct')
    call exchanges(team, 'channel')
    call copies(team)
    call other_ranks_of_arrays(team)
    call errors(team)
  end subroutine run_all

  ! Cuts the domain at xs and ys. Of several ranks, the last one gets no box, or the first one if
  ! is_reversed.
  function cut(ranks, xs, ys, is_reversed) result(cuts)
    integer, intent(in) :: ranks, xs(:), ys(:)
    logical, intent(in) :: is_reversed
    type(decomposition) :: cuts
    integer :: rank, i, owner, part(2)
    do rank = 0, ranks - 1
      do i = 0, (size(xs) - 1)*(size(ys) - 1) - 1
        owner = mod(5*i, max(ranks - 1, 1))
        if (is_reversed) owner = ranks - 1 - owner
        if (owner /= rank) cycle
        cuts%count = cuts%count + 1
        part = [mod(i, size(xs) - 1), i/(size(xs) - 1)] + 1
        cuts%first(:, cuts%count) = origin + [xs(part(1)), ys(part(2))]
        cuts%cells(:, cuts%count) = [xs(part(1) + 1) - xs(part(1)), ys(part(2) + 1) - ys(part(2))]
        cuts%owner(cuts%count) = rank
      end do
    end do
  end function cut

  ! The place of a cell in the domain; 0 beyond it. `shared` is 1 for vertices.
  integer function place_of(shared, x, y) result(place)
    integer, intent(in) :: shared, x, y
    place = 0
    if (y < origin(2) .or. y >= origin(2) + n(2) + shared) return
    place = 1 + modulo(x - origin(1), n(1)) + n(1)*(y - origin(2))
  end function place_of

  integer function value_of(box, x, y)
    integer, intent(in) :: box, x, y
    value_of = mod(37*box + 11*(x + 9) + 5*(y + 9), 64) + 1
  end function value_of

  logical function is_inside(cuts, box, shared, x, y)
    type(decomposition), intent(in) :: cuts
    integer, intent(in) :: box, shared, x, y
    associate (first => cuts%first(:, box), cells => cuts%cells(:, box))
      is_inside = x >= first(1) .and. y >= first(2) .and. x < first(1) + cells(1) + shared .and. y < first(2) + cells(2) + shared
    end associate
  end function is_inside

  ! The sums and maxima over all copies of each place, and the boxes that own the places.
  subroutine combine_all(cuts, shared, low, high, sums, maxima, owners)
    type(decomposition), intent(in) :: cuts
    integer, intent(in) :: shared, low(2), high(2)
    integer, intent(out) :: sums(:), maxima(:), owners(:)
    integer :: box, x, y, place
    sums = 0
    maxima = 0
    owners = 0
    do box = 1, cuts%count
      do y = cuts%first(2, box) - low(2), cuts%first(2, box) + cuts%cells(2, box) + shared + high(2) - 1
        do x = cuts%first(1, box) - low(1), cuts%first(1, box) + cuts%cells(1, box) + shared + high(1) - 1
          place = place_of(shared, x, y)
          if (place == 0) cycle
          sums(place) = sums(place) + value_of(box, x, y)
          maxima(place) = max(maxima(place), value_of(box, x, y))
          if (owners(place) == 0 .and. is_inside(cuts, box, shared, x, y)) owners(place) = box
        end do
      end do
    end do
  end subroutine combine_all

  ! The values that owners have after copies were mixed in, in the order of their boxes.
  subroutine mix_all(cuts, field, shared, low, high, owners, mixes)
    type(decomposition), intent(in) :: cuts
    integer, intent(in) :: field, shared, low(2), high(2), owners(:)
    integer, intent(out) :: mixes(:)
    integer :: turn, box, x, y, place
    logical :: is_owner
    do turn = 1, 2  ! owners, and then copies
      do box = 1, cuts%count
        do y = cuts%first(2, box) - low(2), cuts%first(2, box) + cuts%cells(2, box) + shared + high(2) - 1
          do x = cuts%first(1, box) - low(1), cuts%first(1, box) + cuts%cells(1, box) + shared + high(1) - 1
            place = place_of(shared, x, y)
            if (place == 0) cycle
            is_owner = owners(place) == box .and. is_inside(cuts, box, shared, x, y)
            if (turn == 1 .and. is_owner) mixes(place) = value_of(box, x, y)
            if (turn == 2 .and. .not. is_owner) mixes(place) = mixed(field, mixes(place), value_of(box, x, y))
          end do
        end do
      end do
    end do
  end subroutine mix_all

  subroutine mix(batch)
    type(longshore_combine_batch), intent(in) :: batch
    real(real64), pointer :: u, of_u
    complex(real32), pointer :: z, of_z
    integer(int32), pointer :: v, of_v
    integer(int64) :: i
    do i = 1, batch%count
      select case (batch%field)
      case (1)
        call batch%get_pair(i, u, of_u)
        u = mixed(1, nint(u), nint(of_u))
      case (2)
        call batch%get_pair(i, z, of_z)
        z = cmplx(mixed(2, nint(real(z)), nint(real(of_z))), -mixed(2, -nint(aimag(z)), -nint(aimag(of_z))), real32)
      case (3)
        call batch%get_pair(i, v, of_v)
        v = mixed(3, v, of_v)
      end select
    end do
  end subroutine mix

  ! What a cell gets (checks is .false.), or has after an operation, which takes halos of low and high
  ! cells. Cells of a box are counted from 1.
  integer function result_at(cuts, shared, low, high, box, x, y, checks, places, is_assembled, sums, owners) result(right)
    type(decomposition), intent(in) :: cuts
    integer, intent(in) :: shared, low(2), high(2), box, x, y, sums(:), owners(:)
    logical, intent(in) :: checks, places, is_assembled
    integer :: at(2), place
    logical :: is_own, is_result
    is_result = checks .and. all([x, y] > -low) .and. all([x, y] <= cuts%cells(:, box) + shared + high)
    at = cuts%first(:, box) + [x, y] - 1
    place = place_of(shared, at(1), at(2))
    is_own = is_inside(cuts, box, shared, at(1), at(2))
    if (places) then
      right = merge(place, -1, place > 0 .and. (is_result .or. is_own))
    else
      right = value_of(box, at(1), at(2))
      if (.not. is_result .or. place == 0) return
      if (is_assembled .or. (is_own .and. owners(place) == box)) right = sums(place)
    end if
  end function result_at

  subroutine make_boxes(team, cuts, boxes)
    type(longshore_team), intent(inout) :: team
    type(decomposition), intent(in) :: cuts
    type(longshore_boxes), intent(inout) :: boxes
    integer :: box, first(2), cells(2), begin, last
    begin = count(cuts%owner(:cuts%count) < team%rank()) + 1
    last = count(cuts%owner(:cuts%count) <= team%rank())
    call boxes%create(team, cuts%first(:, begin:last), cuts%cells(:, begin:last), domain_first=origin, domain_cells=n, &
                      periodic=[.true., .false.])
    call check(boxes%count() == last - begin + 1 .and. boxes%total() == cuts%count, 'the numbers of boxes')
    call check(boxes%first(team%rank()) == begin .and. boxes%first(-1) == 0, 'the first box of a rank')
    call check(boxes%owner(cuts%count + 1) == -1, 'the owner of no box')
    do box = 1, cuts%count
      call boxes%get(box, first, cells)
      call check(all(first == cuts%first(:, box)) .and. all(cells == cuts%cells(:, box)), 'a box')
      call check(boxes%owner(box) == cuts%owner(box), 'the owner of a box')
    end do
  end subroutine make_boxes

  subroutine exchanges(team, mode)
    type(longshore_team), intent(inout) :: team
    character(len=*), intent(in) :: mode
    type(decomposition) :: cuts
    type(longshore_boxes) :: boxes
    type(longshore_box_fields) :: fields
    type(longshore_box_exchange) :: halos
    type(box_arrays), allocatable, target :: b(:)
    logical :: complete, is_mixed
    integer :: i, begin, turn, part, ierr
    integer, parameter :: nothing = -99
    integer :: taken_low(2, 3), taken_high(2, 3)  ! of each field, what operations take
    integer, allocatable :: some(:), few_low(:), few_high(:)
    is_mixed = .false.
    cuts = cut(team%size(), [0, 3, 5, 9, 12], [0, 2, 7], .false.)
    call make_boxes(team, cuts, boxes)
    begin = boxes%first(team%rank()) - 1
    allocate (b(boxes%count()))
    call fields%create(boxes)
    call fields%add_field(0.0_real64, low=low, high=high)
    do i = 1, boxes%count()
      associate (cells => cuts%cells(:, begin + i))
        allocate (b(i)%u(-1:cells(1) + 1, 0:cells(2) + 2))
        allocate (b(i)%z(0:2*cells(1) + 3, 7:cells(2) + 8), b(i)%v(cells(1) + 1, cells(2) + 1))
      end associate
      call fields%add(i, b(i)%u)
    end do
    call fields%add_field((0.0_real32, 0.0_real32), width=1)
    do i = 1, boxes%count()
      call fields%add(i, b(i)%z(::2, :))  ! a section with strides
    end do
    call fields%add_field(0_int32, shared=one)
    do i = 1, boxes%count()
      call fields%add(i, b(i)%v)
    end do
    call halos%create(fields, mode=mode)
    call boxes%free()
    taken_low = reshape([low, one, none], [2, 3])
    taken_high = reshape([high, one, none], [2, 3])
    do part = 1, 2
      if (part == 2) then  ! some fields, and a smaller halo
        some = [3, 1]
        few_low = [1, 0]
        few_high = [1, 1]
        taken_low = reshape([1, 0, nothing, nothing, 0, 0], [2, 3])
        taken_high = reshape([1, 1, nothing, nothing, 0, 0], [2, 3])
      end if
      do turn = 1, 2
        call each_cell(.false., .true., .false., .false.)
        call team%barrier()
        if (turn == 1) then
          call halos%update(fields=some, low=few_low, high=few_high)
        else
          call halos%start_update(fields=some, low=few_low, high=few_high)
          complete = .false.
          do while (.not. complete)
            call halos%test(complete)
          end do
        end if
        call each_cell(.true., .true., .false., .false.)
      end do
      do turn = 1, 8
        is_mixed = turn > 4
        call each_cell(.false., .false., .false., .false.)
        call team%barrier()
        select case (turn)
        case (1)
          call halos%accumulate(longshore_sum, fields=some, low=few_low, high=few_high)
        case (2)
          call halos%assemble(longshore_sum, fields=some, low=few_low, high=few_high)
        case (3)
          call halos%start_accumulate(longshore_sum, fields=some, low=few_low, high=few_high)
          call halos%free(ierr)
          call check_refused(ierr, 'in flight', 'a plan in flight is freed')
          call halos%wait()
        case (4)
          call halos%start_assemble(longshore_sum, fields=some, low=few_low, high=few_high)
          call halos%wait()
        case (5)
          call halos%accumulate_by(mix, fields=some, low=few_low, high=few_high)
        case (6)
          call halos%assemble_by(mix, fields=some, low=few_low, high=few_high)
        case (7)
          call halos%start_accumulate_by(mix, fields=some, low=few_low, high=few_high)
          call halos%wait()
        case (8)
          call halos%start_assemble_by(mix, fields=some, low=few_low, high=few_high)
          call halos%wait()
        end select
        call each_cell(.true., .false., mod(turn, 2) == 0, .false.)
      end do
    end do
    is_mixed = .false.
    call halos%accumulate(longshore_max, ierr=ierr)
    call check_refused(ierr, 'longshore_sum only', 'a maximum of complex numbers')
    call halos%accumulate(longshore_max, ierr=ierr, fields=[2])
    call check_refused(ierr, 'longshore_sum only', 'a maximum of complex numbers of a part')
    call halos%accumulate(longshore_max, fields=[1, 3])
    call check(halos%payload_bytes() > 0 .or. size(b) == 0, 'bytes of an update')
    call check(halos%neighbours() < max(team%size(), 2) .and. halos%memory_bytes() >= 0, 'properties of a plan')
    call halos%free()
    ! a maximum of the vertices alone
    call make_boxes(team, cuts, boxes)
    call fields%create(boxes)
    call fields%add_field(0_int32, shared=one)
    do i = 1, size(b)
      call fields%add(i, b(i)%v)
    end do
    call halos%create(fields, mode=mode)
    call each_cell(.false., .false., .false., .false.)
    call team%barrier()
    call halos%assemble(longshore_max)
    call each_cell(.true., .false., .true., .true.)
    call halos%free()
    call boxes%free()
  contains
    ! Fills or checks all arrays. `places`: the numbers of places, which an update brings to halos.
    ! Otherwise values, which are summed up, or of which the vertices have the maximum.
    subroutine each_cell(checks, places, is_assembled, is_maximum)
      logical, intent(in) :: checks, places, is_assembled, is_maximum
      integer :: sums(n(1)*(n(2) + 1)), maxima(n(1)*(n(2) + 1)), owners(n(1)*(n(2) + 1)), box, k, x, y, right
      call combine_all(cuts, 0, taken_low(:, 1), taken_high(:, 1), sums, maxima, owners)
      if (is_mixed) call mix_all(cuts, 1, 0, taken_low(:, 1), taken_high(:, 1), owners, sums)
      do k = 1, size(b)
        box = begin + k
        do y = lbound(b(k)%u, 2), ubound(b(k)%u, 2)
          do x = lbound(b(k)%u, 1), ubound(b(k)%u, 1)
            right = result_at(cuts, 0, taken_low(:, 1), taken_high(:, 1), box, x, y, checks, places, is_assembled, sums, owners)
            if (.not. checks) b(k)%u(x, y) = right
            if (.not. is_maximum) call check(nint(b(k)%u(x, y)) == right, 'a cell of an array')
          end do
        end do
      end do
      call combine_all(cuts, 0, taken_low(:, 2), taken_high(:, 2), sums, maxima, owners)
      if (is_mixed) call mix_all(cuts, 2, 0, taken_low(:, 2), taken_high(:, 2), owners, sums)
      do k = 1, size(b)
        box = begin + k
        do y = 0, cuts%cells(2, box) + 1
          do x = 0, cuts%cells(1, box) + 1
            right = result_at(cuts, 0, taken_low(:, 2), taken_high(:, 2), box, x, y, checks, places, is_assembled, sums, owners)
            if (.not. checks) b(k)%z(2*x, y + 7) = cmplx(right, -right, real32)
            if (.not. checks) b(k)%z(2*x + 1, y + 7) = -5
            if (is_maximum) cycle
            call check(nint(real(b(k)%z(2*x, y + 7))) == right .and. nint(aimag(b(k)%z(2*x, y + 7))) == -right, 'a complex cell')
            call check(nint(real(b(k)%z(2*x + 1, y + 7))) == -5, 'a cell that is not in the section')
          end do
        end do
      end do
      call combine_all(cuts, 1, taken_low(:, 3), taken_high(:, 3), sums, maxima, owners)
      if (is_mixed) call mix_all(cuts, 3, 1, taken_low(:, 3), taken_high(:, 3), owners, sums)
      if (is_maximum) sums = maxima
      do k = 1, size(b)
        box = begin + k
        do y = 1, cuts%cells(2, box) + 1
          do x = 1, cuts%cells(1, box) + 1
            right = result_at(cuts, 1, taken_low(:, 3), taken_high(:, 3), box, x, y, checks, places, is_assembled, sums, owners)
            if (.not. checks) b(k)%v(x, y) = right
            call check(b(k)%v(x, y) == right, 'a vertex')
          end do
        end do
      end do
    end subroutine each_cell
  end subroutine exchanges
  ! From slabs to pencils, with and without halos.
  subroutine copies(team)
    type(longshore_team), intent(inout) :: team
    type(decomposition) :: from, to
    type(longshore_boxes) :: from_boxes, to_boxes
    type(longshore_box_fields) :: from_fields, to_fields
    type(longshore_box_copy) :: turn
    type(box_arrays), allocatable, target :: a(:), b(:)
    logical :: fills_halos, complete
    integer :: i, x, y, place, round, ierr
    from = cut(team%size(), [0, 3, 5, 9, 12], [0, 2, 7], .false.)
    to = cut(team%size(), [0, 12], [0, 3, 4, 7], .true.)
    call make_boxes(team, from, from_boxes)
    call make_boxes(team, to, to_boxes)
    allocate (a(from_boxes%count()), b(to_boxes%count()))
    call from_fields%create(from_boxes)
    call from_fields%add_field(0.0_real64)
    do i = 1, size(a)
      associate (at => from_boxes%first(team%rank()) + i - 1)
        allocate (a(i)%u(from%cells(1, at), from%cells(2, at)))
        do y = 1, size(a(i)%u, 2)
          do x = 1, size(a(i)%u, 1)
            a(i)%u(x, y) = place_of(0, from%first(1, at) + x - 1, from%first(2, at) + y - 1)
          end do
        end do
      end associate
      call from_fields%add(i, a(i)%u)
    end do
    call to_fields%create(to_boxes)
    call to_fields%add_field(0.0_real64, width=1)
    do i = 1, size(b)
      associate (cells => to%cells(:, to_boxes%first(team%rank()) + i - 1))
        allocate (b(i)%u(0:cells(1) + 1, 0:cells(2) + 1))
      end associate
      call to_fields%add(i, b(i)%u)
    end do
    do round = 1, 4
      fills_halos = round > 2
      do i = 1, size(b)
        b(i)%u = -1
      end do
      call turn%create(from_fields, to_fields, fills_halos=fills_halos, mode=trim(merge('direct ', 'channel', mod(round, 2) == 0)))
      call team%barrier()
      if (mod(round, 2) == 0) then
        call turn%copy()
      else
        call turn%start()
        call turn%free(ierr)
        call check_refused(ierr, 'in flight', 'a copy in flight is freed')
        complete = .false.
        do while (round == 3 .and. .not. complete)
          call turn%test(complete)
        end do
        if (round == 1) call turn%wait()
      end if
      do i = 1, size(b)
        associate (first => to%first(:, to_boxes%first(team%rank()) + i - 1), u => b(i)%u)
          do y = 0, ubound(u, 2)
            do x = 0, ubound(u, 1)
              place = place_of(0, first(1) + x - 1, first(2) + y - 1)
              if (.not. fills_halos .and. (x == 0 .or. y == 0 .or. x == ubound(u, 1) .or. y == ubound(u, 2))) place = 0
              call check(nint(u(x, y)) == merge(place, -1, place > 0), 'a copied cell')
            end do
          end do
        end associate
      end do
      call check(turn%payload_bytes() > 0 .or. size(a) == 0, 'bytes of a copy')
      call turn%free()
    end do
    call from_boxes%free()
    call to_boxes%free()
  end subroutine copies

  ! Rows with a fold: the cell beyond the last one is the last one. And plates along z.
  subroutine other_ranks_of_arrays(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_boxes) :: boxes
    type(longshore_box_fields) :: fields
    type(longshore_box_exchange) :: halos
    type(longshore_glued_cells) :: fold
    integer(int64), target :: row(0:5)
    real(real32), target :: plates(2, 3, 0:3, 2)
    integer :: me, all_cells, b
    me = team%rank()
    all_cells = 4*team%size()
    fold = longshore_glued_cells(first=[all_cells + 1, 1, 1], sign=[-1, 1, 1], offset=[2*all_cells + 1, 0, 0])
    call boxes%create(team, reshape([4*me + 1], [1, 1]), reshape([4], [1, 1]), glued=[fold])
    call fields%create(boxes)
    call fields%add_field(0_int64, width=1)
    call fields%add(1, row)
    call halos%create(fields)
    row = [-1, 4*me + 1, 4*me + 2, 4*me + 3, 4*me + 4, -1]
    call team%barrier()
    call halos%update()
    call check(row(0) == merge(-1, 4*me, me == 0), 'the cell before a row')
    call check(row(5) == min(4*me + 5, all_cells), 'the cell after a row')
    call halos%free()
    call boxes%free()
    ! two plates of two layers on each rank
    call boxes%create(team, reshape([1, 1, 4*me + 1, 1, 1, 4*me + 3], [3, 2]), reshape([2, 3, 2, 2, 3, 2], [3, 2]), &
                      domain_cells=[2, 3, all_cells], periodic=[.false., .false., .true.])
    call fields%create(boxes)
    call fields%add_field(0.0_real32, low=[0, 0, 1], high=[0, 0, 1])
    plates = -1
    do b = 1, 2
      call fields%add(b, plates(:, :, :, b))
      plates(:, :, 1, b) = 4*me + 2*b - 1
      plates(:, :, 2, b) = 4*me + 2*b
    end do
    call halos%create(fields)
    call team%barrier()
    call halos%update()
    do b = 1, 2
      call check(all(nint(plates(:, :, 0, b)) == modulo(4*me + 2*b - 3, all_cells) + 1), 'the layer below a plate')
      call check(all(nint(plates(:, :, 3, b)) == modulo(4*me + 2*b, all_cells) + 1), 'the layer above a plate')
    end do
    call halos%free()
    call boxes%free()
  end subroutine other_ranks_of_arrays

  ! Wrong boxes and fields of one rank are refused on all ranks.
  subroutine errors(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_boxes) :: boxes
    type(longshore_box_fields) :: fields
    type(longshore_box_exchange) :: halos
    type(longshore_box_copy) :: turn
    real(real64), target :: u(0:5, 0:5), line(6)
    integer(int32), target :: v(0:5, 0:5)
    integer :: ierr, first(2, 1), cells(2, 1), found(2, 2)
    logical :: is_wrong
    u = 0
    v = 0
    line = 0
    is_wrong = team%rank() == team%size() - 1
    first(:, 1) = [4*team%rank() + 1, 1]
    cells = 4
    call fields%create(boxes, ierr)
    call check_refused(ierr, 'not created', 'fields without boxes')
    call fields%add_field(0.0_real64, ierr=ierr)
    call check_refused(ierr, 'was not created', 'a field without a list')
    call boxes%create(team, first, cells(:1, :), ierr=ierr)
    call check_refused(ierr, 'one shape', 'first and cells of two shapes')
    call boxes%create(team, first, merge(0, cells, is_wrong), ierr=ierr)
    call check(ierr /= longshore_ok .and. index(longshore_error_message(), 'has no cells') > 0, 'a box without cells')
    call boxes%create(team, first, cells)
    call boxes%get(0, found(:, 1), found(:, 2), ierr)
    call check_refused(ierr, 'box 0 of a layout: the boxes of all ranks are 1 to', 'box 0')
    call fields%create(boxes)
    call fields%add(1, u, ierr)
    call check_refused(ierr, 'before its field', 'an array without a field')
    call fields%add_field(0.0_real64, low=[1, 1], ierr=ierr)
    call check_refused(ierr, 'one of low and high', 'a field without high')
    call fields%add_field(0.0_real64, low=[1, 1, 1, 1], high=[1], ierr=ierr)
    call check_refused(ierr, 'more than three numbers', 'widths of four dimensions')
    call fields%add_field(0.0_real64, width=1)
    call fields%add(2, u, ierr)
    call check_refused(ierr, 'the boxes of this rank are 1 to 1', 'a box that does not exist')
    call fields%add(1, v, ierr)
    call check_refused(ierr, 'another type', 'an array of another type')
    call fields%add(1, line, ierr)
    call check_refused(ierr, 'an array of rank 1', 'an array of rank 1')
    call fields%add(1, u(:1, :), ierr)
    call check_refused(ierr, 'no interior', 'an array without an interior')
    call halos%create(fields, ierr=ierr)
    call check(ierr /= longshore_ok .and. index(longshore_error_message(), 'other elements than the field') > 0, &
               'a box without an array')
    if (is_wrong) then
      call fields%add(1, u(:4, :))
    else
      call fields%add(1, u)
    end if
    call halos%create(fields, ierr=ierr)
    call check(ierr /= longshore_ok .and. index(longshore_error_message(), 'cells along x, and the box needs 4') > 0, &
               'an array of another shape')
    call turn%create(fields, fields, mode='fast', ierr=ierr)
    call check_refused(ierr, "'fast'", 'a mode that does not exist')
    call fields%add(1, u)
    call halos%update(ierr)
    call check_refused(ierr, 'before it was created', 'an update before create')
    call halos%create(fields)
    call halos%assemble(longshore_xor, ierr=ierr)
    call check_refused(ierr, 'operation 4', 'an operation that boxes do not have')
    call halos%update(ierr, fields=[2])
    call check_refused(ierr, 'give one or more of the numbers 1 to 1', 'a field that the plan does not have')
    call halos%start_assemble(longshore_sum, ierr, fields=[1, 1])
    call check_refused(ierr, 'the 1st field is twice', 'a field that is twice in a part')
    call halos%accumulate(longshore_sum, ierr, width=0)
    call check_refused(ierr, 'width of 1 or more', 'a part of width 0')
    call halos%start_update(ierr, low=[1, 1])
    call check_refused(ierr, 'one of low and high', 'a part without high')
    call halos%update()
    call halos%free()
    call boxes%free()
  end subroutine errors
end module box_checks

program box_test
  use box_checks
  implicit none
  call longshore_run(run_all)
end program box_test
