! Tests ghost exchanges of the Fortran module: all ways to give a graph, arrays of all kinds, all
! operations, and wrong arguments. Every rank knows the ghosts of all ranks, and computes the
! expected values itself.
program ghost_test
  use checks
  use longshore
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  integer, parameter :: ghosts_per_rank = 5
  call longshore_run(run_all)
contains
  subroutine run_all(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_ghost_graph) :: graph
    integer(int64), allocatable :: ghosts(:), elements(:), owned(:)
    integer, allocatable :: ranks(:)
    integer(int64) :: i
    call ghosts_of(team%rank(), team%size(), 0, ghosts)
    owned = [(first_of(team%rank()) + i, i=0, owned_by(team%rank()) - 1)]
    call graph%create(team, owned_by(team%rank()), ghosts)
    call queries(team, graph)
    call kinds(team, graph)
    call columns(team, graph)
    call accumulates(team, graph)
    call remakes(team, graph)
    call rebinds(team, graph)
    call graph%create(team, id_of(owned), id_of(ghosts))
    call kinds(team, graph)
    call graph%remake(id_of(ghosts))
    call kinds(team, graph)
    call graph%free()
    call owners_of(ghosts, ranks, elements)
    call graph%create(team, id_of(owned), ranks, id_of(ghosts))
    call queries(team, graph)
    call graph%remake(ranks, id_of(ghosts))
    call kinds(team, graph)
    call graph%free()
    call graph%create(team, int(owned_by(team%rank())), ranks, elements)
    call graph%remake(ranks, elements)
    call kinds(team, graph)
    call columns(team, graph)
    call graph%free()
    call errors(team)
  end subroutine run_all

  ! Rank r owns 3 + mod(r, 3) elements; rank 2 owns none.
  pure integer(int64) function owned_by(rank)
    integer, intent(in) :: rank
    owned_by = merge(0, 3 + mod(rank, 3), rank == 2)
  end function owned_by

  pure integer(int64) function first_of(rank)
    integer, intent(in) :: rank
    integer :: r
    first_of = 0
    do r = 0, rank - 1
      first_of = first_of + owned_by(r)
    end do
  end function first_of

  ! Elements of all ranks, this rank included; one of them twice. Rank 1 has no ghosts.
  subroutine ghosts_of(rank, ranks, turn, ghosts)
    integer, intent(in) :: rank, ranks, turn
    integer(int64), allocatable, intent(out) :: ghosts(:)
    integer :: i
    allocate (ghosts(merge(0, ghosts_per_rank, rank == 1)))
    do i = 1, size(ghosts)
      ghosts(i) = mod(7*rank + 5*mod(i, 4) + merge(turn, 0, i == 2), int(first_of(ranks)))
    end do
  end subroutine ghosts_of

  subroutine owners_of(ghosts, ranks, elements)
    integer(int64), intent(in) :: ghosts(:)
    integer, allocatable, intent(out) :: ranks(:)
    integer(int64), allocatable, intent(out) :: elements(:)
    integer :: i
    allocate (ranks(size(ghosts)), elements(size(ghosts)))
    ranks = 0
    do i = 1, size(ghosts)
      do while (ghosts(i) >= first_of(ranks(i) + 1))
        ranks(i) = ranks(i) + 1
      end do
      elements(i) = ghosts(i) - first_of(ranks(i))
    end do
  end subroutine owners_of

  ! The number of an element in a numbering of the program.
  pure elemental integer(int64) function id_of(index)
    integer(int64), intent(in) :: index
    id_of = 1000 + 13*index
  end function id_of

  subroutine queries(team, graph)
    type(longshore_team), intent(in) :: team
    type(longshore_ghost_graph), intent(in) :: graph
    integer, allocatable :: owners(:), readers(:), ranks(:)
    integer(int64), allocatable :: ghosts(:), elements(:), needed(:)
    integer :: reader
    call check(graph%owned() == owned_by(team%rank()), 'owned')
    call check(graph%ghosts() == merge(0, ghosts_per_rank, team%rank() == 1), 'ghosts')
    call check(graph%memory_bytes() > 0, 'memory of a graph')
    call ghosts_of(team%rank(), team%size(), 0, ghosts)
    call owners_of(ghosts, ranks, elements)
    call graph%get_locations(owners, needed)
    call check(size(owners) == size(ranks) .and. size(needed) == size(ranks), 'the number of locations')
    call check(all(owners == ranks) .and. all(needed == elements), 'the locations of ghosts')
    call graph%get_owners(owners)
    call graph%get_readers(readers)
    call check(all(owners /= team%rank()) .and. all(readers /= team%rank()), 'owners and readers')
    do reader = 0, team%size() - 1
      call ghosts_of(reader, team%size(), 0, ghosts)
      call owners_of(ghosts, ranks, elements)
      call graph%get_needed_by(reader, needed)
      elements = pack(elements, ranks == team%rank())
      call check(size(needed) == size(elements), 'the number of needed elements')
      call check(all(needed == elements), 'the needed elements')
      call check((size(needed) > 0 .and. reader /= team%rank()) .eqv. any(readers == reader), 'readers')
    end do
  end subroutine queries

  ! Updates arrays of all kinds together.
  subroutine kinds(team, graph)
    type(longshore_team), intent(in) :: team
    type(longshore_ghost_graph), intent(in) :: graph
    type(longshore_ghost) :: ghost
    real(real64), pointer :: a(:)
    real(real32), allocatable, target :: b(:, :)
    integer(int32), allocatable, target :: c(:), c_ghosts(:)
    integer(int64), allocatable, target :: d(:)
    complex(real64), allocatable, target :: e(:)
    complex(real32), allocatable, target :: f(:)
    integer(int64), allocatable :: ghosts(:)
    integer(int64) :: n, i, first
    integer :: use
    logical :: complete
    n = graph%owned()
    first = first_of(team%rank())
    call ghosts_of(team%rank(), team%size(), 0, ghosts)
    call graph%allocate(a, room=2)
    associate (items => n + size(ghosts))
      allocate (b(2, items), c(n), c_ghosts(size(ghosts)), d(2*items), e(items), f(items))
    end associate
    call check(size(a) == n + size(ghosts) + 2, 'room')
    call ghost%create(graph)
    call ghost%add(a)
    call ghost%add(b(2, :))           ! elements of one row
    call ghost%add(c, c_ghosts)
    call ghost%add(d(size(d):1:-2))   ! every second element, backwards
    call ghost%add(e)
    call ghost%add(f)
    call ghost%plan()
    call check(ghost%strategy() == 'direct' .and. ghost%neighbours() >= 0 .and. ghost%memory_bytes() >= 0, 'a plan')
    do use = 1, 3
      a = -1
      b = -1
      d = -1
      e = -1
      f = -1
      c_ghosts = -1
      a(:n) = [(real(first + i, real64), i=0, n - 1)]
      b(2, :n) = real(use*a(:n), real32)
      c = int(10*a(:n))
      d(size(d):size(d) - 2*n + 1:-2) = int(100*a(:n), int64)
      e(:n) = cmplx(a(:n), use, real64)
      f(:n) = cmplx(a(:n), -use, real32)
      if (use == 1) call ghost%update()
      if (use > 1) call ghost%start_update()
      if (use == 2) call ghost%wait()
      complete = use < 3
      do while (.not. complete)
        call ghost%test(complete)
      end do
      do i = 1, size(ghosts)
        call check(a(n + i) == ghosts(i), 'real64')
        call check(b(2, n + i) == real(use*ghosts(i), real32) .and. b(1, n + i) == -1, 'real32')
        call check(c_ghosts(i) == 10*ghosts(i), 'int32')
        call check(d(size(d) - 2*(n + i - 1)) == 100*ghosts(i), 'int64')
        call check(e(n + i) == cmplx(ghosts(i), use, real64), 'complex real64')
        call check(f(n + i) == cmplx(ghosts(i), -use, real32), 'complex real32')
      end do
    end do
    call check(ghost%payload_bytes() >= 0, 'payload')
    call ghost%free()
    call graph%deallocate(a)
    call check(.not. associated(a), 'deallocate')
  end subroutine kinds

  ! Elements of several numbers.
  subroutine columns(team, graph)
    type(longshore_team), intent(in) :: team
    type(longshore_ghost_graph), intent(in) :: graph
    type(longshore_ghost) :: ghost
    real(real64), allocatable, target :: x(:, :)
    complex(real32), allocatable, target :: z(:, :), z_ghosts(:, :)
    integer(int64), allocatable :: ghosts(:)
    integer(int64) :: n, i, first
    n = graph%owned()
    first = first_of(team%rank())
    call ghosts_of(team%rank(), team%size(), 0, ghosts)
    allocate (x(3, n + size(ghosts)), z(2, n), z_ghosts(2, size(ghosts)))
    x = 0
    do i = 1, n
      x(:, i) = [1, 2, 3]*real(first + i, real64)
      z(:, i) = cmplx(first + i, [5, 6], real32)
    end do
    call ghost%create(graph, strategy='standard')
    call ghost%add(x)
    call ghost%add(z, z_ghosts)
    call ghost%update()
    do i = 1, size(ghosts)
      call check(all(x(:, n + i) == [1, 2, 3]*real(ghosts(i) + 1, real64)), 'columns')
      call check(all(z_ghosts(:, i) == cmplx(ghosts(i) + 1, [5, 6], real32)), 'complex columns')
    end do
    x(:, n + 1:) = 1
    z_ghosts = cmplx(1, 2)
    call ghost%accumulate(longshore_sum)
    do i = 1, n
      associate (times => real(copies_of(team, first + i - 1), real64))
        call check(all(x(:, i) == [1, 2, 3]*real(first + i, real64) + times), 'sums of columns')
        call check(all(z(:, i) == cmplx(first + i, [5, 6], real32) + cmplx(times, 2*times, real32)), 'complex sums')
      end associate
    end do
    call ghost%free()
  end subroutine columns

  ! The number of ghosts of an element.
  integer function copies_of(team, index)
    type(longshore_team), intent(in) :: team
    integer(int64), intent(in) :: index
    integer(int64), allocatable :: ghosts(:)
    integer :: rank
    copies_of = 0
    do rank = 0, team%size() - 1
      call ghosts_of(rank, team%size(), 0, ghosts)
      copies_of = copies_of + count(ghosts == index)
    end do
  end function copies_of

  subroutine accumulates(team, graph)
    type(longshore_team), intent(inout) :: team
    type(longshore_ghost_graph), intent(in) :: graph
    type(longshore_ghost) :: reals, integers
    real(real64), allocatable, target :: x(:)
    integer(int32), allocatable, target :: k(:)
    integer(int64), allocatable :: ghosts(:)
    integer(int64) :: n, i, first
    integer :: code
    n = graph%owned()
    first = first_of(team%rank())
    call ghosts_of(team%rank(), team%size(), 0, ghosts)
    allocate (x(n + size(ghosts)), k(n + size(ghosts)))
    call reals%create(graph, updates=.false.)
    call reals%add(x)
    call integers%create(graph)
    call integers%add(k)
    x = 100
    x(n + 1:) = ghosts
    call reals%accumulate(longshore_min)
    do i = 1, n
      call check(x(i) == merge(real(first + i - 1, real64), 100d0, copies_of(team, first + i - 1) > 0), 'minimum')
    end do
    x(:n) = -1
    call reals%start_accumulate(longshore_max)
    call reals%wait()
    do i = 1, n
      call check(x(i) == merge(real(first + i - 1, real64), -1d0, copies_of(team, first + i - 1) > 0), 'maximum')
    end do
    x(:n) = 1
    x(n + 1:) = 2
    k(:n) = 4
    k(n + 1:) = 3
    call reals%accumulate_by(multiply_reals)
    call integers%start_accumulate_by(multiply_integers)
    call integers%wait()
    do i = 1, n
      call check(x(i) == 2d0**copies_of(team, first + i - 1), 'a procedure for reals')
      call check(k(i) == 4*3**copies_of(team, first + i - 1), 'a procedure for integers')
    end do
    k(:n) = 4
    call integers%assemble_by(multiply_integers)
    call check(all(k(n + 1:) == 4*3**[(copies_of(team, ghosts(i)), i=1, size(ghosts))]), 'ghosts assembled by a procedure')
    k(:n) = [(int(mod(first + i, 100_int64)), i=1, n)]
    k(n + 1:) = team%rank() + 1
    call integers%start_assemble_by(mix_integers)
    call integers%wait()
    do i = 1, n + size(ghosts)
      if (i <= n) call check(k(i) == mixed_over_ranks(team, first + i - 1), 'an element mixed in the order of ranks')
      if (i > n) call check(k(i) == mixed_over_ranks(team, ghosts(i - n)), 'a ghost mixed in the order of ranks')
    end do
    k(:n) = 4
    k(n + 1:) = 3
    call integers%accumulate(longshore_or)
    do i = 1, n
      call check(k(i) == merge(7, 4, copies_of(team, first + i - 1) > 0), 'bits')
    end do
    k(:n) = 4
    k(n + 1:) = 3
    call integers%assemble(longshore_sum)
    do i = 1, n
      call check(k(i) == 4 + 3*copies_of(team, first + i - 1), 'an assembled element')
    end do
    do i = 1, size(ghosts)
      call check(k(n + i) == 4 + 3*copies_of(team, ghosts(i)), 'an assembled ghost')
    end do
    k(n + 1:) = 9
    call integers%start_assemble(longshore_max)
    call integers%wait()
    call check(all(k(n + 1:) == max(9, 4 + 3*[(copies_of(team, ghosts(i)), i=1, size(ghosts))])), 'an assembled maximum')
    call reals%update(ierr=code)
    call check(code == longshore_error_usage, 'a plan without updates')
    call reals%assemble(longshore_sum, ierr=code)
    call check(code == longshore_error_usage, 'an assemble by a plan without updates')
    call reals%accumulate(longshore_or, ierr=code)
    call check(code == longshore_error_usage, 'bits of reals')
    call reals%free()
    call integers%free()
  end subroutine accumulates

  ! The value of an element after its ghosts were mixed in, in the order of ranks. The ghosts of a
  ! rank have one value.
  integer function mixed_over_ranks(team, index) result(value)
    type(longshore_team), intent(in) :: team
    integer(int64), intent(in) :: index
    integer(int64), allocatable :: ghosts(:)
    integer :: rank, i
    value = int(mod(index + 1, 100_int64))
    do rank = 0, team%size() - 1
      call ghosts_of(rank, team%size(), 0, ghosts)
      do i = 1, count(ghosts == index)
        value = mixed(1, value, rank + 1)
      end do
    end do
  end function mixed_over_ranks

  subroutine mix_integers(batch)
    type(longshore_combine_batch), intent(in) :: batch
    integer(int32), pointer :: element, ghost
    integer(int64) :: i
    do i = 1, batch%count
      call batch%get_pair(i, element, ghost)
      element = mixed(1, element, ghost)
    end do
  end subroutine mix_integers

  subroutine multiply_reals(batch)
    type(longshore_combine_batch), intent(in) :: batch
    real(real64), pointer :: element, ghost
    integer(int64) :: i
    call check(batch%field == 1, 'the number of a field')
    do i = 1, batch%count
      call batch%get_pair(i, element, ghost)
      element = element*ghost
    end do
  end subroutine multiply_reals

  subroutine multiply_integers(batch)
    type(longshore_combine_batch), intent(in) :: batch
    integer(int32), pointer :: element, ghost
    integer(int64) :: i
    do i = 1, batch%count
      call batch%get_pair(i, element, ghost)
      element = element*ghost
    end do
  end subroutine multiply_integers

  subroutine remakes(team, graph)
    type(longshore_team), intent(in) :: team
    type(longshore_ghost_graph), intent(in) :: graph
    type(longshore_ghost_graph) :: other
    type(longshore_ghost) :: ghost
    integer(int64), allocatable, target :: x(:), tight(:)
    integer(int64), allocatable :: ghosts(:)
    integer(int64) :: n, i
    integer :: turn, code
    n = graph%owned()
    call ghosts_of(team%rank(), team%size(), 0, ghosts)
    call other%create(team, n, ghosts)
    allocate (x(n + size(ghosts) + 1))
    x(:n) = [(first_of(team%rank()) + i, i=0, n - 1)]
    call ghost%create(other)
    call ghost%add(x)
    do turn = 1, 3
      call ghosts_of(team%rank(), team%size(), turn, ghosts)
      if (turn == 3) ghosts = [ghosts, 0_int64]
      call other%remake(ghosts)
      call ghost%remake(other)
      call ghost%update()
      call check(all(x(n + 1:n + size(ghosts)) == ghosts), 'remade ghosts')
    end do
    call other%remake([ghosts, 0_int64, 0_int64])
    call ghost%remake(other, ierr=code)
    call check(code == longshore_error_usage, 'no room')
    call ghost%free()
    call other%free()
    allocate (tight(n))
    call ghost%create(graph)
    call ghost%add(tight, ierr=code)
    call check((code == longshore_error_usage) .eqv. graph%ghosts() > 0, 'a short array')
  end subroutine remakes

  ! Plans that are made before their arrays, and bound to other arrays; arrays with places.
  subroutine rebinds(team, graph)
    type(longshore_team), intent(in) :: team
    type(longshore_ghost_graph), intent(in) :: graph
    type(longshore_ghost) :: one, several, none
    real(real64), allocatable, target :: x(:), x_ghosts(:)
    complex(real32), allocatable, target :: z(:)
    integer(int32), target :: k(2, 40, 3)
    integer(int64), allocatable :: ghosts(:)
    integer, allocatable :: owned_places(:), ghost_places(:)
    integer(int64) :: i, n, first
    integer :: turn, code
    n = graph%owned()
    first = first_of(team%rank())
    call ghosts_of(team%rank(), team%size(), 0, ghosts)
    owned_places = [(40 - 2*int(i), i=1, n)]
    ghost_places = [(1 + 4*int(i), i=1, size(ghosts))]
    call one%create(graph)
    call one%update(ierr=code)
    call check_refused(code, 'no memory yet', 'an operation before the first array')
    call several%create(graph, strategy='standard')
    call several%plan()
    call check(several%strategy() == 'standard' .and. several%memory_bytes() == 0, 'a plan without arrays')
    do turn = 1, 3
      if (allocated(x)) deallocate (x, x_ghosts, z)
      allocate (x(n + size(ghosts)), x_ghosts(size(ghosts)), z(41 + turn))
      x(:n) = [(turn*real(first + i, real64), i=0, n - 1)]
      x(n + 1:) = -1
      if (turn == 1) call one%rebind(x)
      if (turn == 1) call one%update()
      if (turn == 2) call one%start_update(x(:n), x(n + 1:))
      if (turn == 2) call one%wait()
      if (turn == 3) call one%update(x)
      call check(all(nint(x(n + 1:), int64) == turn*ghosts), 'another vector')

      k(:, :, turn) = -1
      k(1, owned_places, turn) = int(x(:n))
      k(2, owned_places, turn) = int(x(:n)) + 1
      z = -1
      z(owned_places) = cmplx(x(:n), 5, real32)
      if (turn > 1) call several%rebind()
      call several%add(k(:, :, turn), owned_places, ghost_places)
      call several%add(z, int(owned_places, int64), int(ghost_places, int64))
      call several%add(x(:n), x_ghosts)
      call several%update()
      call check(all(k(1, ghost_places, turn) == turn*ghosts), 'columns with places')
      call check(all(k(2, ghost_places, turn) == turn*ghosts + 1), 'columns with places, second number')
      call check(count(k(:, :, turn) == -1) == 2*(40 - n - size(ghosts)), 'columns at other places')
      call check(all(z(ghost_places) == cmplx(turn*ghosts, 5, real32)), 'complex numbers with places')
      call check(all(x_ghosts == x(n + 1:)), 'two arrays')
      z(ghost_places) = 1
      call several%assemble_by(keep_elements)
      call check(all(z(ghost_places) == cmplx(turn*ghosts, 5, real32)), 'an assemble with places')
    end do

    call several%add(z, owned_places, ghost_places, ierr=code)
    call check_refused(code, 'call rebind before', 'an array of a plan that is made')
    call several%rebind()
    call several%add(x, [owned_places, 1], ghost_places, ierr=code)
    call check_refused(code, 'a field has places of', 'too many places')
    if (n > 0) then
      call several%add(x(:1), 0*owned_places, ghost_places, ierr=code)
      call check_refused(code, 'the indices are 1 to 1', 'place 0')
      call several%add(k(:, :1, 1), 0*owned_places + 2, ghost_places, ierr=code)
      call check_refused(code, 'the indices are 1 to 1', 'a place beyond the array')
    end if
    call several%add(k(:0, :, 1), owned_places, ghost_places, ierr=code)
    call check_refused(code, 'columns', 'columns without numbers')
    call several%add(z, owned_places, ghost_places)
    call several%plan(ierr=code)
    call check_refused(code, '3 fields is bound to 1 fields', 'too few arrays')
    call several%rebind()
    call several%add(k(:, :, 1), owned_places + 1, ghost_places)
    call several%add(z, owned_places, ghost_places)
    call several%add(x)
    call several%plan(ierr=code)
    if (n > 0) call check_refused(code, 'other places', 'other places')
    call several%rebind()
    call several%add(k(:, :, 1), owned_places, ghost_places)
    call several%add(z, owned_places, ghost_places)
    call several%add(x)
    call several%update()
    call check(all(k(1, ghost_places, 1) == ghosts), 'an update after refused arrays')

    call one%rebind(z, ierr=code)
    call check_refused(code, 'another type', 'a vector of another type')
    call one%update(z, ierr=code)
    call check_refused(code, 'another type', 'an update of a vector of another type')
    call one%rebind(x)
    call one%start_update()
    call one%rebind(x, ierr=code)
    call check_refused(code, 'in flight', 'another vector in flight')
    call one%wait()
    call one%update()
    call none%rebind(ierr=code)
    call check_refused(code, 'before it was created', 'a plan that was not created')
    call none%rebind(x, ierr=code)
    call check_refused(code, 'before it was created', 'a vector of a plan that was not created')
    call one%free()
    call several%free()
  end subroutine rebinds

  subroutine keep_elements(batch)
    type(longshore_combine_batch), intent(in) :: batch
    call check(batch%count > 0, 'a batch')
  end subroutine keep_elements

  subroutine errors(team)
    type(longshore_team), intent(in) :: team
    type(longshore_ghost_graph) :: graph, none
    type(longshore_ghost) :: ghost
    real(real64), target :: x(2), wide(2, 2)
    complex(real64), target :: z(1)
    integer(int64) :: nothing(0)
    integer :: code
    call graph%create(team, 1, [1000_int64], ierr=code)
    call check_refused(code, '1000', 'an index beyond the table')
    call graph%create(team, 1, [team%size()], [0_int64], ierr=code)
    call check(code == longshore_error_usage, 'a rank that does not exist')
    call graph%create(team, [7_int64], [team%rank()], [8_int64], ierr=code)
    call check_refused(code, 'does not own', 'an element that its owner does not have')
    call graph%create(team, 1, [0], nothing, ierr=code)
    call check(code == longshore_error_usage, 'ranks without elements')
    call graph%create(team, [5_int64, 5_int64], nothing, ierr=code)
    call check(code == longshore_error_usage, 'an element twice')
    call ghost%create(none, ierr=code)
    call check(code == longshore_error_usage, 'no graph')
    call ghost%update(ierr=code)
    call check(code == longshore_error_usage, 'no ghost exchange')
    call graph%create(team, 1, nothing)
    call ghost%create(graph, strategy='pigeon')
    call ghost%add(x)
    call ghost%update(ierr=code)
    call check_refused(code, 'node-aware-2', 'an unknown strategy')
    call ghost%create(graph)
    call ghost%add(wide(:1, :))
    call ghost%add(z)
    call ghost%update()
    call ghost%add(x, ierr=code)
    call check(code == longshore_error_usage, 'a field that is added late')
    call ghost%accumulate(longshore_min, ierr=code)
    call check(code == longshore_error_usage, 'the minimum of complex numbers')
    call ghost%assemble(longshore_max, ierr=code)
    call check(code == longshore_error_usage, 'the assembled maximum of complex numbers')
    call ghost%free()
    call graph%free()
  end subroutine errors
end program ghost_test
