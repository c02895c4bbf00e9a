// Each module contains this file. The library refuses modules of other versions.
extern "C" {
extern const char longshore_module_version[];
const char longshore_module_version[] = LONGSHORE_VERSION;
}
