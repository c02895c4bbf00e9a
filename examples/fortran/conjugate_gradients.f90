! Solves A x = b by conjugate gradients, for a sparse matrix in a Matrix Market file.
!
! Each rank owns a block of rows, and the same elements of all vectors. A row needs the vector
! elements of its columns. Elements that other ranks own are the ghosts of the rank. A ghost
! exchange copies the ghosts before each product. Meanwhile the rank multiplies the rows that need
! no ghost.
!
! Verification: the residual b - A x, and the known solution.
!
!     LONGSHORE_RANKS=4 conjugate_gradients        mpirun -n 4 conjugate_gradients FILE.mtx
program conjugate_gradients
  use longshore
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  ! The rows of one rank in compressed form. Places are those of vectors of this rank, in which the
  ! ghosts come after the elements that the rank owns.
  type :: matrix
    integer :: size, first, rows  ! rows of all ranks; first row (from 0) and rows of this rank
    integer, allocatable :: start(:), place(:)  ! row i has the entries start(i) to start(i + 1) - 1
    integer, allocatable :: column(:)
    real(real64), allocatable :: value(:)
    integer(int64), allocatable :: ghosts(:)    ! columns of other ranks, from 0
    logical, allocatable :: needs_ghosts(:)
  end type matrix
  integer, parameter :: n = 24  ! the matrix of write_poisson has n*n rows
  logical :: right = .true.
  call longshore_run(solve)
  if (.not. right) error stop 1
