"""The recipe of Longshore for Spack.

Run `spack repo create FOLDER`, copy this file to FOLDER/packages/longshore/package.py, and run
`spack install longshore`.
"""

from spack.package import conflicts, depends_on, license, variant, version

try:  # from Spack 1.0 on
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    from spack.package import CMakePackage


class Longshore(CMakePackage):
    """Communication patterns of parallel programs: gather with aggregation, halo exchange, bucket
    sort and STREAM. A library for C++, C and Fortran, and a program that measures the patterns
    over several transports."""

    license("BSD-3-Clause")

    # To build a checkout in place: `spack dev-build longshore@main`. A release has no version here
    # until its archive has an address.
    version("main", branch="main")

    variant("mpi", default=True, description="Build the mpi transport")
    variant("shmem", default=False, description="Build the shmem transport")
    variant("ucx", default=False, description="Build the ucx transport")
    variant("simulated", default=False, description="Build the simulated transport")
    variant("hwloc", default=True, description="Read the topology of the machine")
    variant("openmp", default=True, description="Build the tasking layer openmp")
    variant("tbb", default=False, description="Build the tasking layer tbb")
    variant("cuda", default=False, description="Build the driver of GPUs, not yet seen on a device")
    variant("hip", default=False, description="Build the driver of GPUs of AMD, not yet seen on one")
    variant("c", default=True, description="Build the C interface")
    variant("fortran", default=True, description="Build the Fortran module")
    variant("bench", default=True, description="Build longshore-bench")
    variant("shared", default=False, description="Build shared libraries")
    variant("all_loops", default=True, description="Compile the loops of all types of elements")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.8:", type="build", when="+fortran")
    depends_on("fmt@9:")
    depends_on("mpi@3.1:", when="+mpi")
    depends_on("openmpi+openshmem", when="+shmem")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("boost+context", when="+simulated")
    depends_on("tomlplusplus", when="+simulated")
    depends_on("hwloc", when="+hwloc")
    depends_on("intel-oneapi-tbb@2021:", when="+tbb")
    depends_on("cuda@12.8:", when="+cuda")
    depends_on("hip@6:", when="+hip")
    depends_on("cli11@2:", when="+bench")
    depends_on("nlohmann-json@3.11:", when="+bench")

    generator = "Ninja"
    conflicts("%gcc@:11", msg="gcc 12 is the first with the C++20 features used here")
    conflicts("+fortran", when="~c", msg="the Fortran module needs the C interface")
    conflicts("~all_loops", when="+c", msg="the C interface needs the loops of all types")
    conflicts("+cuda", when="+hip", msg="a build has the driver of one library")
    conflicts("+ucx", when="~mpi", msg="MPI starts the processes of the ucx transport")

    def cmake_args(self):
        """Sets every option, so that CMake does not enable parts that it happens to find."""
        names = (
            "mpi",
            "shmem",
            "ucx",
            "simulated",
            "hwloc",
            "openmp",
            "tbb",
            "cuda",
            "hip",
            "c",
            "fortran",
            "bench",
            "all_loops",
        )
        args = [self.define_from_variant(f"LONGSHORE_{name.upper()}", name) for name in names]
        args.append(self.define_from_variant("BUILD_SHARED_LIBS", "shared"))
        return [*args, self.define("LONGSHORE_TESTS", False), self.define("LONGSHORE_EXAMPLES", False)]
