// SPDX-License-Identifier: BSD-2-Clause

// C interface to a simulated `Board`: bytes in, bytes out.

extern "C" {

void *hypercast_board_create() { return new Board; }

void hypercast_board_destroy(void *handle) { delete static_cast<Board *>(handle); }

void hypercast_board_reset(void *handle, uint64_t cycles) {
    static_cast<Board *>(handle)->press_reset(cycles);
}

void hypercast_board_send(void *handle, const uint8_t *bytes, size_t count) {
    auto &queue = static_cast<Board *>(handle)->sender.bytes;
    queue.insert(queue.end(), bytes, bytes + count);
}

// Advances until `count` bytes have come, but at most `limit` cycles; returns cycles passed.
uint64_t hypercast_board_advance(void *handle, size_t count, uint64_t limit) {
    auto &board = *static_cast<Board *>(handle);
    uint64_t passed = 0;
    while (board.receiver.bytes.size() < count && passed < limit) {
        board.tick();
        passed++;
    }
    return passed;
}

// Takes at most `count` bytes that have come; returns how many.
size_t hypercast_board_receive(void *handle, uint8_t *bytes, size_t count) {
    auto &queue = static_cast<Board *>(handle)->receiver.bytes;
    size_t taken = 0;
    for (; taken < count && !queue.empty(); taken++) {
        bytes[taken] = queue.front();
        queue.pop_front();
    }
    return taken;
}

}  // extern "C"
