// SPDX-License-Identifier: BSD-2-Clause

/*
 * A board on PCIe behind AMD's XDMA driver, as a bus: /dev/xdma0_user. With `-std=c99`, define
 * _DEFAULT_SOURCE before the first header.
 */
#ifndef HYPERCAST_XDMA_H
#define HYPERCAST_XDMA_H

#include <fcntl.h>
#include <unistd.h>

#include "hypercast_device.h"
#include "hypercast_driver.h"

struct hypercast_xdma {
    int file;
};

/* Opens the device; returns 0, or -1, and errno says why: ENODEV if it is none. */
static inline int hypercast_xdma_open(struct hypercast_xdma *xdma, const char *path) {
    xdma->file = hypercast_device_open(path, O_RDWR | O_SYNC, 0);
    return xdma->file < 0 ? -1 : 0;
}

static inline void hypercast_xdma_close(struct hypercast_xdma *xdma) {
    if (xdma->file >= 0) close(xdma->file);
    xdma->file = -1;
}

static inline enum hypercast_result hypercast_xdma_read_(void *context, uint32_t offset,
                                                         uint32_t *values, size_t count) {
    int file = ((struct hypercast_xdma *)context)->file;
    for (size_t i = 0; i < count; i++)
        if (pread(file, values + i, sizeof *values, (off_t)offset) != (ssize_t)sizeof *values)
            return HYPERCAST_BUS_FAILED;
    return HYPERCAST_OK;
}

static inline enum hypercast_result hypercast_xdma_write_(void *context, uint32_t offset,
                                                          const uint32_t *values, size_t count) {
    int file = ((struct hypercast_xdma *)context)->file;
    for (size_t i = 0; i < count; i++)
        if (pwrite(file, values + i, sizeof *values, (off_t)offset) != (ssize_t)sizeof *values)
            return HYPERCAST_BUS_FAILED;
    return HYPERCAST_OK;
}

/* The bus of a device that is open; it has to stay where it is. */
static inline struct hypercast_bus hypercast_xdma_bus(struct hypercast_xdma *xdma) {
    struct hypercast_bus bus;
    bus.read = hypercast_xdma_read_;
    bus.write = hypercast_xdma_write_;
    bus.context = xdma;
    return bus;
}

#endif
