// SPDX-License-Identifier: BSD-2-Clause

// The host's ends of a serial line, simulated; `kBitPeriod` is a bit's length in 1/`kFraction` cycles.

#include <cstddef>
#include <cstdint>
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

}  // namespace
