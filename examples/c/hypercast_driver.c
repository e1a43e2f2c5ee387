// SPDX-License-Identifier: BSD-2-Clause

#include "hypercast_driver.h"

/* Of a chip whose top module has another name: -DHYPERCAST_HEADER='"NAME.h"'. */
#ifndef HYPERCAST_HEADER
#define HYPERCAST_HEADER "hypercast.h"
#endif
#include HYPERCAST_HEADER

/* The image, as host/runtime/image.py writes it. */
#define IMAGE_MAGIC 0x4843494du
#define NO_ENTRY 0xffffffffu
/* Added to the dropout key by a training step. */
#define KEY_INCREMENT 0x9e3779b9u
#define ROW_WORDS 16u /* addresses of a row of the program */
enum { MAGIC, CHECK, VERSION, CONFIG_HASH, STEP_KEY, LOAD, TRAIN, EVALUATE, LIMIT, STEPS,
       PARAMETERS, BLOCKS, HEADER_WORDS };
enum { TENSOR, ROWS, COLUMNS, BASE, HEIGHT, PARAMETER_WORDS };
enum { STEP, CORE, SPACE, ADDRESS, COUNT, BLOCK_WORDS };

/* Words that are brought to the chip, or from it, at once. */
#define CHUNK_WORDS 64u
/* Looks at a chip that counts no cycles, or whose reset does not end, before it is given up. */
#define LOOKS 1000
/* What a host reads where nobody is. */
#define NOBODY 0xffffffffu

/* Ends the function with what went wrong in `call`, if anything did. */
#define TRY(call)                                    \
    do {                                             \
        enum hypercast_result result_ = (call);      \
        if (result_ != HYPERCAST_OK) return result_; \
    } while (0)

const char *hypercast_message(enum hypercast_result result) {
    switch (result) {
    case HYPERCAST_OK: return "no error";
    case HYPERCAST_BUS_FAILED: return "an access to a register failed; check the connection";
    case HYPERCAST_NO_ANSWER:
        return "the chip does not answer; check that the board is on, its cable, and the baud rate "
               "or, on PCIe, load its bitstream again and rescan the bus";
    case HYPERCAST_REFUSED:
        return "the chip refused an access; make chip, image and hypercast.h with the same version";
    case HYPERCAST_WAS_RESET:
        return "the board was reset, or another program opened it: its state is lost; start again";
    case HYPERCAST_NOT_FOUND: return "there is no Hypercast at this address";
    case HYPERCAST_WRONG_VERSION:
        return "chip and image are of different versions of Hypercast; make both with the same";
    case HYPERCAST_WRONG_CONFIGURATION:
        return "chip, image and hypercast.h are not of one configuration; make all with the same "
               "options --preset and -P";
    case HYPERCAST_BAD_IMAGE:
        return "this is no image, or only a part of one, or was changed; write it again";
    case HYPERCAST_NOT_RESET:
        return "the chip's reset does not end, because a memory of it does not answer; load its "
               "bitstream again";
    case HYPERCAST_STOPPED: return "the program stopped with an error";
    case HYPERCAST_TIMED_OUT:
        return "the chip did not end a program, though it should have stopped it by itself; load "
               "its bitstream again";
    case HYPERCAST_STANDING_STILL:
        return "the program runs, but the chip counts no cycles; check its clock";
    case HYPERCAST_BUSY: return "the chip is at work; wait until it ends, or reset it";
    case HYPERCAST_NO_PROGRAM: return "the image has no such program; load one that has";
    case HYPERCAST_LOST_COUNT:
        return "the chip counts other training steps than it was to do; results are void, load "
               "the image again";
    }
    return "unknown error";
}

