! Every rank tells all others its number; rank 0 prints what has arrived everywhere.
program consumer
  use longshore
  implicit none
  call longshore_run(tell)
contains
  subroutine tell(team)
    type(longshore_team), intent(inout) :: team
    integer :: total, wrong
    total = team%rank()
    call team%allreduce(total, longshore_sum)
    wrong = merge(0, 1, total == team%size()*(team%size() - 1)/2)
    call team%allreduce(wrong, longshore_sum)
    if (team%rank() == 0) print '(i0, 3a, i0, a, i0)', team%size(), ' ranks on ', trim(team%transport()), ': sum ', total, &
      ', wrong ', wrong
  end subroutine tell
end program consumer
