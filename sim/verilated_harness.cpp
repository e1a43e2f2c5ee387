// SPDX-License-Identifier: BSD-2-Clause

// The exported chip, compiled by Verilator, with its registers through AXI4-Lite.

#include <cstdint>

#include "Vboard.h"
#include "verilated.h"

namespace {

// Cycles an access may take.
constexpr int kLimit = 20000;

struct Chip {
    VerilatedContext context;
    Vboard *top;

    explicit Chip(unsigned threads) {
        context.threads(threads);
        top = new Vboard(&context);
        top->aresetn = 0;
        wait(4);
        top->aresetn = 1;
    }

    ~Chip() {
        top->final();
        delete top;
    }

    // The first half of a cycle: outputs are those that inputs give.
    void settle() {
        top->aclk = 0;
        top->eval();
    }

    void edge() {
        top->aclk = 1;
        top->eval();
    }

    void wait(uint64_t cycles) {
        while (cycles--) {
            settle();
            edge();
        }
    }

    // Both return whether the chip answered, and without an error.
    bool write(uint32_t address, uint32_t value) {
        top->s_axi_awaddr = address, top->s_axi_awvalid = 1;
        top->s_axi_wdata = value, top->s_axi_wstrb = 15, top->s_axi_wvalid = 1;
        top->s_axi_bready = 1;
        bool done = false, right = false;
        for (int cycle = 0; cycle < kLimit && !done; cycle++) {
            settle();
            bool address_taken = top->s_axi_awready, data_taken = top->s_axi_wready;
            done = top->s_axi_bvalid, right = done && !top->s_axi_bresp;
            edge();
            if (address_taken) top->s_axi_awvalid = 0;
            if (data_taken) top->s_axi_wvalid = 0;
        }
        top->s_axi_bready = 0;
        return right;
    }

    bool read(uint32_t address, uint32_t *value) {
        top->s_axi_araddr = address, top->s_axi_arvalid = 1, top->s_axi_rready = 1;
        bool done = false, right = false;
        for (int cycle = 0; cycle < kLimit && !done; cycle++) {
            settle();
            bool taken = top->s_axi_arready;
            done = top->s_axi_rvalid, right = done && !top->s_axi_rresp;
            *value = top->s_axi_rdata;
            edge();
            if (taken) top->s_axi_arvalid = 0;
        }
        top->s_axi_rready = 0;
        return right;
    }
};

}  // namespace

extern "C" {

void *hypercast_chip(unsigned threads) { return new Chip(threads); }
void hypercast_close(void *chip) { delete static_cast<Chip *>(chip); }
void hypercast_wait(void *chip, uint64_t cycles) { static_cast<Chip *>(chip)->wait(cycles); }
bool hypercast_read(void *chip, uint32_t address, uint32_t *value) {
    return static_cast<Chip *>(chip)->read(address, value);
}
bool hypercast_write(void *chip, uint32_t address, uint32_t value) {
    return static_cast<Chip *>(chip)->write(address, value);
}

}
