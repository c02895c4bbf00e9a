/* For tests of the C and the Fortran interface: two emulated devices, whose memory the host cannot
 * use, and work of the program on their streams. Plans use the devices. */
#ifndef LONGSHORE_TEST_EMULATED_DEVICE_H
#define LONGSHORE_TEST_EMULATED_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of device 0, and a stream of a device. Both exist until the program ends. */
void* emulated_memory(size_t bytes);
void* emulated_stream(int device);
/* Appends a launch to a stream, which stores `bytes` bytes in memory of device 0. The values are
 * those at `from` now. */
void emulated_store(void* stream, void* to, const void* from, size_t bytes);
/* Appends a launch to a stream, which compares bytes of device 0 with those at `expected` now.
 * Returns whether they are equal, when the stream has come to it. */
int emulated_equal(void* stream, const void* cells, const void* expected, size_t bytes);
/* Whether all work of a stream is done. Does not wait. */
int emulated_is_done(void* stream);
/* Waits until all work of a stream is done. */
void emulated_synchronise(void* stream);

#ifdef __cplusplus
}
#endif

#endif
