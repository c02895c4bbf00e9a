/* Delays the calls that carry two modes of the halo exchange, by so many nanoseconds each: the planted slowdown of
 * planted_slowdown.py. Preloaded (LD_PRELOAD) into longshore-bench; the profiling interface of MPI does the rest. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void spend(const char* name) {
  const char* text = getenv(name);
  const double until = text ? now_ns() + atof(text) : 0.0;
  while (now_ns() < until) {
  }
}

int MPI_Startall(int count, MPI_Request requests[]) {
  spend("PLANTED_STARTALL_NS");
  return PMPI_Startall(count, requests);
}

int MPI_Neighbor_alltoallv(const void* send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
                           void* receive, const int receive_counts[], const int receive_places[],
                           MPI_Datatype receive_type, MPI_Comm comm) {
  spend("PLANTED_NEIGHBOR_NS");
  return PMPI_Neighbor_alltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                                 receive_type, comm);
}

int MPI_Neighbor_alltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                          MPI_Datatype receive_type, MPI_Comm comm) {
  spend("PLANTED_NEIGHBOR_NS");
  return PMPI_Neighbor_alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
}
