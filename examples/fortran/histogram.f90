! How often each byte pair occurs in a file: every rank reads its piece and counts into a table that is spread over all ranks. They
! read by turns: of ranks that are threads only one can have the file open, because gfortran has one unit for a file.
program histogram
  use longshore
  use, intrinsic :: iso_fortran_env, only: int8, int64
  implicit none
  logical :: right = .true.
  call longshore_run(count_pairs)
  if (.not. right) error stop 1
contains
  subroutine count_pairs(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_array) :: table
    integer(int64), pointer :: counts(:)
    integer(int64), allocatable :: pairs(:)
    integer(int8), allocatable :: bytes(:)
    character(len=4096) :: name
    integer(int64) :: size_bytes, first, last, k, found(2)
    integer :: unit, turn
    call get_command_argument(1, name)
    do turn = 0, team%size() - 1  ! one after the other: to Fortran, a file that is open in one thread is open
      if (turn == team%rank()) then
        open (newunit=unit, file=trim(name), access='stream', form='unformatted', action='read')
        inquire (unit=unit, size=size_bytes)
        first = turn*(size_bytes - 1)/team%size()  ! of the pairs, which are one fewer than the bytes
        last = (turn + 1)*(size_bytes - 1)/team%size()
        allocate (bytes(first:last), pairs(first:last - 1))
        read (unit, pos=first + 1) bytes
        close (unit)
      end if
      call team%barrier()
    end do
    do k = first, last - 1
      pairs(k) = iand(int(bytes(k)), 255)*256 + iand(int(bytes(k + 1)), 255)
    end do
    call table%create(team, longshore_int64, 65536_int64, 'cyclic')
    call table%histogram(pairs)
    call team%barrier()
    call table%get_local(counts)
    found = [sum(counts), int(count(counts > 0), int64)]
    call team%allreduce(found, longshore_sum)
    if (team%rank() > 0) return
    right = found(1) == size_bytes - 1
    print '(a, i0, a, i0, a, i0, 2a)', 'histogram: ranks=', team%size(), ' pairs=', found(1), ' different=', found(2), &
      ' verified=', merge('yes', 'no ', right)
  end subroutine count_pairs
end program histogram
