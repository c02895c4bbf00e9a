! Counts the pairs of neighbouring bytes in a file that all ranks read together.
!
! Each rank reads one part of the file. The 65536 counters are a distributed array, and one call
! adds the pairs of the rank to counters on all ranks. Ranks read the file in turn, because gfortran
! lets only one thread at a time open a file.
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
    do turn = 0, team%size() - 1
      if (turn == team%rank()) then
        open (newunit=unit, file=trim(name), access='stream', form='unformatted', action='read')
        inquire (unit=unit, size=size_bytes)
        first = turn*(size_bytes - 1)/team%size()  ! there is one pair fewer than bytes
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
    print '(a, i0, a, i0, a, i0, 2a)', 'histogram: ranks=', team%size(), ' pairs=', found(1), &
      ' different=', found(2), ' verified=', merge('yes', 'no ', right)
  end subroutine count_pairs
end program histogram
