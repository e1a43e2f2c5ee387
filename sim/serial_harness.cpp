// SPDX-License-Identifier: BSD-2-Clause

// A board with a serial port, compiled by CXXRTL.
//
// The chip is simulated as without the board; between it and the link there are only registers, so
// values are exchanged once per cycle.

#include "chip_harness.cpp"

#include "link.h"

#include "serial_line.h"

namespace {

struct Board {
    Simulation simulation{1};
    Part<hypercast_link::p_hypercast__link> link;
    Sender sender;
    Receiver receiver;
    bool resetting = false;

    Board() { press_reset(4); }

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

#include "serial_interface.h"
