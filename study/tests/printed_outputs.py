"""Outputs of other programs, as real versions print them, that several tests read."""

from __future__ import annotations

ISX_SCREEN = """\
ISx v1.1
  Number of Keys per PE: 1000
  Max Key Value: 268435456
  Bucket Width: 134217728
  Number of Iterations: 3
  Number of PEs: 2
  WEAK Scaling!
Average total time (per PE): 0.250000 seconds
Average all2all time (per PE): 0.060000 seconds
"""
ISX_LOG = (
    "SHMEM\tNUM_PES 2\tMax_Key 268435456\tNum_Iters 3\tWeak Scaling: 1000 keys per PE\tRound Robin All2All\t\n"
    "TOTAL (sec)\tATA_KEYS (sec)\tATA_KEYS_COUNTS\tLOCAL_SORT (sec)\t\n"
    "0.100000\t0.010000\t500\t0.001000\t\n"
    "0.200000\t0.020000\t500\t0.002000\t\n"
    "0.300000\t0.030000\t500\t0.003000\t\n"
    "0.200000\t0.100000\t500\t0.004000\t\n"
    "0.300000\t0.100000\t500\t0.005000\t\n"
    "0.400000\t0.100000\t500\t0.006000\t\n"
)
OSU = """\
[node1:1234] SET UCX_NET_DEVICES=mlx5_0:1

# OSU MPI Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       1.47
4194304             23012.88
"""
CARTEX = """\
mpirun -n 1728 ./cartex --domain 64 64 64 --nrep 10000 --halo 1 --nfields 8 --MPICart 12 12 12
mpi
running on 1728 ranks
repetitions       10000
load (bytes)      1.00000000e+09
elapsed (s)       2.00000000e+00
mean (s)          2.10000000e-04
stddev (s)        1.00000000e-05
median (s)        2.00000000e-04
5% centile (s)    1.90000000e-04
25% centile (s)   1.95000000e-04
75% centile (s)   2.05000000e-04
95% centile (s)   2.20000000e-04
min (s)           1.80000000e-04
max (s)           3.00000000e-04
tp. median (GB/s) 5.00000000e+03
tp. 5% c. (GB/s)  4.54545455e+03
tp. 25% c. (GB/s) 4.87804878e+03
tp. 75% c. (GB/s) 5.12820513e+03
tp. 95% c. (GB/s) 5.26315789e+03
tp. min (GB/s)    3.33333333e+03
tp. max (GB/s)    5.55555556e+03
"""
BALE_JSON = """\
{
"bale_version": "3.00",
"date": "2032-05-05.12:00",
"app": "./ig",
"pes": "4",
"num_requests_total": "4000000",
"num_requests_per_pe": "1000000",
"table_size_per_pe": "10000",
"buf_cnt": "1024",
"AGP": "0.800000",
"Conveyor": "0.040000"
}
"""
