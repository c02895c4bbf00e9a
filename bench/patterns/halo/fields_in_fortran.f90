! Pattern halo in Fortran: fields, plan and exchange through the Fortran module of the library.
module longshore_bench_halo
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use longshore
  implicit none
  private

  ! Has the layout of longshore_bench_halo_setup in language_interface.h. Change both together.
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
    type(longshore_grid) :: grid
    type(longshore_halo) :: halo
    type(single_field), allocatable :: singles(:)
    type(double_field), allocatable :: doubles(:)
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

  function make(team, setup, state, plan, cells) &
    bind(c, name='longshore_bench_fortran_make') result(code)
    type(c_ptr), value :: team
    type(halo_setup), intent(in) :: setup
    type(c_ptr), intent(out) :: state, plan
    type(c_ptr), intent(out) :: cells(setup%fields)
    integer(c_int) :: code
    type(halo_state), pointer :: s
    type(longshore_team) :: mine
    integer :: f, width, extents(3), ierr
    allocate (s)
    state = c_loc(s)
    mine%handle = team
    width = int(setup%width)
    extents = int(setup%extents)
    call s%grid%create(mine, ranks=int(setup%ranks), periodic=setup%periodic /= 0, &
                       placement=text(setup%placement), ierr=ierr)
    if (ierr == longshore_ok) &
      call s%halo%create(s%grid, width=width, algorithm=text(setup%algorithm), &
                         mode=text(setup%mode), reach=text(setup%reach), tasks=text(setup%tasks), &
                         task_count=int(setup%task_count), ierr=ierr)
    allocate (s%singles(merge(setup%fields, 0, setup%is_single /= 0)))
    allocate (s%doubles(merge(0, setup%fields, setup%is_single /= 0)))
    do f = 1, size(s%singles)
      if (ierr == longshore_ok) call s%grid%allocate(s%singles(f)%cells, extents, width, ierr)
      if (ierr == longshore_ok) call s%halo%add(s%singles(f)%cells, ierr)
      if (ierr == longshore_ok) cells(f) = c_loc(s%singles(f)%cells(1, 1, 1))
    end do
    do f = 1, size(s%doubles)
      if (ierr == longshore_ok) call s%grid%allocate(s%doubles(f)%cells, extents, width, ierr)
      if (ierr == longshore_ok) call s%halo%add(s%doubles(f)%cells, ierr)
      if (ierr == longshore_ok) cells(f) = c_loc(s%doubles(f)%cells(1, 1, 1))
    end do
    if (ierr == longshore_ok) call s%halo%plan(ierr)
    plan = s%halo%handle
    code = ierr
  end function make

  function exchange(state) bind(c, name='longshore_bench_fortran_exchange') result(code)
    type(c_ptr), value :: state
    integer(c_int) :: code
    type(halo_state), pointer :: s
    integer :: ierr
    call c_f_pointer(state, s)
    ! Programs with a single field pass its array. Programs with several fields pass nothing.
    if (size(s%doubles) == 1) then
      call s%halo%exchange(s%doubles(1)%cells, ierr=ierr)
    else
      call s%halo%exchange(ierr)
    end if
    code = ierr
  end function exchange

  subroutine end_state(state) bind(c, name='longshore_bench_fortran_end')
    type(c_ptr), value :: state
    type(halo_state), pointer :: s
    if (.not. c_associated(state)) return
    call c_f_pointer(state, s)
    deallocate (s)
  end subroutine end_state
end module longshore_bench_halo
