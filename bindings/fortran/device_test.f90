! Tests that halos, ghosts and boxes of the Fortran module take arrays in memory of a device, which is
! emulated here, and streams. The same plans of arrays of the host must have the same results. The
! host cannot use the memory of the device: a copy of an array in the module ends the test.
module device_checks
  use checks
  use longshore
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none

  interface
    function emulated_memory(bytes) bind(c) result(address)
      import :: c_size_t, c_ptr
      integer(c_size_t), value :: bytes
      type(c_ptr) :: address
    end function emulated_memory
    function emulated_stream(device) bind(c) result(stream)
      import :: c_int, c_intptr_t
      integer(c_int), value :: device
      integer(c_intptr_t) :: stream
    end function emulated_stream
    subroutine emulated_store(stream, to, from, bytes) bind(c)
      import :: c_intptr_t, c_ptr, c_size_t
      integer(c_intptr_t), value :: stream
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
    end subroutine emulated_store
    function emulated_equal(stream, cells, expected, bytes) bind(c) result(equal)
      import :: c_int, c_intptr_t, c_ptr, c_size_t
      integer(c_intptr_t), value :: stream
      type(c_ptr), value :: cells, expected
      integer(c_size_t), value :: bytes
      integer(c_int) :: equal
    end function emulated_equal
    function emulated_is_done(stream) bind(c) result(done)
      import :: c_int, c_intptr_t
      integer(c_intptr_t), value :: stream
      integer(c_int) :: done
    end function emulated_is_done
  end interface

  ! An array in both memories.
  type :: twin
    real(real64), pointer, contiguous :: host(:), device(:)
  end type twin

