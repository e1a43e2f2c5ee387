// SPDX-License-Identifier: BSD-2-Clause

// A board with a serial port whose chip is folded, compiled by Verilator.

#include "Vboard.h"

#include "board.h"

#include "serial_line.h"

namespace {

struct Board {
    VerilatedContext context;
    Vboard top{&context};
    Sender sender;
    Receiver receiver;

    Board() { press_reset(4); }

    // The board's reset button.
    void press_reset(uint64_t cycles) {
        top.rst = 1;
        while (cycles--) tick();
        top.rst = 0;
    }

    void tick() {
        top.rx = sender.level();
        receiver.sample(top.tx);
        for (int level = 0; level < 2; level++) {
            top.clk = level;
            top.eval();
        }
    }
};

}  // namespace

#include "serial_interface.h"
