! Sorts random numbers that are distributed over the ranks.
!
! After the sort, rank 0 holds the lowest keys, rank 1 the next keys, and so on. The number of keys
! of a rank may change. The check compares neighbouring keys, also from rank to rank.
program sort
  use longshore
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  logical :: right = .true.
  call longshore_run(sort_numbers)
  if (.not. right) error stop 1
contains
  subroutine sort_numbers(team)
    type(longshore_team), intent(inout) :: team
    integer(int64), allocatable, target :: keys(:)
    integer(int64), allocatable :: lowest(:), highest(:)
    integer(int64) :: i, state, wrong, all_keys
    integer, parameter :: n = 100000
    allocate (keys(n))
    state = 12345 + team%rank()
    do i = 1, n
      state = iand(state*1103515245_int64 + 12345, 2147483647_int64)
      keys(i) = state
    end do
    call longshore_sort(team, keys)
    wrong = count(keys(2:) < keys(:size(keys) - 1))
    all_keys = size(keys)
    call team%allreduce(wrong, longshore_sum)
    call team%allreduce(all_keys, longshore_sum)
    allocate (lowest(team%size()), highest(team%size()))  ! indexed by rank + 1
    lowest = huge(i)  ! Ranks without keys keep these values, which never fail the check.
    highest = -1
    if (size(keys) > 0) then
      lowest(team%rank() + 1) = keys(1)
      highest(team%rank() + 1) = keys(size(keys))
    end if
    call team%allreduce(lowest, longshore_min)
    call team%allreduce(highest, longshore_max)
    do i = 2, team%size()
      if (lowest(i) < maxval(highest(:i - 1))) wrong = wrong + 1
    end do
    if (team%rank() > 0) return
    right = all_keys == int(n, int64)*team%size() .and. wrong == 0
    print '(a, i0, a, i0, 2a)', 'sort: ranks=', team%size(), ' keys=', all_keys, &
      ' verified=', merge('yes', 'no ', right)
  end subroutine sort_numbers
end program sort
