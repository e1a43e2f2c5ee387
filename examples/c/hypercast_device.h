// SPDX-License-Identifier: BSD-2-Clause

/*
 * Whether a file is a device: nothing else is opened, so that nothing is written to a file that was
 * named by mistake. With `-std=c99`, define _DEFAULT_SOURCE before the first header.
 */
#ifndef HYPERCAST_DEVICE_H
#define HYPERCAST_DEVICE_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tests put a file in the place of a device. */
#ifndef HYPERCAST_IS_DEVICE
#define HYPERCAST_IS_DEVICE(status) S_ISCHR((status).st_mode)
#endif

/* Whether a path leads to a file of the kernel's, such as a resource of PCIe. */
static inline int hypercast_device_of_kernel_(const char *path) {
    char *found = realpath(path, NULL);
    int below = found && !strncmp(found, "/sys/", 5);
    free(found);
    return below;
}

/*
 * Opens a device; with `mapped`, also a resource of PCIe below /sys. Returns the file, or -1, and
 * errno says why: ENODEV if it is something else, which is left as it is.
 */
static inline int hypercast_device_open(const char *path, int flags, int mapped) {
    struct stat before, after;
    int file;
    if (stat(path, &before)) return -1;
    if (!HYPERCAST_IS_DEVICE(before) &&
        !(mapped && S_ISREG(before.st_mode) && hypercast_device_of_kernel_(path))) {
        errno = ENODEV;
        return -1;
    }
    file = open(path, flags | O_NOCTTY);
    if (file < 0) return -1;
    if (!fstat(file, &after) && after.st_dev == before.st_dev && after.st_ino == before.st_ino)
        return file;
    close(file);
    errno = ENODEV;
    return -1;
}

#endif