const char *hypercast_cause(const struct hypercast *chip) {
    static const struct {
        uint32_t bit;
        const char *text;
    } causes[] = {
        {HYPERCAST_ERROR_OPCODE, "an instruction is unknown; load the image again"},
        {HYPERCAST_ERROR_PROGRAM,
         "an instruction or an exponent had changed in its memory; load the image again"},
        {HYPERCAST_ERROR_MEMORY,
         "a memory failed, or a word in it had changed; load the image again, and test the memories "
         "by hypercast selftest"},
        {HYPERCAST_ERROR_LINK,
         "a link between cores failed; load the image again, and test the links by hypercast "
         "selftest"},
        {HYPERCAST_ERROR_NETWORK,
         "a core received what it did not expect; load the image again"},
        {HYPERCAST_ERROR_STALLED,
         "nothing moved any more: something was lost; load the image again, which resets the chip"},
        {HYPERCAST_ERROR_RUNAWAY,
         "the program went on for longer than it can: it did not find what was loaded, or what has "
         "to run before it did not; load the image again, which resets the chip"},
        {HYPERCAST_ERROR_ACCUMULATOR,
         "a gradient's sum over the vertices took more bits than an accumulator has; train on "
         "samples, or with element_width 8, and load the image again"},
        {HYPERCAST_ERROR_EXPONENT,
         "numbers grew too large; lower the learning rate, or scale the features down"},
        {HYPERCAST_ERROR_ALIGNMENT,
         "numbers grew too far apart; lower the learning rate, or scale the features down"},
        {HYPERCAST_ERROR_WINDOW, "the window was used on a space or core that does not exist"},
    };
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (chip->error & causes[i].bit) return causes[i].text;
    return "nothing";
}

