! Reads random elements of a table that is too large for one rank (index gather).
!
! The table is a distributed array: each rank owns a block of its elements. A gather plan fetches
! any list of elements in one call. The plan is made once and used three times.
program index_gather
  use longshore
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  logical :: right = .true.
  call longshore_run(read_elements)
  if (.not. right) error stop 1
contains
  subroutine read_elements(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_array) :: table
    type(longshore_gather_plan) :: plan
    real(real64), pointer :: part(:)
    integer(int64) :: indices(10000), n, k, wrong
    real(real64) :: values(10000)
    integer :: call_number
    n = 1000*team%size()
    call table%create(team, longshore_float64, n)
    call table%get_local(part)
    do k = 0, table%local_size() - 1
      part(k) = real(table%index(k), real64)**2
    end do
    call team%barrier()      ! After the barrier, any rank may read all elements.
    call plan%create(table)  ! Longshore chooses the strategy.
    wrong = 0
    do call_number = 1, 3
      indices = [(modulo(k*(7919 + call_number) + team%rank(), n), k=1, size(indices))]
      call plan%run(indices, values)
      wrong = wrong + count(abs(values - real(indices, real64)**2) > 0)
    end do
    call team%allreduce(wrong, longshore_sum)
    if (team%rank() > 0) return
    right = wrong == 0
    print '(a, i0, a, i0, 2a)', 'gather: ranks=', team%size(), ' requests=', 3*size(indices), &
      ' verified=', merge('yes', 'no ', right)
  end subroutine read_elements
end program index_gather