contains

  subroutine make_twin(cells, count)
    type(twin), intent(out) :: cells
    integer, intent(in) :: count
    allocate (cells%host(count))
    call c_f_pointer(emulated_memory(8_c_size_t*count), cells%device, [count])
  end subroutine make_twin

  ! Begins operation number `operation` of a plan, whose first array is x.
  subroutine begin(plan, operation, x, stream, ierr)
    class(*), intent(inout) :: plan
    integer, intent(in) :: operation
    real(real64), intent(in), pointer, contiguous :: x(:)
    integer(c_intptr_t), intent(in), optional :: stream
    integer, intent(out), optional :: ierr
    real(real64), pointer :: u(:, :)
    select type (plan)
    type is (longshore_halo)
      select case (operation)
      case (1); call plan%start_accumulate(longshore_sum, width=1, stream=stream, ierr=ierr)
      case (2); call plan%start_assemble(longshore_sum, stream=stream, ierr=ierr)
      case (3); call plan%start(width=1, stream=stream, ierr=ierr)
      case default
        call every_second_row(x, u)
        call plan%start(u, stream=stream, ierr=ierr)
      end select
    type is (longshore_ghost)
      select case (operation)
      case (1); call plan%start_accumulate(longshore_sum, stream=stream, ierr=ierr)
      case (2); call plan%start_assemble(longshore_sum, stream=stream, ierr=ierr)
      case (3); call plan%start_update(stream=stream, ierr=ierr)
      case default; call plan%start_update(x(::2), stream=stream, ierr=ierr)
      end select
    type is (longshore_box_exchange)
      select case (operation)
      case (1); call plan%start_accumulate(longshore_sum, stream=stream, ierr=ierr)
      case (2); call plan%start_assemble(longshore_sum, stream=stream, ierr=ierr)
      case default; call plan%start_update(width=1, stream=stream, ierr=ierr)
      end select
    type is (longshore_box_copy)
      call plan%start(stream=stream, ierr=ierr)
    end select
  end subroutine begin

  subroutine finish(plan, stream, ierr)
    class(*), intent(in) :: plan
    integer(c_intptr_t), intent(in), optional :: stream
    integer, intent(out), optional :: ierr
    select type (plan)
    type is (longshore_halo); call plan%wait(stream=stream, ierr=ierr)
    type is (longshore_ghost); call plan%wait(stream=stream, ierr=ierr)
    type is (longshore_box_exchange); call plan%wait(stream=stream, ierr=ierr)
    type is (longshore_box_copy); call plan%wait(stream=stream, ierr=ierr)
    end select
  end subroutine finish

  ! Runs the operations of two plans. If is_direct, no message passes through the host.
  subroutine compare(team, cells, on_host, on_device, operations, is_direct, what)
    type(longshore_team), intent(in) :: team
    type(twin), intent(in) :: cells
    class(*), intent(inout) :: on_host, on_device
    integer, intent(in) :: operations
    logical, intent(in) :: is_direct
    character(len=*), intent(in) :: what
    integer(c_intptr_t) :: first, second
    integer(c_size_t) :: bytes
    integer :: i, operation, ierr
    first = emulated_stream(0)
    second = emulated_stream(0)
    bytes = 8_c_size_t*size(cells%host)
    do operation = 1, operations
      cells%host = [(1/(1 + real(mod(37*i + team%rank() + operation, 101), real64)), i=1, size(cells%host))]
      call emulated_store(first, c_loc(cells%device), c_loc(cells%host), bytes)
      call begin(on_host, operation, cells%host)
      call finish(on_host)
      call team%barrier()
      call begin(on_device, operation, cells%device, first)
      call finish(on_device, second)
      if (is_direct) call check(emulated_is_done(first) == 0, what//': the call waits for no work of the device')
      call team%barrier()
      call check(emulated_equal(second, c_loc(cells%device), c_loc(cells%host), bytes) == 1, what//' of a device')

      call begin(on_host, operation, cells%host, first, ierr)
      call check_refused(ierr, 'without a stream', what//': a stream for an array of the host')
      call begin(on_device, operation, cells%device, emulated_stream(1), ierr)
      call check_refused(ierr, 'belongs to device 1', what//': a stream of another device')
      call begin(on_device, operation, cells%device)
      call finish(on_device, emulated_stream(1), ierr)
      call check_refused(ierr, 'belongs to device 1', what//': to wait with a stream of another device')
      call finish(on_device)
    end do
  end subroutine compare

  ! A section with 4 x 2 cells and a halo of 2.
  subroutine every_second_row(x, u)
    real(real64), intent(in), pointer, contiguous :: x(:)
    real(real64), intent(out), pointer :: u(:, :)
    u(1:8, 1:11) => x
    u => u(:, ::2)
  end subroutine every_second_row

  subroutine halos(team, mode)
    type(longshore_team), intent(in) :: team
    character(len=*), intent(in) :: mode
    type(longshore_grid) :: grid
    type(longshore_halo) :: on_host, on_device
    type(twin) :: cells
    real(real64), pointer :: u(:, :)
    call make_twin(cells, 8*11)
    call grid%create(team, dimensions=2)
    call on_host%create(grid, width=2, mode=mode)
    call every_second_row(cells%host, u)
    call on_host%add(u)
    call on_device%create(grid, width=2, mode=mode)
    call every_second_row(cells%device, u)
    call on_device%add(u)
    call compare(team, cells, on_host, on_device, 4, mode == 'direct', 'halo '//mode)
    call on_host%free()
    call on_device%free()
    call grid%free()
    deallocate (cells%host)
  end subroutine halos

  ! Each rank has copies of all elements of the next rank. Every second number is an element.
  subroutine ghosts(team, strategy)
    type(longshore_team), intent(in) :: team
    character(len=*), intent(in) :: strategy
    integer, parameter :: owned = 6
    type(longshore_ghost_graph) :: graph
    type(longshore_ghost) :: on_host, on_device
    type(twin) :: values
    integer :: i
    call make_twin(values, 4*owned)
    call graph%create(team, owned, [(int(mod(team%rank() + 1, team%size())*owned + i, int64), i=0, owned - 1)])
    call on_host%create(graph, strategy=strategy)
    call on_host%add(values%host(::2))
    call on_device%create(graph, strategy=strategy)
    call on_device%add(values%device(::2))
    call compare(team, values, on_host, on_device, 4, strategy == 'direct', 'ghost '//strategy)
    call on_host%free()
    call on_device%free()
    call graph%free()
    deallocate (values%host)
  end subroutine ghosts

  ! Each rank has one box of a row, and in the other layout the box of the next rank.
  subroutine boxes(team, mode)
    type(longshore_team), intent(in) :: team
    character(len=*), intent(in) :: mode
    integer, parameter :: cells_of_box = 7*8  ! with the halo
    type(longshore_boxes) :: mine, turned
    type(longshore_box_fields) :: fields(2, 2)
    type(longshore_box_exchange) :: halos(2)
    type(longshore_box_copy) :: turns(2)
    type(twin) :: cells
    real(real64), pointer, contiguous :: x(:), u(:, :)
    integer :: memory, f
    call make_twin(cells, 2*cells_of_box)
    call make_layout(mine, team%rank())
    call make_layout(turned, mod(team%rank() + 1, team%size()))
    do memory = 1, 2
      x => cells%host
      if (memory == 2) x => cells%device
      call fields(1, memory)%create(mine)
      call fields(2, memory)%create(turned)
      do f = 1, 2
        u(1:7, 1:8) => x((f - 1)*cells_of_box + 1:f*cells_of_box)
        call fields(f, memory)%add_field(0.0_real64, width=2)
        call fields(f, memory)%add(1, u)
      end do
      call halos(memory)%create(fields(1, memory), mode=mode)
      call turns(memory)%create(fields(1, memory), fields(2, memory), mode=mode)
    end do
    call compare(team, cells, halos(1), halos(2), 3, mode == 'direct', 'boxes '//mode)
    call compare(team, cells, turns(1), turns(2), 1, mode == 'direct', 'copy of boxes '//mode)
    do memory = 1, 2
      call halos(memory)%free()
      call turns(memory)%free()
    end do
    call mine%free()
    call turned%free()
    deallocate (cells%host)
  contains
    subroutine make_layout(layout, place)
      type(longshore_boxes), intent(inout) :: layout
      integer, intent(in) :: place
      call layout%create(team, reshape([1 + 3*place, 1], [2, 1]), reshape([3, 4], [2, 1]), &
                         domain_cells=[3*team%size(), 4], periodic=[.true., .false.])
    end subroutine make_layout
  end subroutine boxes

end module device_checks

program device_test
  use device_checks
  use longshore
  implicit none
  call longshore_run(run_all)
contains
  subroutine run_all(team)
    type(longshore_team), intent(inout) :: team
    call halos(team, 'direct')
    call halos(team, 'channel')
    call ghosts(team, 'direct')
    call ghosts(team, 'standard')
    call boxes(team, 'direct')
    call boxes(team, 'channel')
  end subroutine run_all
end program device_test
