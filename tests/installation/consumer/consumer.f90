! All ranks add up their numbers. Rank 0 prints the sum, and on how many ranks it is wrong.
program consumer
  use longshore
  implicit none
  call longshore_run(add_up)
contains
  subroutine add_up(team)
    type(longshore_team), intent(inout) :: team
    integer :: total, wrong
    total = team%rank()
    call team%allreduce(total, longshore_sum)
    wrong = merge(0, 1, total == team%size()*(team%size() - 1)/2)
    call team%allreduce(wrong, longshore_sum)
    if (team%rank() == 0) print '(i0, 3a, i0, a, i0)', team%size(), ' ranks on ', &
      trim(team%transport()), ': sum ', total, ', wrong ', wrong
  end subroutine add_up
end program consumer
