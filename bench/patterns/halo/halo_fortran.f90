! Pattern halo in Fortran: the fields, their values, the exchange and the check of every cell, by the module of the library.
module longshore_bench_halo
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use longshore
  implicit none
  private

  ! As in halo_setup.h.
  type, bind(c) :: halo_setup
    integer(c_int64_t) :: extents(3)
    integer(c_int32_t) :: ranks(3), periodic(3)
    integer(c_int32_t) :: width, fields, is_single, task_count
    character(kind=c_char) :: placement(16), algorithm(32), mode(32), reach(16), tasks(16)
  end type halo_setup

  type :: single_field
    real(real32), pointer :: cells(:, :, :) => null()
  end type single_field
  type :: double_field
    real(real64), pointer :: cells(:, :, :) => null()
  end type double_field

  type :: halo_state
    type(halo_setup) :: setup
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    type(single_field), allocatable :: singles(:)
    type(double_field), allocatable :: doubles(:)
    integer(int64) :: first(3) = 0, all_cells(3) = 1, tag = 0
  end type halo_state

contains

  function text(letters) result(word)
    character(kind=c_char), intent(in) :: letters(:)
    character(len=32) :: word
    integer :: i
    word = ''
    do i = 1, size(letters)
      if (letters(i) == c_null_char) exit
      word(i:i) = letters(i)
    end do
  end function text

  function make(team, setup, state, plan) bind(c, name='longshore_bench_fortran_make') result(code)
    type(c_ptr), value :: team
    type(halo_setup), intent(in) :: setup
    type(c_ptr), intent(out) :: state, plan
    integer(c_int) :: code
    type(halo_state), pointer :: s
    type(longshore_team) :: mine
    integer :: f, cells(3), ierr
    allocate (s)
    state = c_loc(s)
    s%setup = setup
    mine%handle = team
    code = longshore_ok
    cells = int(setup%extents)
    call s%grid%create(mine, ranks=int(setup%ranks), open=setup%periodic == 0, placement=text(setup%placement), ierr=ierr)
    if (ierr == longshore_ok) then
      s%first = s%grid%coordinates()*setup%extents
      s%all_cells = setup%ranks*setup%extents
      call s%halo%create(s%grid, width=int(setup%width), algorithm=text(setup%algorithm), mode=text(setup%mode), &
                         reach=text(setup%reach), tasks=text(setup%tasks), task_count=int(setup%task_count), ierr=ierr)
    end if
    allocate (s%singles(merge(setup%fields, 0, setup%is_single /= 0)), s%doubles(merge(0, setup%fields, setup%is_single /= 0)))
    do f = 1, size(s%singles)
      if (ierr == longshore_ok) call s%grid%allocate(s%singles(f)%cells, cells, int(setup%width), ierr)
      if (ierr == longshore_ok) call s%halo%add(s%singles(f)%cells, ierr)
    end do
    do f = 1, size(s%doubles)
      if (ierr == longshore_ok) call s%grid%allocate(s%doubles(f)%cells, cells, int(setup%width), ierr)
      if (ierr == longshore_ok) call s%halo%add(s%doubles(f)%cells, ierr)
    end do
    if (ierr == longshore_ok) call s%halo%plan(ierr)
    plan = s%halo%handle
    code = ierr
  end function make

  ! Of a cell of the domain, counted from 0, exact in real32: neighbours differ, and fields, and exchanges.
  pure integer(int64) function value_of(tag, there)
    integer(int64), intent(in) :: tag, there(3)
    value_of = mod(tag*7919 + there(1) + 1021*(there(2) + 1021*there(3)), 16777213_int64)
  end function value_of

  ! What cell (x, y, z) of a field should hold, counted from 1 in the interior; -1 where nothing comes.
  pure integer(int64) function expected(s, f, x, y, z, most_moves)
    type(halo_state), intent(in) :: s
    integer, intent(in) :: f, x, y, z
    integer(c_int32_t), intent(in) :: most_moves
    integer(int64) :: index(3), there(3)
    logical :: is_beyond(3)
    index = [int(x, int64), int(y, int64), int(z, int64)]
    there = s%first + index - 1
    is_beyond = s%setup%periodic == 0 .and. (there < 0 .or. there >= s%all_cells)
    expected = -1
    if (any(is_beyond) .or. count(index < 1 .or. index > s%setup%extents) > most_moves) return
    expected = value_of(s%tag + f - 1, modulo(there, s%all_cells))
  end function expected

  subroutine reset(state, tag) bind(c, name='longshore_bench_fortran_reset')
    type(c_ptr), value :: state
    integer(c_int64_t), value :: tag
    type(halo_state), pointer :: s
    integer :: f, x, y, z, low, high(3)
    call c_f_pointer(state, s)
    s%tag = tag
    low = 1 - s%setup%width
    high = int(s%setup%extents) + s%setup%width
    do f = 1, s%setup%fields
      do z = low, high(3)
        do y = low, high(2)
          do x = low, high(1)
            if (s%setup%is_single /= 0) s%singles(f)%cells(x, y, z) = real(expected(s, f, x, y, z, 0_c_int32_t), real32)
            if (s%setup%is_single == 0) s%doubles(f)%cells(x, y, z) = real(expected(s, f, x, y, z, 0_c_int32_t), real64)
          end do
        end do
      end do
    end do
  end subroutine reset

  function exchange(state) bind(c, name='longshore_bench_fortran_exchange') result(code)
    type(c_ptr), value :: state
    integer(c_int) :: code
    type(halo_state), pointer :: s
    integer :: ierr
    call c_f_pointer(state, s)
    ! As programs write it, where they exchange one field; more are planned together.
    if (size(s%doubles) == 1) then
      call s%halo%exchange(s%doubles(1)%cells, ierr=ierr)
    else
      call s%halo%exchange(ierr)
    end if
    code = ierr
  end function exchange

  function wrong(state, most_moves) bind(c, name='longshore_bench_fortran_wrong') result(count_of_them)
    type(c_ptr), value :: state
    integer(c_int32_t), value :: most_moves
    integer(c_int64_t) :: count_of_them
    type(halo_state), pointer :: s
    integer :: f, x, y, z, low, high(3)
    integer(int64) :: found
    call c_f_pointer(state, s)
    low = 1 - s%setup%width
    high = int(s%setup%extents) + s%setup%width
    count_of_them = 0
    do f = 1, s%setup%fields
      do z = low, high(3)
        do y = low, high(2)
          do x = low, high(1)
            if (s%setup%is_single /= 0) then
              found = nint(s%singles(f)%cells(x, y, z), int64)
            else
              found = nint(s%doubles(f)%cells(x, y, z), int64)
            end if
            if (found /= expected(s, f, x, y, z, most_moves)) count_of_them = count_of_them + 1
          end do
        end do
      end do
    end do
  end function wrong

  subroutine end_state(state) bind(c, name='longshore_bench_fortran_end')
    type(c_ptr), value :: state
    type(halo_state), pointer :: s
    if (.not. c_associated(state)) return
    call c_f_pointer(state, s)
    deallocate (s)
  end subroutine end_state
end module longshore_bench_halo
