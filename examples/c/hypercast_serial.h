// SPDX-License-Identifier: BSD-2-Clause

/*
 * A chip behind the serial link (docs/link.md), as a bus: frames with check sequences, commands
 * that are sent again until they are answered, four of them under way. The line itself is a port:
 * that of hypercast_tty.h, or three functions of your own.
 */
#ifndef HYPERCAST_SERIAL_H
#define HYPERCAST_SERIAL_H

#include <string.h>

#include "hypercast_driver.h"

/* Bytes to and from a board. */
struct hypercast_port {
    /* Send bytes; returns 0, or anything else if the port failed. */
    int (*send)(void *context, const unsigned char *bytes, size_t count);
    /*
     * Wait for bytes, at most so many milliseconds. Returns how many came, at most `size`; 0 if
     * none did; less if the port failed.
     */
    int (*receive)(void *context, unsigned char *bytes, size_t size, uint32_t milliseconds);
    /* Milliseconds since whenever; may begin again at 0 after the largest number. */
    uint32_t (*now)(void *context);
    void *context;
};

/* Numbers of the link, as in rtl/serial/protocol.py. */
enum {
    HYPERCAST_SERIAL_FLAG_ = 0x7e,
    HYPERCAST_SERIAL_ESCAPE_ = 0x7d,
    HYPERCAST_SERIAL_ESCAPED_ = 0x20,
    HYPERCAST_SERIAL_OPEN_ = 1,
    HYPERCAST_SERIAL_COMMAND_ = 2,
    HYPERCAST_SERIAL_STATE_ = 3,
    HYPERCAST_SERIAL_RESULT_ = 4,
    HYPERCAST_SERIAL_READ_ = 0,
    HYPERCAST_SERIAL_WRITE_ = 1,
    HYPERCAST_SERIAL_RESET_ = 2,
    HYPERCAST_SERIAL_WINDOW_ = 4,          /* commands under way */
    HYPERCAST_SERIAL_FRAME_WORDS_ = 256,   /* of the longest frame */
    HYPERCAST_SERIAL_ROOM_ = 256 - 2,      /* all but header and check */
    HYPERCAST_SERIAL_LONGEST_READ_ = 256 - 3
};
/* Bytes of the longest frame, if each of them is escaped. */
#define HYPERCAST_SERIAL_LONGEST 2050u
/* Silences after which a board is given up. */
#ifndef HYPERCAST_SERIAL_ATTEMPTS
#define HYPERCAST_SERIAL_ATTEMPTS 10
#endif

struct hypercast_serial_command_ {
    uint32_t words[HYPERCAST_SERIAL_ROOM_];
    size_t count;      /* of them */
    size_t last;       /* the last access word among them */
    uint32_t accesses; /* that are to succeed */
    uint32_t *values;  /* where what is read goes */
    size_t reads;      /* words that are read */
    int unanswered;
};

struct hypercast_serial {
    struct hypercast_port port;
    uint32_t patience; /* milliseconds of silence after which commands are sent again */
    uint32_t session;
    int opened;    /* the board has answered */
    uint32_t next; /* the sequence number of the next command, which is being gathered */
    /* The command of sequence number n is n modulo WINDOW. */
    struct hypercast_serial_command_ commands[HYPERCAST_SERIAL_WINDOW_];
    enum hypercast_result failure; /* after which nothing is sent any more */
    int silences;                  /* in a row */
    int repeated;                  /* all was sent again, and nothing answered since */
    uint32_t since;                /* of `now`: the last answer, or sending again */
    /* What has come of a frame. */
    unsigned char frame[4 * HYPERCAST_SERIAL_FRAME_WORDS_];
    size_t length;
    int escaped, spoilt;
};

/* The link's end: sending. */

struct hypercast_serial_output_ {
    unsigned char bytes[256];
    size_t count;
    uint32_t crc;
};

static inline int hypercast_serial_byte_(struct hypercast_serial *serial,
                                         struct hypercast_serial_output_ *output, unsigned byte,
                                         int flag) {
    int escape = !flag && (byte == HYPERCAST_SERIAL_FLAG_ || byte == HYPERCAST_SERIAL_ESCAPE_);
    if (escape) {
        output->bytes[output->count++] = HYPERCAST_SERIAL_ESCAPE_;
        byte ^= HYPERCAST_SERIAL_ESCAPED_;
    }
    output->bytes[output->count++] = (unsigned char)byte;
    if (output->count + 2 <= sizeof output->bytes) return 0;
    byte = (unsigned)output->count;
    output->count = 0;
    return serial->port.send(serial->port.context, output->bytes, byte);
}

