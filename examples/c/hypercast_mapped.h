// SPDX-License-Identifier: BSD-2-Clause

/*
 * A chip whose registers are mapped from a file, as a bus: /dev/uio0, /dev/mem, or a resource of
 * PCIe. With `-std=c99`, define _DEFAULT_SOURCE before the first header.
 */
#ifndef HYPERCAST_MAPPED_H
#define HYPERCAST_MAPPED_H

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hypercast_device.h"
#include "hypercast_driver.h"

/* Bytes of the registers. */
#define HYPERCAST_MAPPED_BYTES_ 4096

struct hypercast_mapped {
    volatile uint32_t *registers;
};

/*
 * Maps the registers, which begin at `offset`, a multiple of the page size: 0 for UIO, the address
 * for /dev/mem. Returns 0, or -1, and errno says why: ENODEV if it is no such file, ENXIO if it
 * ends before.
 */
static inline int hypercast_mapped_open(struct hypercast_mapped *mapped, const char *path,
                                        off_t offset) {
    int file = hypercast_device_open(path, O_RDWR | O_SYNC, 1), error = 0;
    struct stat status;
    void *registers = MAP_FAILED;
    mapped->registers = NULL;
    if (file < 0) return -1;
    if (fstat(file, &status))
        error = errno;
    else if (S_ISREG(status.st_mode) && status.st_size - offset < HYPERCAST_MAPPED_BYTES_)
        error = ENXIO;
    else if ((registers = mmap(NULL, HYPERCAST_MAPPED_BYTES_, PROT_READ | PROT_WRITE, MAP_SHARED,
                               file, offset)) == MAP_FAILED)
        error = errno;
    close(file);
    if (!error) mapped->registers = (volatile uint32_t *)registers;
    errno = error;
    return error ? -1 : 0;
}

static inline void hypercast_mapped_close(struct hypercast_mapped *mapped) {
    if (mapped->registers) munmap((void *)(uintptr_t)mapped->registers, HYPERCAST_MAPPED_BYTES_);
    mapped->registers = NULL;
}

static inline enum hypercast_result hypercast_mapped_read_(void *context, uint32_t offset,
                                                           uint32_t *values, size_t count) {
    volatile uint32_t *registers = ((struct hypercast_mapped *)context)->registers;
    for (size_t i = 0; i < count; i++) values[i] = registers[offset / 4];
    return HYPERCAST_OK;
}

static inline enum hypercast_result hypercast_mapped_write_(void *context, uint32_t offset,
                                                            const uint32_t *values, size_t count) {
    volatile uint32_t *registers = ((struct hypercast_mapped *)context)->registers;
    for (size_t i = 0; i < count; i++) registers[offset / 4] = values[i];
    return HYPERCAST_OK;
}

/* The bus of registers that are mapped; they have to stay where they are. */
static inline struct hypercast_bus hypercast_mapped_bus(struct hypercast_mapped *mapped) {
    struct hypercast_bus bus;
    bus.read = hypercast_mapped_read_;
    bus.write = hypercast_mapped_write_;
    bus.context = mapped;
    return bus;
}

#endif
