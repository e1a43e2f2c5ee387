#include "hypercast_driver.h"

#include "hypercast.h"

/* The image, as host/image.py writes it. */
#define IMAGE_MAGIC 0x4843494du
#define NO_ENTRY 0xffffffffu
/* Added to the dropout key by a training step. */
#define KEY_INCREMENT 0x9e3779b9u
#define ROW_WORDS 16u /* addresses of a row of the program */
enum { MAGIC, VERSION, CONFIG_HASH, STEP_KEY, LOAD, TRAIN, EVALUATE, STEPS, PARAMETERS, BLOCKS,
       HEADER_WORDS };
enum { TENSOR, ROWS, COLUMNS, BASE, HEIGHT, PARAMETER_WORDS };
enum { STEP, CORE, SPACE, ADDRESS, COUNT, BLOCK_WORDS };

/* Ends the function with what went wrong in `call`, if anything did. */
#define TRY(call)                                \
    do {                                         \
        enum hypercast_result result_ = (call);  \
        if (result_ != HYPERCAST_OK) return result_; \
    } while (0)

const char *hypercast_message(enum hypercast_result result) {
    switch (result) {
    case HYPERCAST_OK: return "no error";
    case HYPERCAST_BUS_FAILED: return "an access to a register failed; check the connection";
    case HYPERCAST_NOT_FOUND: return "there is no Hypercast at this address";
    case HYPERCAST_WRONG_VERSION:
        return "chip and image are of different versions of Hypercast; make both with the same";
    case HYPERCAST_WRONG_CONFIGURATION:
        return "chip, image and hypercast.h are not of one configuration; make all with the same "
               "options --preset and -P";
    case HYPERCAST_BAD_IMAGE: return "this is no image, or only a part of one; write it again";
    case HYPERCAST_STOPPED: return "the program stopped with an error";
    case HYPERCAST_TIMED_OUT: return "the program did not end in time";
    case HYPERCAST_BUSY: return "the chip is at work; wait until it ends, or reset it";
    case HYPERCAST_NO_PROGRAM: return "the image has no such program; load one that has";
    case HYPERCAST_LOST_COUNT:
        return "the chip counts other training steps than it was to do; results are void, load "
               "the image again";
    }
    return "unknown error";
}

/* Registers and window. */

static enum hypercast_result get(struct hypercast *chip, uint32_t offset, uint32_t *value) {
    return chip->bus.read(chip->bus.context, offset, value) ? HYPERCAST_BUS_FAILED : HYPERCAST_OK;
}