uint32_t hypercast_crc(uint32_t crc, const unsigned char *bytes, size_t count) {
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Registers and window. */

static enum hypercast_result get_many(struct hypercast *chip, uint32_t offset, uint32_t *values,
                                      size_t count) {
    uint32_t magic;
    TRY(chip->bus.read(chip->bus.context, offset, values, count));
    for (size_t i = 0; i < count; i++)
        if (values[i] == NOBODY) {
            TRY(chip->bus.read(chip->bus.context, HYPERCAST_REG_MAGIC, &magic, 1));
            return magic == HYPERCAST_MAGIC_VALUE ? HYPERCAST_OK : HYPERCAST_NO_ANSWER;
        }
    return HYPERCAST_OK;
}

static enum hypercast_result get(struct hypercast *chip, uint32_t offset, uint32_t *value) {
    return get_many(chip, offset, value, 1);
}

static enum hypercast_result put(struct hypercast *chip, uint32_t offset, uint32_t value) {
    return chip->bus.write(chip->bus.context, offset, &value, 1);
}

static enum hypercast_result look(struct hypercast *chip, uint32_t core, uint32_t space,
                                  uint32_t address) {
    TRY(put(chip, HYPERCAST_REG_CORE, core));
    TRY(put(chip, HYPERCAST_REG_SPACE, space));
    return put(chip, HYPERCAST_REG_ADDRESS, address);
}

/* The image. */

static uint32_t word(const struct hypercast *chip, size_t index) {
    const unsigned char *bytes = chip->image + 4 * index;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static size_t first_block(const struct hypercast *chip) {
    return HEADER_WORDS + (size_t)PARAMETER_WORDS * word(chip, PARAMETERS);
}

static enum hypercast_result check_identity(uint32_t version, uint32_t config_hash) {
    if (version != HYPERCAST_VERSION_VALUE) return HYPERCAST_WRONG_VERSION;
    if (config_hash != HYPERCAST_CONFIG_HASH_VALUE) return HYPERCAST_WRONG_CONFIGURATION;
    return HYPERCAST_OK;
}

/* Whether all parts of an image are there, and as they were written. */
static enum hypercast_result check_image(struct hypercast *chip, size_t size) {
    size_t words = size / 4, next;
    if (words < HEADER_WORDS || word(chip, MAGIC) != IMAGE_MAGIC) return HYPERCAST_BAD_IMAGE;
    TRY(check_identity(word(chip, VERSION), word(chip, CONFIG_HASH)));
    if (hypercast_crc(0, chip->image + 4 * VERSION, size - 4 * VERSION) != word(chip, CHECK) ||
        (words - HEADER_WORDS) / PARAMETER_WORDS < word(chip, PARAMETERS))
        return HYPERCAST_BAD_IMAGE;
    next = first_block(chip);
    for (uint32_t block = 0; block < word(chip, BLOCKS); block++) {
        if (words - next < BLOCK_WORDS || words - next - BLOCK_WORDS < word(chip, next + COUNT))
            return HYPERCAST_BAD_IMAGE;
        next += BLOCK_WORDS + word(chip, next + COUNT);
    }
    return 4 * next == size ? HYPERCAST_OK : HYPERCAST_BAD_IMAGE;
}

/* A stalled program ends, but its engines stay busy. */
static enum hypercast_result check_idle(struct hypercast *chip) {
    uint32_t status, busy;
    TRY(get(chip, HYPERCAST_REG_STATUS, &status));
    TRY(get(chip, HYPERCAST_REG_BUSY, &busy));
    return status & HYPERCAST_STATUS_RUNNING || busy ? HYPERCAST_BUSY : HYPERCAST_OK;
}

/* A program that did not reach its end may have left sums in accumulators, and busy engines. */
static enum hypercast_result reset(struct hypercast *chip) {
    uint32_t status;
    TRY(get(chip, HYPERCAST_REG_STATUS, &status));
    if (status & HYPERCAST_STATUS_RUNNING) return HYPERCAST_BUSY;
    TRY(put(chip, HYPERCAST_REG_CONTROL, HYPERCAST_CONTROL_RESET));
    for (int looks = 0; looks < LOOKS; looks++) {
        TRY(get(chip, HYPERCAST_REG_STATUS, &status));
        if (!(status & HYPERCAST_STATUS_RESETTING)) return HYPERCAST_OK;
    }
    return HYPERCAST_NOT_RESET;
}

static enum hypercast_result write_block(struct hypercast *chip) {
    size_t block = chip->next_block, i = block + BLOCK_WORDS, end = i + word(chip, block + COUNT);
    uint32_t values[CHUNK_WORDS];
    if (word(chip, block + SPACE) == HYPERCAST_SPACE_PROGRAM &&
        word(chip, block + ADDRESS) / ROW_WORDS >= chip->rows)
        chip->rows = word(chip, block + ADDRESS) / ROW_WORDS + 1;
    TRY(look(chip, word(chip, block + CORE), word(chip, block + SPACE),
             word(chip, block + ADDRESS)));
    while (i < end) {
        size_t count = 0;
        while (count < CHUNK_WORDS && i < end) values[count++] = word(chip, i++);
        TRY(chip->bus.write(chip->bus.context, HYPERCAST_REG_DATA, values, count));
    }
    chip->next_block = end;
    return HYPERCAST_OK;
}

/* Writes the blocks that are due before the next training step. */
static enum hypercast_result write_blocks(struct hypercast *chip) {
    TRY(check_idle(chip));
    for (; chip->blocks && word(chip, chip->next_block + STEP) <= chip->step; chip->blocks--)
        TRY(write_block(chip));
    return HYPERCAST_OK;
}

/* Programs. */

static enum hypercast_result check_count(struct hypercast *chip) {
    uint32_t step, key;
    TRY(get(chip, HYPERCAST_REG_STEP, &step));
    TRY(get(chip, HYPERCAST_REG_STEP_KEY, &key));
    return step != chip->step || key != word(chip, STEP_KEY) + step * KEY_INCREMENT
               ? HYPERCAST_LOST_COUNT : HYPERCAST_OK;
}

/* Ends a program that does not end by itself; the read makes sure that the write has arrived. */
static enum hypercast_result give_up(struct hypercast *chip, enum hypercast_result reason) {
    uint32_t status;
    TRY(put(chip, HYPERCAST_REG_CONTROL, HYPERCAST_CONTROL_STOP));
    TRY(get(chip, HYPERCAST_REG_STATUS, &status));
    return reason;
}

/* Waits for the end of the program, which a sound chip ends by itself. */
static enum hypercast_result wait(struct hypercast *chip, uint32_t *status) {
    const uint64_t moving = (uint64_t)word(chip, LIMIT) * HYPERCAST_LIMIT_UNIT;
    uint64_t cycles, before = 0;
    int looks = 0;
    for (;;) {
        TRY(get(chip, HYPERCAST_REG_STATUS, status));
        if (!(*status & HYPERCAST_STATUS_RUNNING)) return HYPERCAST_OK;
        TRY(hypercast_cycles(chip, &cycles));
        if (cycles > (moving + 2) * HYPERCAST_PATIENCE) return give_up(chip, HYPERCAST_TIMED_OUT);
        looks = cycles == before ? looks + 1 : 0;
        if (looks == LOOKS) return give_up(chip, HYPERCAST_STANDING_STILL);
        before = cycles;
    }
}

/* Runs a program that counts `steps` training steps, to its end. */
static enum hypercast_result run(struct hypercast *chip, uint32_t entry, uint32_t steps) {
    uint32_t status;
    if (entry >= chip->rows) return HYPERCAST_NO_PROGRAM;
    TRY(check_idle(chip));
    TRY(check_count(chip));
    TRY(put(chip, HYPERCAST_REG_ENTRY, entry));
    TRY(put(chip, HYPERCAST_REG_REPEAT, 1));
    TRY(put(chip, HYPERCAST_REG_LIMIT, word(chip, LIMIT)));
    TRY(put(chip, HYPERCAST_REG_CONTROL, HYPERCAST_CONTROL_START));
    TRY(wait(chip, &status));
    if (status & HYPERCAST_STATUS_ERROR) {
        TRY(get(chip, HYPERCAST_REG_ERROR, &chip->error));
        TRY(put(chip, HYPERCAST_REG_ERROR, chip->error));
        TRY(get(chip, HYPERCAST_REG_STATUS, &status)); /* the write has arrived */
        return HYPERCAST_STOPPED;
    }
    chip->step += steps;
    return check_count(chip);
}

enum hypercast_result hypercast_open(struct hypercast *chip, struct hypercast_bus bus) {
    uint32_t magic, version, config_hash;
    *chip = (struct hypercast){.bus = bus};
    TRY(bus.read(bus.context, HYPERCAST_REG_MAGIC, &magic, 1));
    if (magic != HYPERCAST_MAGIC_VALUE) return HYPERCAST_NOT_FOUND;
    TRY(get(chip, HYPERCAST_REG_VERSION, &version));
    TRY(get(chip, HYPERCAST_REG_CONFIG_HASH, &config_hash));
    return check_identity(version, config_hash);
}

enum hypercast_result hypercast_load(struct hypercast *chip, const unsigned char *image,
                                     size_t size) {
    chip->image = image;
    TRY(check_image(chip, size));
    chip->next_block = first_block(chip);
    chip->blocks = word(chip, BLOCKS);
    chip->step = chip->rows = 0;
    TRY(reset(chip));
    TRY(write_blocks(chip));
    TRY(put(chip, HYPERCAST_REG_ERROR, ~0u)); /* of what was in memories before */
    TRY(put(chip, HYPERCAST_REG_STEP, 0));
    TRY(put(chip, HYPERCAST_REG_STEP_KEY, word(chip, STEP_KEY)));
    return word(chip, LOAD) == NO_ENTRY ? check_count(chip) : run(chip, word(chip, LOAD), 0);
}

uint32_t hypercast_steps(const struct hypercast *chip) { return word(chip, STEPS); }

enum hypercast_result hypercast_train(struct hypercast *chip) {
    TRY(write_blocks(chip));
    return run(chip, word(chip, TRAIN), 1);
}

enum hypercast_result hypercast_evaluate(struct hypercast *chip) {
    return run(chip, word(chip, EVALUATE), 0);
}

/* Results. */

enum hypercast_result hypercast_cycles(struct hypercast *chip, uint64_t *cycles) {
    uint32_t low, high;
    TRY(get(chip, HYPERCAST_REG_CYCLES_LOW, &low)); /* latches the high half */
    TRY(get(chip, HYPERCAST_REG_CYCLES_HIGH, &high));
    *cycles = (uint64_t)high << 32 | low;
    return HYPERCAST_OK;
}

enum hypercast_result hypercast_counter(struct hypercast *chip, uint32_t index, uint64_t *sum) {
    *sum = 0;
    for (uint32_t core = 0; core < HYPERCAST_CONFIG_CORES; core++) {
        uint32_t value;
        TRY(look(chip, core, HYPERCAST_SPACE_CORE, HYPERCAST_CORE_SPACE_COUNTERS + index));
        TRY(get(chip, HYPERCAST_REG_DATA, &value));
        *sum += value;
    }
    return HYPERCAST_OK;
}

uint32_t hypercast_parameters(const struct hypercast *chip) { return word(chip, PARAMETERS); }

/* The lowest `bits` bits of a word as a signed number. */
static int32_t signed_bits(uint32_t value, uint32_t bits) {
    uint32_t sign = 1u << (bits - 1);
    return (int32_t)((value & (2 * sign - 1)) ^ sign) - (int32_t)sign;
}

enum hypercast_result hypercast_describe(struct hypercast *chip, uint32_t number,
                                         struct hypercast_parameter *parameter) {
    size_t place = HEADER_WORDS + (size_t)PARAMETER_WORDS * number;
    uint32_t entry;
    TRY(look(chip, 0, HYPERCAST_SPACE_TENSORS, word(chip, place + TENSOR)));
    TRY(get(chip, HYPERCAST_REG_DATA, &entry));
    *parameter = (struct hypercast_parameter){
        .rows = word(chip, place + ROWS),
        .columns = word(chip, place + COLUMNS),
        .exponent = signed_bits(entry, 8),
        .base = word(chip, place + BASE),
        .height = word(chip, place + HEIGHT),
    };
    return HYPERCAST_OK;
}

/* Elements of the columns from `first` on, of a panel, in a row of the weight bank: CHUNKS words. */
static void unpack(const uint32_t *words, uint32_t columns, int32_t *elements) {
    const uint32_t width = HYPERCAST_CONFIG_ELEMENT_WIDTH;
    for (uint32_t lane = 0; lane < columns; lane++)
        elements[lane] = signed_bits(words[lane * width / 32] >> lane * width % 32, width);
}

enum hypercast_result hypercast_elements(struct hypercast *chip,
                                         const struct hypercast_parameter *parameter,
                                         int32_t *elements) {
    uint32_t words[CHUNK_WORDS];
    const uint32_t most = CHUNK_WORDS / HYPERCAST_CONFIG_CHUNKS;
    for (uint32_t first = 0, base = parameter->base; first < parameter->columns;
         first += HYPERCAST_CONFIG_LANES, base += parameter->height) {
        uint32_t columns = parameter->columns - first;
        if (columns > HYPERCAST_CONFIG_LANES) columns = HYPERCAST_CONFIG_LANES;
        TRY(look(chip, 0, HYPERCAST_SPACE_WEIGHTS, base * HYPERCAST_CONFIG_CHUNKS));
        for (uint32_t row = 0, rows; row < parameter->rows; row += rows) {
            rows = parameter->rows - row < most ? parameter->rows - row : most;
            TRY(get_many(chip, HYPERCAST_REG_DATA, words, (size_t)rows * HYPERCAST_CONFIG_CHUNKS));
            for (uint32_t i = 0; i < rows; i++)
                unpack(words + i * HYPERCAST_CONFIG_CHUNKS, columns,
                       elements + (size_t)(row + i) * parameter->columns + first);
        }
    }
    return HYPERCAST_OK;
}
