! The checks of the tests of the Fortran module. A failed check prints a line and ends all ranks.
module checks
  use longshore
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: check, check_refused, mixed
contains

  subroutine check(fact, what)
    logical, intent(in) :: fact
    character(len=*), intent(in) :: what
    if (fact) return
    write (error_unit, '(4a)') 'check failed: ', what, '; last error: ', trim(longshore_error_message())
    flush (error_unit)
    error stop 1
  end subroutine check

  ! Checks that a call was refused with a message that contains these words.
  subroutine check_refused(ierr, words, what)
    integer, intent(in) :: ierr
    character(len=*), intent(in) :: words, what
    call check(ierr == longshore_error_usage .and. index(longshore_error_message(), words) > 0, what)
  end subroutine check_refused

  ! A function whose result depends on the order of the ghosts, and on the number of the field.
  pure integer function mixed(field, element, ghost)
    integer, intent(in) :: field, element, ghost
    mixed = mod((4 + field)*element + ghost, 1009)
  end function mixed
end module checks
