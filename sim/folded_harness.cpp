// A board with a serial port whose chip is folded, compiled by CXXRTL as one module.

#include "hypercast_serial_top.h"

#include "board.h"

#include "serial_line.h"

namespace {

struct Board {
    hypercast_serial_top::p_hypercast__serial__top module;
    Sender sender;
    Receiver receiver;

    Board() { press_reset(4); }

    // The board's reset button.
    void press_reset(uint64_t cycles) {
        module.p_rst.set<bool>(true);
        while (cycles--) tick();
        module.p_rst.set<bool>(false);
    }

    void tick() {
        module.p_rx.set<bool>(sender.level());
        receiver.sample(module.p_tx.curr.get<bool>());
        module.p_clk.set<bool>(false);
        module.step();
        module.p_clk.set<bool>(true);
        module.step();
    }
};

}  // namespace

#include "serial_interface.h"
