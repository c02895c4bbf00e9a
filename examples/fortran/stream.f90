! STREAM triad on every rank: bandwidth of the node, and a check of every element.
program stream
  use longshore
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  call longshore_run(measure)
contains
  subroutine measure(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_stream) :: triad
    real(real64) :: seconds, began
    integer(int64) :: wrong
    integer :: trial
    call triad%create(team, 2000000_int64, kernel='triad')
    seconds = huge(seconds)
    do trial = 1, 10
      call team%barrier()
      began = team%seconds()
      call triad%run()
      call team%barrier()
      seconds = min(seconds, team%seconds() - began)
    end do
    call team%allreduce(seconds, longshore_max)
    wrong = triad%wrong()
    call team%allreduce(wrong, longshore_sum)
    if (team%rank() == 0) print '(a, f8.2, a, i0, a)', 'triad: ', 1e-9*team%size()*triad%bytes()/seconds, ' GB/s, ', &
      wrong, ' wrong elements'
  end subroutine measure
end program stream