contains
  subroutine solve(team)
    type(longshore_team), intent(inout) :: team
    type(longshore_ghost_graph) :: graph
    type(longshore_ghost) :: ghosts
    type(matrix) :: a
    real(real64), pointer :: p(:)
    real(real64), allocatable :: b(:), x(:), r(:), q(:)
    real(real64) :: bb, rr, before, alpha, error
    integer :: i, k, steps
    call read_matrix(team, a)
    call graph%create(team, a%rows, a%ghosts)
    call graph%allocate(p)  ! In this memory neighbours read the elements themselves.
    call ghosts%create(graph, accumulates=.false.)
    call ghosts%add(p)      ! the owned elements, then the ghosts
    allocate (b(a%rows), x(a%rows), q(a%rows))
    b = 0
    do i = 1, a%rows
      do k = a%start(i), a%start(i + 1) - 1
        b(i) = b(i) + a%value(k)*solution(a%column(k))
      end do
    end do
    x = 0
    r = b
    p(:a%rows) = b
    bb = dot(team, b, b)
    rr = bb
    steps = 0
    do while (rr > 1d-24*bb .and. steps < 10*a%size)
      call multiply(a, ghosts, p, q)
      alpha = rr/dot(team, p(:a%rows), q)
      x = x + alpha*p(:a%rows)
      r = r - alpha*q
      before = rr
      rr = dot(team, r, r)
      p(:a%rows) = r + rr/before*p(:a%rows)
      steps = steps + 1
    end do
    p(:a%rows) = x
    call multiply(a, ghosts, p, q)
    rr = dot(team, b - q, b - q)
    error = 0
    do i = 1, a%rows
      error = max(error, abs(x(i) - solution(a%first + i - 1)))
    end do
    call team%allreduce(error, longshore_max)
    call ghosts%free()
    if (team%rank() > 0) return
    right = sqrt(rr/bb) < 1d-9 .and. (error < 1d-9 .or. command_argument_count() > 0)
    print '(a, i0, a, i0, a, i0, a, es7.1, 2a)', 'conjugate_gradients: ranks=', team%size(), ' rows=', a%size, &
      ' steps=', steps, ' residual=', sqrt(rr/bb), ' verified=', merge('yes', 'no ', right)
  end subroutine solve

  ! q = A p
  subroutine multiply(a, ghosts, p, q)
    type(matrix), intent(in) :: a
    type(longshore_ghost), intent(inout) :: ghosts
    real(real64), intent(in) :: p(:)
    real(real64), intent(inout) :: q(:)
    call ghosts%start_update()
    call multiply_rows(a, .false., p, q)
    call ghosts%wait()
    call multiply_rows(a, .true., p, q)
  end subroutine multiply

  ! The rows with ghosts, or those without.
  subroutine multiply_rows(a, with_ghosts, p, q)
    type(matrix), intent(in) :: a
    logical, intent(in) :: with_ghosts
    real(real64), intent(in) :: p(:)
    real(real64), intent(inout) :: q(:)
    integer :: i, k
    do i = 1, a%rows
      if (a%needs_ghosts(i) .neqv. with_ghosts) cycle
      q(i) = 0
      do k = a%start(i), a%start(i + 1) - 1
        q(i) = q(i) + a%value(k)*p(a%place(k))
      end do
    end do
  end subroutine multiply_rows

  real(real64) function dot(team, v, w)
    type(longshore_team), intent(in) :: team
    real(real64), intent(in) :: v(:), w(:)
    dot = dot_product(v, w)
    call team%allreduce(dot, longshore_sum)
  end function dot

  pure real(real64) function solution(i)
    integer, intent(in) :: i
    solution = sin(0.1d0*i) + 2
  end function solution

  ! Reads the rows of this rank from the file that the command line names, or from one of its own.
  subroutine read_matrix(team, a)
    type(longshore_team), intent(in) :: team
    type(matrix), intent(out) :: a
    integer, allocatable :: rows(:), columns(:), found(:)
    real(real64), allocatable :: values(:)
    character(len=500) :: name, head
    integer :: file, columns_in_all, entries, i, k, at
    logical :: is_symmetric
    if (command_argument_count() > 0) then
      call get_command_argument(1, name)
      open (newunit=file, file=name, action='read', status='old')
    else
      open (newunit=file, status='scratch')
      call write_poisson(file)
      rewind (file)
    end if
    read (file, '(a)') head
    is_symmetric = index(head, 'symmetric') > 0
    do while (head(1:1) == '%')
      read (file, '(a)') head
    end do
    read (head, *) a%size, columns_in_all, entries
    allocate (rows(2*entries), columns(2*entries), values(2*entries))
    k = 0
    do i = 1, entries
      k = k + 1
      read (file, *) rows(k), columns(k), values(k)
      if (is_symmetric .and. rows(k) /= columns(k)) then
        rows(k + 1) = columns(k)
        columns(k + 1) = rows(k)
        values(k + 1) = values(k)
        k = k + 1
      end if
    end do
    close (file)
    a%first = int(int(a%size, int64)*team%rank()/team%size())
    a%rows = int(int(a%size, int64)*(team%rank() + 1)/team%size()) - a%first

    ! The entries of this rank, sorted by rows.
    allocate (a%start(a%rows + 1), a%needs_ghosts(a%rows), found(a%size))
    a%needs_ghosts = .false.
    found = 0
    a%start = 0
    do i = 1, k
      at = rows(i) - a%first
      if (at >= 1 .and. at <= a%rows) a%start(at) = a%start(at) + 1
    end do
    at = 1
    do i = 1, a%rows + 1
      at = at + a%start(i)
      a%start(i) = at
    end do
    allocate (a%place(at - 1), a%column(at - 1), a%value(at - 1), a%ghosts(0))
    do i = 1, k
      at = rows(i) - a%first
      if (at < 1 .or. at > a%rows) cycle
      a%start(at) = a%start(at) - 1
      associate (entry => a%start(at), column => columns(i))
        a%column(entry) = column - 1
        a%value(entry) = values(i)
        if (column > a%first .and. column <= a%first + a%rows) then
          a%place(entry) = column - a%first
        else
          if (found(column) == 0) then
            a%ghosts = [a%ghosts, int(column - 1, int64)]
            found(column) = a%rows + size(a%ghosts)
          end if
          a%place(entry) = found(column)
          a%needs_ghosts(at) = .true.
        end if
      end associate
    end do
  end subroutine read_matrix

  pure integer function row(x, y)
    integer, intent(in) :: x, y
    row = 1 + modulo(229*(x + n*y), n*n)
  end function row

  ! Writes a Matrix Market file: the Laplacian of a square of n x n cells, numbered without order.
  subroutine write_poisson(file)
    integer, intent(in) :: file
    integer :: x, y
    write (file, '(a, /, i0, 1x, i0, 1x, i0)') '%%MatrixMarket matrix coordinate real symmetric', n*n, n*n, n*n + 2*n*(n - 1)
    do y = 0, n - 1
      do x = 0, n - 1
        write (file, '(i0, 1x, i0, a)') row(x, y), row(x, y), ' 4'
        if (x + 1 < n) write (file, '(i0, 1x, i0, a)') max(row(x, y), row(x + 1, y)), min(row(x, y), row(x + 1, y)), ' -1'
        if (y + 1 < n) write (file, '(i0, 1x, i0, a)') max(row(x, y), row(x, y + 1)), min(row(x, y), row(x, y + 1)), ' -1'
      end do
    end do
  end subroutine write_poisson
end program conjugate_gradients