static inline int hypercast_serial_word_(struct hypercast_serial *serial,
                                         struct hypercast_serial_output_ *output, uint32_t word) {
    int failed = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char byte = (unsigned char)(word >> 8 * i & 0xff);
        output->crc = hypercast_crc(output->crc, &byte, 1);
        failed |= hypercast_serial_byte_(serial, output, byte, 0);
    }
    return failed;
}

/* Sends a frame. */
static inline enum hypercast_result hypercast_serial_send_(struct hypercast_serial *serial,
                                                           uint32_t kind, uint32_t sequence,
                                                           const uint32_t *words, size_t count) {
    struct hypercast_serial_output_ output = {{0}, 0, 0};
    int failed = hypercast_serial_byte_(serial, &output, HYPERCAST_SERIAL_FLAG_, 1);
    failed |= hypercast_serial_word_(serial, &output,
                                     kind | sequence << 8 | serial->session << 16);
    for (size_t i = 0; i < count; i++)
        failed |= hypercast_serial_word_(serial, &output, words[i]);
    failed |= hypercast_serial_word_(serial, &output, output.crc);
    failed |= hypercast_serial_byte_(serial, &output, HYPERCAST_SERIAL_FLAG_, 1);
    failed |= serial->port.send(serial->port.context, output.bytes, output.count);
    if (failed) serial->failure = HYPERCAST_BUS_FAILED;
    return serial->failure;
}

static inline enum hypercast_result hypercast_serial_transmit_(struct hypercast_serial *serial,
                                                               uint32_t sequence) {
    const struct hypercast_serial_command_ *command =
        &serial->commands[sequence % HYPERCAST_SERIAL_WINDOW_];
    return hypercast_serial_send_(serial, HYPERCAST_SERIAL_COMMAND_, sequence, command->words,
                                  command->count);
}

/* Sends all again that is not answered, the oldest first. */
static inline enum hypercast_result hypercast_serial_repeat_(struct hypercast_serial *serial) {
    serial->repeated = 1;
    serial->since = serial->port.now(serial->port.context);
    if (!serial->opened)
        return hypercast_serial_send_(serial, HYPERCAST_SERIAL_OPEN_, 0, NULL, 0);
    for (uint32_t behind = HYPERCAST_SERIAL_WINDOW_; behind; behind--) {
        uint32_t sequence = (serial->next - behind) & 0xff;
        if (serial->commands[sequence % HYPERCAST_SERIAL_WINDOW_].unanswered &&
            hypercast_serial_transmit_(serial, sequence) != HYPERCAST_OK)
            break;
    }
    return serial->failure;
}

/* The link's end: receiving. */

