! SPDX-License-Identifier: BSD-3-Clause
! Both ways of MPI in Fortran, on three ranks: what one gives is lost in any sum that rounds on its way.
subroutine by_module(mine)
  use mpi_f08
  real, intent(in) :: mine
  real :: sums(2), results(2)
  integer :: rank
  type(MPI_Request) :: request
  type(MPI_Comm) :: first, other

  sums = mine
  call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Iallreduce(sums, results, 2, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (any(sums /= 1) .or. any(results /= 1)) call MPI_Abort(MPI_COMM_WORLD, 1)
  ! The others wait for the reduction before they call what rank 0 waits for them in.
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_dup(MPI_COMM_WORLD, first)
  call MPI_Iallreduce(sums, results, 2, MPI_REAL, MPI_SUM, first, request)
  if (rank /= 0) call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Comm_dup(first, other)
  if (rank == 0) call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (any(results /= 3)) call MPI_Abort(MPI_COMM_WORLD, 1)
end subroutine

program fortran
  implicit none
  include 'mpif.h'
  real, parameter :: given(0:2) = [1e8, 1.0, -1e8]
  real, asynchronous :: mine(2), sums(2)
  double precision :: precise(2)
  integer :: numbers(2), rank, error, request, round

  call MPI_INIT(error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
  mine = given(rank)
  call MPI_ALLREDUCE(mine, sums, 2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(sums /= 1)) call MPI_ABORT(MPI_COMM_WORLD, 1, error)
  sums = mine
  call MPI_ALLREDUCE(MPI_IN_PLACE, sums, 2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(sums /= 1)) call MPI_ABORT(MPI_COMM_WORLD, 1, error)
  precise = dble(mine) * abs(mine)
  call MPI_ALLREDUCE(MPI_IN_PLACE, precise, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(precise /= 1)) call MPI_ABORT(MPI_COMM_WORLD, 1, error)
  numbers = rank
  call MPI_ALLREDUCE(MPI_IN_PLACE, numbers, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(numbers /= 3)) call MPI_ABORT(MPI_COMM_WORLD, 1, error)
  call by_module(given(rank))
  call PERSISTENT_ALLREDUCE(mine, sums, 2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, error)
  do round = 1, 2
    sums = 0
    call MPI_START(request, error)
    call MPI_WAIT(request, MPI_STATUS_IGNORE, error)
    if (any(sums /= 1)) call MPI_ABORT(MPI_COMM_WORLD, 1, error)
  end do
  call MPI_REQUEST_FREE(request, error)
  call MPI_FINALIZE(error)
end program