static enum hypercast_result put(struct hypercast *chip, uint32_t offset, uint32_t value) {
    return chip->bus.write(chip->bus.context, offset, value) ? HYPERCAST_BUS_FAILED : HYPERCAST_OK;
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

/* A stalled program ends, but its engines stay busy. */
static enum hypercast_result check_idle(struct hypercast *chip) {
    uint32_t status, busy;
    TRY(get(chip, HYPERCAST_REG_STATUS, &status));
    TRY(get(chip, HYPERCAST_REG_BUSY, &busy));
    return status & HYPERCAST_STATUS_RUNNING || busy ? HYPERCAST_BUSY : HYPERCAST_OK;
}

/* Writes the blocks that are due before the next training step. */
static enum hypercast_result write_blocks(struct hypercast *chip) {
    TRY(check_idle(chip));
    for (; chip->blocks; chip->blocks--) {
        size_t block = chip->next_block, left = chip->image_words - block;
        if (left < BLOCK_WORDS || left - BLOCK_WORDS < word(chip, block + COUNT))
            return HYPERCAST_BAD_IMAGE;
        if (word(chip, block + STEP) > chip->step) break;
        if (word(chip, block + SPACE) == HYPERCAST_SPACE_PROGRAM &&
            word(chip, block + ADDRESS) / ROW_WORDS >= chip->rows)
            chip->rows = word(chip, block + ADDRESS) / ROW_WORDS + 1;
        TRY(look(chip, word(chip, block + CORE), word(chip, block + SPACE),
                 word(chip, block + ADDRESS)));
        chip->next_block = block + BLOCK_WORDS + word(chip, block + COUNT);
        for (size_t i = block + BLOCK_WORDS; i < chip->next_block; i++)
            TRY(put(chip, HYPERCAST_REG_DATA, word(chip, i)));
    }
    return HYPERCAST_OK;
}

static enum hypercast_result check_identity(uint32_t version, uint32_t config_hash) {
    if (version != HYPERCAST_VERSION_VALUE) return HYPERCAST_WRONG_VERSION;
    if (config_hash != HYPERCAST_CONFIG_HASH_VALUE) return HYPERCAST_WRONG_CONFIGURATION;
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

/* Runs a program that counts `steps` training steps, to its end. */
static enum hypercast_result run(struct hypercast *chip, uint32_t entry, uint32_t steps) {
    uint32_t status;
    uint64_t cycles;
    if (entry >= chip->rows) return HYPERCAST_NO_PROGRAM;
    TRY(check_idle(chip));
    TRY(check_count(chip));
    TRY(put(chip, HYPERCAST_REG_ENTRY, entry));
    TRY(put(chip, HYPERCAST_REG_REPEAT, 1));
    TRY(put(chip, HYPERCAST_REG_CONTROL, HYPERCAST_CONTROL_START));
    for (;;) {
        TRY(get(chip, HYPERCAST_REG_STATUS, &status));
        if (!(status & HYPERCAST_STATUS_RUNNING)) break;
        TRY(hypercast_cycles(chip, &cycles));
        if (cycles > chip->limit) {
            TRY(put(chip, HYPERCAST_REG_CONTROL, HYPERCAST_CONTROL_STOP));
            return HYPERCAST_TIMED_OUT;
        }
    }
    if (status & HYPERCAST_STATUS_ERROR) {
        TRY(get(chip, HYPERCAST_REG_ERROR, &chip->error));
        TRY(put(chip, HYPERCAST_REG_ERROR, chip->error));
        return HYPERCAST_STOPPED;
    }
    chip->step += steps;
    return check_count(chip);
}

enum hypercast_result hypercast_open(struct hypercast *chip, struct hypercast_bus bus,
                                     uint64_t limit) {
    uint32_t magic, version, config_hash;
    *chip = (struct hypercast){.bus = bus, .limit = limit};
    TRY(get(chip, HYPERCAST_REG_MAGIC, &magic));
    if (magic != HYPERCAST_MAGIC_VALUE) return HYPERCAST_NOT_FOUND;
    TRY(get(chip, HYPERCAST_REG_VERSION, &version));
    TRY(get(chip, HYPERCAST_REG_CONFIG_HASH, &config_hash));
    return check_identity(version, config_hash);
}

enum hypercast_result hypercast_load(struct hypercast *chip, const unsigned char *image,
                                     size_t size) {
    chip->image = image;
    chip->image_words = size / 4;
    if (chip->image_words < HEADER_WORDS || word(chip, MAGIC) != IMAGE_MAGIC)
        return HYPERCAST_BAD_IMAGE;
    TRY(check_identity(word(chip, VERSION), word(chip, CONFIG_HASH)));
    if ((chip->image_words - HEADER_WORDS) / PARAMETER_WORDS < word(chip, PARAMETERS))
        return HYPERCAST_BAD_IMAGE;
    chip->next_block = HEADER_WORDS + (size_t)PARAMETER_WORDS * word(chip, PARAMETERS);
    chip->blocks = word(chip, BLOCKS);
    chip->step = chip->rows = 0;
    TRY(write_blocks(chip));
    TRY(put(chip, HYPERCAST_REG_STEP, 0));
    TRY(put(chip, HYPERCAST_REG_STEP_KEY, word(chip, STEP_KEY)));
    return word(chip, LOAD) == NO_ENTRY ? HYPERCAST_OK : run(chip, word(chip, LOAD), 0);
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

enum hypercast_result hypercast_describe(struct hypercast *chip, uint32_t number,
                                         struct hypercast_parameter *parameter) {
    size_t place = HEADER_WORDS + (size_t)PARAMETER_WORDS * number;
    uint32_t entry;
    TRY(look(chip, 0, HYPERCAST_SPACE_TENSORS, word(chip, place + TENSOR)));
    TRY(get(chip, HYPERCAST_REG_DATA, &entry));
    *parameter = (struct hypercast_parameter){
        .rows = word(chip, place + ROWS),
        .columns = word(chip, place + COLUMNS),
        .exponent = (int32_t)((entry & 0xff) ^ 0x80) - 0x80,
        .base = word(chip, place + BASE),
        .height = word(chip, place + HEIGHT),
    };
    return HYPERCAST_OK;
}

/* A row of the weight bank takes CHUNKS addresses; a word of 32 bits holds several elements. */
static enum hypercast_result element(struct hypercast *chip, uint32_t bank_row, uint32_t lane,
                                     int32_t *value) {
    const uint32_t width = HYPERCAST_CONFIG_ELEMENT_WIDTH, sign = 1u << (width - 1);
    uint32_t bit = lane * width, chunk;
    TRY(look(chip, 0, HYPERCAST_SPACE_WEIGHTS, bank_row * HYPERCAST_CONFIG_CHUNKS + bit / 32));
    TRY(get(chip, HYPERCAST_REG_DATA, &chunk));
    *value = (int32_t)((chunk >> bit % 32 & (2 * sign - 1)) ^ sign) - (int32_t)sign;
    return HYPERCAST_OK;
}

enum hypercast_result hypercast_elements(struct hypercast *chip,
                                         const struct hypercast_parameter *parameter,
                                         int32_t *elements) {
    for (uint32_t row = 0; row < parameter->rows; row++)
        for (uint32_t column = 0; column < parameter->columns; column++) {
            uint32_t panel = column / HYPERCAST_CONFIG_LANES;
            TRY(element(chip, parameter->base + panel * parameter->height + row,
                        column % HYPERCAST_CONFIG_LANES, elements++));
        }
    return HYPERCAST_OK;
}