static inline uint32_t hypercast_serial_at_(const struct hypercast_serial *serial, size_t index) {
    const unsigned char *bytes = serial->frame + 4 * index;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void hypercast_serial_progress_(struct hypercast_serial *serial) {
    serial->silences = serial->repeated = 0;
    serial->since = serial->port.now(serial->port.context);
}

/* The result of a command: `count` words from `first` on, the last of them accesses made. */
static inline void hypercast_serial_result_(struct hypercast_serial *serial, uint32_t sequence,
                                            size_t first, size_t count) {
    struct hypercast_serial_command_ *command =
        &serial->commands[sequence % HYPERCAST_SERIAL_WINDOW_];
    uint32_t behind = (serial->next - sequence) & 0xff;
    if (!command->unanswered || behind == 0 || behind > HYPERCAST_SERIAL_WINDOW_) return;
    hypercast_serial_progress_(serial);
    if (count == 0 || hypercast_serial_at_(serial, first + count - 1) > command->accesses)
        serial->failure = HYPERCAST_BUS_FAILED; /* no result of what was sent */
    else if (hypercast_serial_at_(serial, first + count - 1) < command->accesses)
        serial->failure = HYPERCAST_REFUSED;
    else if (count - 1 != command->reads)
        serial->failure = HYPERCAST_BUS_FAILED;
    else
        for (size_t i = 0; i < command->reads; i++)
            command->values[i] = hypercast_serial_at_(serial, first + i);
    command->count = command->reads = 0;
    command->accesses = 0;
    command->unanswered = 0;
}

/* What lies between two flags: a frame, unless it is none. */
static inline void hypercast_serial_frame_(struct hypercast_serial *serial) {
    size_t length = serial->length;
    int good = !serial->escaped && !serial->spoilt && length >= 8 && length % 4 == 0;
    uint32_t header, session, sequence;
    serial->length = 0;
    serial->escaped = serial->spoilt = 0;
    if (!good || hypercast_crc(0, serial->frame, length - 4) !=
                     hypercast_serial_at_(serial, length / 4 - 1))
        return;
    header = hypercast_serial_at_(serial, 0);
    sequence = header >> 8 & 0xff;
    session = header >> 16;
    switch (header & 0xff) {
    case HYPERCAST_SERIAL_STATE_:
        if (!serial->opened) {
            if (session != serial->session) return; /* to whoever was there before */
            serial->opened = 1;
            serial->next = sequence;
            hypercast_serial_progress_(serial);
        } else if (session != serial->session) {
            serial->failure = HYPERCAST_WAS_RESET;
        } else if (!serial->repeated) {
            (void)hypercast_serial_repeat_(serial);
        }
        return;
    case HYPERCAST_SERIAL_RESULT_:
        if (serial->opened && session == serial->session)
            hypercast_serial_result_(serial, sequence, 1, length / 4 - 2);
        return;
    default:
        return;
    }
}

static inline void hypercast_serial_take_(struct hypercast_serial *serial, unsigned char byte) {
    if (byte == HYPERCAST_SERIAL_FLAG_) {
        hypercast_serial_frame_(serial);
    } else if (byte == HYPERCAST_SERIAL_ESCAPE_) {
        serial->spoilt |= serial->escaped;
        serial->escaped = 1;
    } else if (serial->length == sizeof serial->frame) {
        serial->spoilt = 1;
    } else {
        serial->frame[serial->length++] =
            (unsigned char)(serial->escaped ? byte ^ HYPERCAST_SERIAL_ESCAPED_ : byte);
        serial->escaped = 0;
    }
}

/* Waits for something; what lasts too long is sent again, or is given up. */
static inline enum hypercast_result hypercast_serial_receive_(struct hypercast_serial *serial) {
    unsigned char bytes[256];
    int count = serial->port.receive(serial->port.context, bytes, sizeof bytes, serial->patience);
    if (count < 0) serial->failure = HYPERCAST_BUS_FAILED;
    for (int i = 0; i < count && serial->failure == HYPERCAST_OK; i++)
        hypercast_serial_take_(serial, bytes[i]);
    if (serial->failure != HYPERCAST_OK) return serial->failure;
    /* Whatever comes that is no answer must not keep the host waiting, either. */
    if (count && serial->port.now(serial->port.context) - serial->since <
                     HYPERCAST_SERIAL_WINDOW_ * serial->patience)
        return HYPERCAST_OK;
    if (++serial->silences >= HYPERCAST_SERIAL_ATTEMPTS)
        return serial->failure = HYPERCAST_NO_ANSWER;
    return hypercast_serial_repeat_(serial);
}

/* Commands. */

/* The command that is being gathered; waits until there is room for one. */
static inline struct hypercast_serial_command_ *hypercast_serial_gathered_(
    struct hypercast_serial *serial) {
    struct hypercast_serial_command_ *command =
        &serial->commands[serial->next % HYPERCAST_SERIAL_WINDOW_];
    while (serial->failure == HYPERCAST_OK && command->unanswered)
        (void)hypercast_serial_receive_(serial);
    return command;
}

/* Adds an access, made `count` times. */
static inline void hypercast_serial_add_(struct hypercast_serial_command_ *command,
                                         uint32_t access, uint32_t offset, size_t count) {
    command->last = command->count;
    command->words[command->count++] = offset | access << 14 | (uint32_t)count << 16;
    command->accesses += (uint32_t)count;
}

/* Sends what was gathered. */
static inline void hypercast_serial_post_(struct hypercast_serial *serial) {
    struct hypercast_serial_command_ *command = hypercast_serial_gathered_(serial);
    int waiting = 0;
    if (serial->failure != HYPERCAST_OK || !command->count) return;
    for (int i = 0; i < HYPERCAST_SERIAL_WINDOW_; i++) waiting |= serial->commands[i].unanswered;
    if (!waiting) serial->since = serial->port.now(serial->port.context);
    command->unanswered = 1;
    serial->next = (serial->next + 1) & 0xff;
    (void)hypercast_serial_transmit_(serial, (serial->next - 1) & 0xff);
}

/* Sends what was gathered, and waits until all is answered. */
static inline enum hypercast_result hypercast_serial_flush(struct hypercast_serial *serial) {
    hypercast_serial_post_(serial);
    for (int i = 0; i < HYPERCAST_SERIAL_WINDOW_; i++)
        while (serial->failure == HYPERCAST_OK && serial->commands[i].unanswered)
            (void)hypercast_serial_receive_(serial);
    return serial->failure;
}

static inline enum hypercast_result hypercast_serial_read(void *context, uint32_t offset,
                                                          uint32_t *values, size_t count) {
    struct hypercast_serial *serial = (struct hypercast_serial *)context;
    while (count && serial->failure == HYPERCAST_OK) {
        struct hypercast_serial_command_ *command = hypercast_serial_gathered_(serial);
        size_t taken = HYPERCAST_SERIAL_LONGEST_READ_;
        if (taken > count) taken = count;
        if (serial->failure != HYPERCAST_OK) break;
        if (command->count < HYPERCAST_SERIAL_ROOM_) {
            hypercast_serial_add_(command, HYPERCAST_SERIAL_READ_, offset, taken);
            command->values = values;
            command->reads = taken;
            values += taken;
            count -= taken;
        }
        hypercast_serial_post_(serial);
    }
    return hypercast_serial_flush(serial);
}

/* Words are gathered, so what fails may be told by a later access. */
static inline enum hypercast_result hypercast_serial_write(void *context, uint32_t offset,
                                                           const uint32_t *values, size_t count) {
    struct hypercast_serial *serial = (struct hypercast_serial *)context;
    while (count && serial->failure == HYPERCAST_OK) {
        struct hypercast_serial_command_ *command = hypercast_serial_gathered_(serial);
        size_t room = HYPERCAST_SERIAL_ROOM_ - command->count;
        int more = command->count && (command->words[command->last] & 0xffff) ==
                                         (offset | HYPERCAST_SERIAL_WRITE_ << 14);
        if (serial->failure != HYPERCAST_OK) break;
        if (room < (more ? 1 : 2)) {
            hypercast_serial_post_(serial);
            continue;
        }
        if (!more) hypercast_serial_add_(command, HYPERCAST_SERIAL_WRITE_, offset, 0);
        room = HYPERCAST_SERIAL_ROOM_ - command->count;
        if (room > count) room = count;
        memcpy(command->words + command->count, values, room * sizeof *values);
        command->words[command->last] += (uint32_t)room << 16;
        command->accesses += (uint32_t)room;
        command->count += room;
        values += room;
        count -= room;
    }
    return serial->failure;
}

/*
 * Opens a session, and resets the chip. `session`, 1 to 65535, should be another one than that of
 * the host before. `patience`, in milliseconds, has to be longer than HYPERCAST_SERIAL_LONGEST
 * bytes take.
 */
static inline enum hypercast_result hypercast_serial_open(struct hypercast_serial *serial,
                                                          struct hypercast_port port,
                                                          uint32_t session, uint32_t patience) {
    memset(serial, 0, sizeof *serial);
    serial->port = port;
    serial->session = session;
    serial->patience = patience;
    (void)hypercast_serial_repeat_(serial);
    while (serial->failure == HYPERCAST_OK && !serial->opened)
        (void)hypercast_serial_receive_(serial);
    if (serial->failure == HYPERCAST_OK)
        hypercast_serial_add_(hypercast_serial_gathered_(serial), HYPERCAST_SERIAL_RESET_, 0, 1);
    return hypercast_serial_flush(serial);
}

/* The bus of an open session; it has to stay where it is. */
static inline struct hypercast_bus hypercast_serial_bus(struct hypercast_serial *serial) {
    struct hypercast_bus bus;
    bus.read = hypercast_serial_read;
    bus.write = hypercast_serial_write;
    bus.context = serial;
    return bus;
}

#endif
