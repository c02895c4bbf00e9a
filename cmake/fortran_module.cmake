# The library of the Fortran module. A module file is read only by the compiler that made it, so this is used twice: where Longshore is built, and,
# installed, where a program of another compiler is, which then compiles the module's source itself.
function(longshore_add_fortran_module target source module_folder)
  add_library(${target} STATIC "${source}")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON Fortran_MODULE_DIRECTORY "${module_folder}")
  # Ranks may be threads: what is local to a procedure must not be static, which large arrays otherwise are. (flang keeps none of them static.)
  target_compile_options(
    ${target} PUBLIC $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-frecursive> $<$<COMPILE_LANG_AND_ID:Fortran,Intel,IntelLLVM>:-recursive>
                     $<$<COMPILE_LANG_AND_ID:Fortran,NVHPC>:-Mrecursive>)
endfunction()

# The compiler as far as it decides which module files it reads: its name and its first number.
function(longshore_fortran_compiler result)
  string(REGEX MATCH "^[0-9]+" number "${CMAKE_Fortran_COMPILER_VERSION}")
  set(${result} "${CMAKE_Fortran_COMPILER_ID} ${number}" PARENT_SCOPE)
endfunction()
