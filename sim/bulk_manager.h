// SPDX-License-Identifier: BSD-2-Clause

// A manager of a compiled chip's bulk port: bursts as a DMA makes them.
//
// Bursts end where AXI4 wants it, at multiples of 4 KiB, and several are under way. Most outputs of
// the chip are registered: what they show now is what the coming edge sees. That an address is taken
// follows from registers, and is known when the cycle has been evaluated.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bulk {

constexpr uint64_t kBeat = 16, kBoundary = 4096, kUnderWay = 4;
constexpr int kTimeout = -1;

// Cuts a transfer into bursts.
class Bursts {
   public:
    Bursts(uint64_t address, uint64_t size) : next_(address), end_(address + size) {}

    bool left() const { return next_ < end_; }
    uint64_t address() const { return next_; }
    uint64_t end() const { return std::min(end_, (next_ / kBoundary + 1) * kBoundary); }
    uint32_t length() const { return (end() - 1) / kBeat - next_ / kBeat; }
    void take() { next_ = end(); }

   private:
    uint64_t next_, end_;
};

// Both return the worst AXI response, or kTimeout after `limit` cycles in which nothing moved.

template <class Simulation>
int write(Simulation &simulation, uint64_t address, const uint8_t *data, uint64_t size,
          uint64_t limit) {
    auto &chip = simulation.chip.control.module;
    Bursts bursts(address, size), beats(address, size);  // of addresses, and of data
    uint64_t place = address, end = address + size, asked = 0, answered = 0, waited = 0;
    int response = 0;
    chip.p_bulk____write____awsize.template set<uint32_t>(4);
    chip.p_bulk____write____awburst.template set<uint32_t>(1);
    chip.p_bulk____write____bready.template set<bool>(true);
    while ((bursts.left() || place < end || answered < asked) && waited < limit) {
        bool asks = bursts.left() && asked - answered < kUnderWay;
        chip.p_bulk____write____awvalid.template set<bool>(asks);
        if (asks) {
            chip.p_bulk____write____awaddr.template set<uint64_t>(bursts.address());
            chip.p_bulk____write____awlen.template set<uint32_t>(bursts.length());
        }
        uint64_t beat = place / kBeat * kBeat, behind = std::min(beat + kBeat, end);
        bool sends = place < end;
        chip.p_bulk____write____wvalid.template set<bool>(sends);
        if (sends) {
            uint8_t bytes[kBeat] = {};
            std::memcpy(bytes + (place - beat), data + (place - address), behind - place);
            std::memcpy(chip.p_bulk____write____wdata.data, bytes, kBeat);
            uint32_t below = (1u << (behind - beat)) - 1, skipped = (1u << (place - beat)) - 1;
            chip.p_bulk____write____wstrb.template set<uint32_t>(below & ~skipped);
            chip.p_bulk____write____wlast.template set<bool>(behind == beats.end());
        }
        bool data_taken = sends && chip.p_bulk____write____wready.curr.template get<bool>();
        bool ended = chip.p_bulk____write____bvalid.curr.template get<bool>();
        if (ended) {
            response = std::max<int>(
                response, chip.p_bulk____write____bresp.curr.template get<uint32_t>());
            answered++;
        }
        simulation.chip.control.disturb();
        simulation.tick();
        bool address_taken = asks && chip.p_bulk____write____awready.template get<bool>();
        waited = address_taken || data_taken || ended ? 0 : waited + 1;
        if (address_taken) bursts.take(), asked++;
        if (data_taken) {
            if (behind == beats.end()) beats.take();
            place = behind;
        }
    }
    chip.p_bulk____write____awvalid.template set<bool>(false);
    chip.p_bulk____write____wvalid.template set<bool>(false);
    chip.p_bulk____write____bready.template set<bool>(false);
    simulation.disturb();
    return waited < limit ? response : kTimeout;
}

template <class Simulation>
int read(Simulation &simulation, uint64_t address, uint8_t *data, uint64_t size, uint64_t limit) {
    auto &chip = simulation.chip.control.module;
    Bursts bursts(address, size);
    uint64_t place = address, end = address + size, asked = 0, answered = 0, waited = 0;
    int response = 0;
    chip.p_bulk____read____arsize.template set<uint32_t>(4);
    chip.p_bulk____read____arburst.template set<uint32_t>(1);
    chip.p_bulk____read____rready.template set<bool>(true);
    while (place < end && waited < limit) {
        bool asks = bursts.left() && asked - answered < kUnderWay;
        chip.p_bulk____read____arvalid.template set<bool>(asks);
        if (asks) {
            chip.p_bulk____read____araddr.template set<uint64_t>(bursts.address());
            chip.p_bulk____read____arlen.template set<uint32_t>(bursts.length());
        }
        bool came = chip.p_bulk____read____rvalid.curr.template get<bool>();
        if (came) {
            uint8_t bytes[kBeat];
            std::memcpy(bytes, chip.p_bulk____read____rdata.curr.data, kBeat);
            uint64_t beat = place / kBeat * kBeat, behind = std::min(beat + kBeat, end);
            std::memcpy(data + (place - address), bytes + (place - beat), behind - place);
            place = behind;
            response = std::max<int>(
                response, chip.p_bulk____read____rresp.curr.template get<uint32_t>());
            answered += chip.p_bulk____read____rlast.curr.template get<bool>();
        }
        simulation.chip.control.disturb();
        simulation.tick();
        bool taken = asks && chip.p_bulk____read____arready.template get<bool>();
        waited = taken || came ? 0 : waited + 1;
        if (taken) bursts.take(), asked++;
    }
    chip.p_bulk____read____arvalid.template set<bool>(false);
    chip.p_bulk____read____rready.template set<bool>(false);
    simulation.disturb();
    return waited < limit ? response : kTimeout;
}

}  // namespace bulk
