// SPDX-License-Identifier: BSD-2-Clause

/* What is inline in hypercast_serial.h, for a program that loads a library. */
#include "hypercast_serial.h"

size_t link_size(void);
size_t link_size(void) { return sizeof(struct hypercast_serial); }

int link_open(struct hypercast_serial *serial, const struct hypercast_port *port, uint32_t session,
              uint32_t patience);
int link_open(struct hypercast_serial *serial, const struct hypercast_port *port, uint32_t session,
              uint32_t patience) {
    return (int)hypercast_serial_open(serial, *port, session, patience);
}

int link_read(struct hypercast_serial *serial, uint32_t offset, uint32_t *values, size_t count);
int link_read(struct hypercast_serial *serial, uint32_t offset, uint32_t *values, size_t count) {
    return (int)hypercast_serial_read(serial, offset, values, count);
}

int link_write(struct hypercast_serial *serial, uint32_t offset, const uint32_t *values,
               size_t count);
int link_write(struct hypercast_serial *serial, uint32_t offset, const uint32_t *values,
               size_t count) {
    return (int)hypercast_serial_write(serial, offset, values, count);
}

int link_flush(struct hypercast_serial *serial);
int link_flush(struct hypercast_serial *serial) { return (int)hypercast_serial_flush(serial); }
