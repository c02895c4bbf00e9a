! Measures the memory bandwidth of all ranks with the STREAM triad, a = b + q * c.
!
! Each rank runs the loop on its own arrays. The best of ten trials counts. The program verifies
! every element.
program stream
  use longshore
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  logical :: right = .true.
  call longshore_run(measure)
  if (.not. right) error stop 1
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
    if (team%rank() > 0) return
    right = wrong == 0
    print '(a, i0, a, f0.1, 2a)', 'stream: ranks=', team%size(), ' gigabytes_per_second=', &
      1d-9*real(team%size()*triad%bytes(), real64)/seconds, ' verified=', merge('yes', 'no ', right)
  end subroutine measure
end program stream
