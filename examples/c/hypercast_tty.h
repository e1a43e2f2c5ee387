// SPDX-License-Identifier: BSD-2-Clause

/*
 * A serial port of a POSIX system as the port of hypercast_serial.h. With `-std=c99`, define
 * _DEFAULT_SOURCE before the first header.
 */
#ifndef HYPERCAST_TTY_H
#define HYPERCAST_TTY_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "hypercast_device.h"
#include "hypercast_serial.h"

struct hypercast_tty {
    int file;
    uint32_t baud;
};

/* Milliseconds after which a port takes no more bytes for good. */
#define HYPERCAST_TTY_STUCK_ 20000
/* Milliseconds that operating system and adapter may take, both ways. */
#define HYPERCAST_TTY_LATENCY_ 200u

/* The constant of a rate; B0 if the system has none. */
static inline speed_t hypercast_tty_speed_(uint32_t baud) {
    static const struct { uint32_t baud; speed_t speed; } speeds[] = {
        {1200, B1200}, {2400, B2400}, {4800, B4800}, {9600, B9600}, {19200, B19200},
        {38400, B38400},
#ifdef B57600
        {57600, B57600},
#endif
#ifdef B115200
        {115200, B115200},
#endif
#ifdef B230400
        {230400, B230400},
#endif
#ifdef B460800
        {460800, B460800},
#endif
#ifdef B500000
        {500000, B500000},
#endif
#ifdef B921600
        {921600, B921600},
#endif
#ifdef B1000000
        {1000000, B1000000},
#endif
#ifdef B1500000
        {1500000, B1500000},
#endif
#ifdef B2000000
        {2000000, B2000000},
#endif
#ifdef B3000000
        {3000000, B3000000},
#endif
#ifdef B4000000
        {4000000, B4000000},
#endif
    };
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (speeds[i].baud == baud) return speeds[i].speed;
    return B0;
}

/* Eight bits, no parity, one stop bit, and nothing that looks at bytes. */
static inline int hypercast_tty_raw_(int file, speed_t speed) {
    struct termios settings;
    if (speed == B0) {
        errno = EINVAL;
        return -1;
    }
    if (tcgetattr(file, &settings)) return -1;
    settings.c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL |
                                    IXON | IXOFF | INPCK);
    settings.c_oflag &= ~(tcflag_t)OPOST;
    settings.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
    settings.c_cflag &= ~(tcflag_t)(CSIZE | PARENB | CSTOPB);
#ifdef CRTSCTS
    settings.c_cflag &= ~(tcflag_t)CRTSCTS;
#endif
    settings.c_cflag |= CS8 | CREAD | CLOCAL;
    settings.c_cc[VMIN] = 0;
    settings.c_cc[VTIME] = 0;
    if (cfsetispeed(&settings, speed) || cfsetospeed(&settings, speed)) return -1;
    return tcsetattr(file, TCSANOW, &settings) || tcflush(file, TCIOFLUSH) ? -1 : 0;
}

/*
 * Opens a port, which no other program may have open. Returns 0, or -1, and errno says why: EBUSY
 * if another program has it, ENODEV or ENOTTY if it is no port, EINVAL if the system knows no such
 * rate.
 */
static inline int hypercast_tty_open(struct hypercast_tty *tty, const char *path, uint32_t baud) {
    int error = 0;
    tty->baud = baud;
    tty->file = hypercast_device_open(path, O_RDWR | O_NONBLOCK, 0);
    if (tty->file < 0) return -1;
    if (flock(tty->file, LOCK_EX | LOCK_NB))
        error = errno == EWOULDBLOCK ? EBUSY : errno;
    else if (hypercast_tty_raw_(tty->file, hypercast_tty_speed_(baud)))
        error = errno;
    if (!error) return 0;
    close(tty->file);
    tty->file = -1;
    errno = error;
    return -1;
}

static inline void hypercast_tty_close(struct hypercast_tty *tty) {
    if (tty->file >= 0) close(tty->file);
    tty->file = -1;
}

/* Waits until the port is ready for `events`: 1, 0 if it is not in time, or -1. */
static inline int hypercast_tty_wait_(int file, short events, int milliseconds) {
    struct pollfd ready;
    int count;
    ready.fd = file;
    ready.events = events;
    ready.revents = 0;
    do
        count = poll(&ready, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    if (count > 0 && !(ready.revents & events)) return -1;
    return count;
}

static inline int hypercast_tty_send_(void *context, const unsigned char *bytes, size_t count) {
    int file = ((struct hypercast_tty *)context)->file;
    while (count) {
        ssize_t taken;
        if (hypercast_tty_wait_(file, POLLOUT, HYPERCAST_TTY_STUCK_) <= 0) return -1;
        taken = write(file, bytes, count);
        if (taken < 0 && errno != EAGAIN && errno != EINTR) return -1;
        if (taken < 0) continue;
        bytes += taken;
        count -= (size_t)taken;
    }
    return 0;
}

static inline int hypercast_tty_receive_(void *context, unsigned char *bytes, size_t size,
                                         uint32_t milliseconds) {
    int file = ((struct hypercast_tty *)context)->file;
    int ready = hypercast_tty_wait_(file, POLLIN, (int)milliseconds);
    ssize_t count;
    if (ready <= 0) return ready;
    count = read(file, bytes, size);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    return count ? (int)count : -1; /* a port that is gone is ready, and gives nothing */
}

static inline uint32_t hypercast_tty_now_(void *context) {
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_sec * 1000u + (uint32_t)(now.tv_nsec / 1000000);
}

/* The port that was opened; it has to stay where it is. */
static inline struct hypercast_port hypercast_tty_port(struct hypercast_tty *tty) {
    struct hypercast_port port;
    port.send = hypercast_tty_send_;
    port.receive = hypercast_tty_receive_;
    port.now = hypercast_tty_now_;
    port.context = tty;
    return port;
}

/* Opens a session over a port that is open, and resets the chip. */
static inline enum hypercast_result hypercast_tty_session(struct hypercast_tty *tty,
                                                          struct hypercast_serial *serial) {
    struct timespec now;
    uint32_t number;
    clock_gettime(CLOCK_REALTIME, &now);
    number = (uint32_t)now.tv_sec ^ (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 4;
    number = (number ^ number >> 16) & 0xffff;
    return hypercast_serial_open(
        serial, hypercast_tty_port(tty), number ? number : 1,
        HYPERCAST_TTY_LATENCY_ + HYPERCAST_SERIAL_LONGEST * 10u * 1000u / tty->baud);
}

#endif
