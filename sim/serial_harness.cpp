// C interface to a board with a serial port, compiled by CXXRTL: bytes in, bytes out.
//
// The chip is simulated as without the board; between it and the link there are only registers, so
// values are exchanged once per cycle.

#include "cxxrtl_harness.cpp"

#include "link.h"

#include <deque>

namespace {

constexpr uint64_t kByteBits = 10;

// The host's end of the line from it to the board.
class Sender {
   public:
    std::deque<uint8_t> bytes;

    // The line's level in this cycle.
    bool level() {
        if (!left_) {
            if (bytes.empty()) return true;
            frame_ = 1u << 9 | uint32_t(bytes.front()) << 1;
            bytes.pop_front();
            left_ = kByteBits * kBitPeriod;
        }
        // Sixteenths of a cycle of this byte that have passed.
        uint64_t passed = kByteBits * kBitPeriod - left_;
        left_ -= left_ < kFraction ? left_ : kFraction;
        return frame_ >> passed / kBitPeriod & 1;
    }

   private:
    uint32_t frame_ = 0;
    uint64_t left_ = 0;
};

// The host's end of the line from the board.
class Receiver {
   public:
    std::deque<uint8_t> bytes;

    void sample(bool level) {
        if (!active_) {
            if (level) return;
            active_ = true;
            passed_ = frame_ = bits_ = 0;
        }
        passed_ += kFraction;
        if (passed_ < bits_ * kBitPeriod + kBitPeriod / 2) return;
        frame_ |= uint32_t(level) << bits_++;
        if (bits_ < kByteBits) return;
        active_ = false;
        if (level) bytes.push_back(uint8_t(frame_ >> 1));
    }

   private:
    bool active_ = false;
    uint32_t frame_ = 0;
    uint64_t bits_ = 0, passed_ = 0;
};

struct Board {
    Simulation simulation;
    Part<hypercast_link::p_hypercast__link> link;
    Sender sender;
    Receiver receiver;
    bool resetting = false;

    Board() {
        set_addresses(simulation.chip);
        press_reset(4);
    }

    // The board's reset button.
    void press_reset(uint64_t cycles) {
        link.take(link.module.p_rst, cxxrtl::value<1>{1u});
        while (cycles--) tick();
        link.take(link.module.p_rst, cxxrtl::value<1>{0u});
    }

    void tick() {
        auto &control = simulation.chip.control;
        if (link.module.p_chip__reset.curr.get<bool>() != resetting) {
            resetting = !resetting;
            simulation.reset(resetting);
        }
        link.take(link.module.p_rx, cxxrtl::value<1>{sender.level() ? 1u : 0u});
        receiver.sample(link.module.p_tx.curr.get<bool>());
        exchange(link, control);
        link.evaluate();
        simulation.tick();
        link.commit();
    }
};

}  // namespace

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
