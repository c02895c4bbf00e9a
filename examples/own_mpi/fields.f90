! Fields of cells, vertices and faces in one plan, in a program that has started MPI.
!
!     mpirun -n 4 fields
program fields
  use mpi_f08
  use longshore_mpi_f08  ! with all names of module longshore
  use, intrinsic :: iso_fortran_env, only: real32, real64
  implicit none
  integer, parameter :: n = 32  ! cells along each side of a block
  real(real64), allocatable, target :: density(:, :), velocity(:, :), mass(:, :)
  real(real32), allocatable, target :: flux(:, :)
  type(longshore_team) :: team
  type(longshore_grid) :: grid
  type(longshore_halo) :: halos
  integer :: x, y, wrong

  call MPI_Init()
  call longshore_join(MPI_COMM_WORLD, team)
  call grid%create(team, dimensions=2)      ! periodic; ranks=[team%size(), 1] would make slabs
  allocate (density(-1:n + 2, -1:n + 2))    ! n x n cells, with a halo of 2
  allocate (velocity(-1:n + 3, -1:n + 3))   ! their vertices, with a halo of 2
  allocate (flux(0:n + 2, 0:n + 1))         ! their faces across x, with a halo of 1
  allocate (mass(n + 1, n + 1))             ! their vertices, without a halo
  call halos%create(grid, width=2)
  call halos%add(density)                                              ! 1
  call halos%add(velocity, shared=[1, 1])                              ! 2
  call halos%add(flux, low=[1, 1], high=[1, 1], shared=[1, 0])         ! 3
  call halos%add(mass, low=[0, 0], high=[0, 0], shared=[1, 1])         ! 4

  density = team%rank()
  velocity = team%rank()
  flux = real(team%rank(), real32)
  call halos%exchange()                        ! all fields, their whole halos
  call halos%exchange(fields=[1, 2], width=1)  ! two fields, one layer of each

  mass = 0
  do y = 1, n  ! each cell adds to its four vertices
    do x = 1, n
      mass(x:x + 1, y:y + 1) = mass(x:x + 1, y:y + 1) + 0.25_real64
    end do
  end do
  call halos%assemble(longshore_sum, fields=[4])

  wrong = count(nint(mass*4) /= 4) + count(nint(density(0, 1:n)) /= grid%neighbour([-1, 0]))
  wrong = wrong + count(nint(flux(n + 2, 1:n)) /= grid%neighbour([1, 0]))
  call team%allreduce(wrong, longshore_sum)
  if (team%rank() == 0) print '(a, i0, 2a)', 'fields: ranks=', team%size(), ' verified=', &
    merge('yes', 'no ', wrong == 0)
  call team%finalize()  ! also frees the halos and the grid
  call MPI_Finalize()
end program fields
