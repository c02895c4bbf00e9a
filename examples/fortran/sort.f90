! Sorts random numbers over all ranks and checks that the ranks follow each other.
program sort
  use longshore
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  call longshore_run(sort_numbers)
contains
  subroutine sort_numbers(team)
    type(longshore_team), intent(inout) :: team
    integer(int64), allocatable, target :: keys(:)
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
    if (team%rank() == 0) print '(i0, a, i0, a)', all_keys/team%size(), ' keys per rank, ', wrong, ' in the wrong place'
  end subroutine sort_numbers
end program sort
