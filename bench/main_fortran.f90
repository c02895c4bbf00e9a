! longshore-bench-fortran: pattern halo of the benchmark program, started and measured in Fortran; options and records are the same.
program longshore_bench_fortran
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function run_halo(argc, argv, language) bind(c, name='longshore_bench_run_halo') result(status)
      import :: c_int, c_ptr
      integer(c_int), value :: argc
      type(c_ptr), intent(in) :: argv(*)
      type(c_ptr), value :: language
      integer(c_int) :: status
    end function run_halo
    subroutine c_exit(status) bind(c, name='exit')
      import :: c_int
      integer(c_int), value :: status
    end subroutine c_exit
  end interface
  integer, parameter :: longest = 4096
  character(kind=c_char, len=longest), allocatable, target :: words(:)
  character(kind=c_char, len=8), target :: language
  type(c_ptr), allocatable :: argv(:)
  integer :: i, n, length
  n = command_argument_count()
  allocate (words(0:n), argv(0:n + 1))
  do i = 0, n
    call get_command_argument(i, words(i), length)
    if (length >= longest) error stop 'longshore-bench-fortran: a word of the command line is too long'
    words(i) (length + 1:length + 1) = c_null_char
    argv(i) = c_loc(words(i))
  end do
  argv(n + 1) = c_null_ptr
  language = 'fortran'//c_null_char
  call c_exit(run_halo(int(n + 1, c_int), argv, c_loc(language)))
end program longshore_bench_fortran
