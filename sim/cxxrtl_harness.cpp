// C interface to a chip compiled by CXXRTL: a clock, an AXI4-Lite master, and a view of memories.
//
// The parts are as CXXRTL wrote them. wires.h holds `constexpr size_t kCores` and
// `template <class Parts> void exchange(Parts &)`, which copies outputs to inputs. Between parts
// there are only registers, so one exchange and one evaluation make a clock cycle.

#include "hypercast_control.cpp"
#include "hypercast_core.cpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "wires.h"

namespace {

struct Memory {
    std::string name;
    cxxrtl::debug_item item;
};

// Holds `count` threads until all have arrived. It spins, and gives way if that takes long.
class Barrier {
   public:
    explicit Barrier(unsigned count) : count_(count) {}

    void wait() {
        unsigned turn = turn_.load();
        if (arrived_.fetch_add(1) + 1 == count_) {
            arrived_.store(0);
            turn_.store(turn + 1);
            return;
        }
        for (unsigned spins = 0; turn_.load() == turn; spins++)
            if (spins > 1000) std::this_thread::yield();
    }

   private:
    const unsigned count_;
    std::atomic<unsigned> arrived_{0};
    std::atomic<unsigned> turn_{0};
};

struct Simulation {
    hypercast_control::p_hypercast__control control;
    std::array<hypercast_core::p_hypercast__core, kCores> core;
    std::vector<Memory> memories;

    template <class Part>
    static void evaluate(Part &part) {
        part.p_clk.template set<bool>(true);
        part.prev_p_clk.template set<bool>(false);
        part.eval(nullptr);
    }

    void tick() {
        exchange(*this);
        evaluate(control);
        for (auto &part : core) evaluate(part);
        control.commit();
        for (auto &part : core) part.commit();
    }

    // The same, many times, the cores shared out among threads; the first has the control unit.
    void tick_together(uint64_t cycles, unsigned thread, unsigned threads, Barrier &barrier) {
        while (cycles--) {
            if (thread == 0) exchange(*this);
            barrier.wait();
            if (thread == 0) evaluate(control);
            for (size_t i = thread; i < kCores; i += threads) evaluate(core[i]);
            barrier.wait();
            if (thread == 0) control.commit();
            for (size_t i = thread; i < kCores; i += threads) core[i].commit();
            barrier.wait();
        }
    }

    void advance(uint64_t cycles, unsigned threads) {
        if (threads < 2 || cycles < 100) {
            while (cycles--) tick();
            return;
        }
        Barrier barrier(threads);
        std::vector<std::thread> others;
        for (unsigned thread = 1; thread < threads; thread++)
            others.emplace_back([=, &barrier] {
                tick_together(cycles, thread, threads, barrier);
            });
        tick_together(cycles, 0, threads, barrier);
        for (auto &other : others) other.join();
    }

    void reset(bool active) {
        control.p_rst.set<bool>(active);
        for (auto &part : core) part.p_rst.set<bool>(active);
    }

    template <class Part>
    void find_memories(Part &part, const std::string &prefix) {
        cxxrtl::debug_items items;
        part.debug_info(&items, nullptr, prefix);
        for (auto &entry : items.table)
            for (auto &item : entry.second)
                if (item.type == cxxrtl::debug_item::MEMORY)
                    memories.push_back({entry.first, item});
    }
};

constexpr int kTimeout = -1;

}  // namespace

extern "C" {

void *hypercast_create() {
    auto simulation = std::make_unique<Simulation>();
    simulation->reset(true);
    for (int i = 0; i < 4; i++) simulation->tick();
    simulation->reset(false);
    simulation->tick();
    for (size_t i = 0; i < kCores; i++)
        simulation->find_memories(simulation->core[i], "core_" + std::to_string(i) + " ");
    return simulation.release();
}

void hypercast_destroy(void *handle) { delete static_cast<Simulation *>(handle); }

void hypercast_advance(void *handle, uint64_t cycles, unsigned threads) {
    static_cast<Simulation *>(handle)->advance(cycles, threads);
}

// Both return the AXI response code, or kTimeout after `limit` cycles.
int hypercast_write(void *handle, uint32_t address, uint32_t value, uint64_t limit) {
    auto &simulation = *static_cast<Simulation *>(handle);
    auto &chip = simulation.control;
    chip.p_axi____awaddr.set<uint32_t>(address);
    chip.p_axi____awvalid.set<bool>(true);
    chip.p_axi____wdata.set<uint32_t>(value);
    chip.p_axi____wstrb.set<uint32_t>(0xF);
    chip.p_axi____wvalid.set<bool>(true);
    chip.p_axi____bready.set<bool>(true);
    int response = kTimeout;
    while (response == kTimeout && limit--) {
        // Outputs are registered: what they show now is what the coming edge sees.
        bool address_taken = chip.p_axi____awready.curr.get<bool>();
        bool data_taken = chip.p_axi____wready.curr.get<bool>();
        bool answered = chip.p_axi____bvalid.curr.get<bool>();
        if (answered) response = chip.p_axi____bresp.curr.get<uint32_t>();
        simulation.tick();
        if (address_taken) chip.p_axi____awvalid.set<bool>(false);
        if (data_taken) chip.p_axi____wvalid.set<bool>(false);
    }
    chip.p_axi____bready.set<bool>(false);
    return response;
}

int hypercast_read(void *handle, uint32_t address, uint32_t *value, uint64_t limit) {
    auto &simulation = *static_cast<Simulation *>(handle);
    auto &chip = simulation.control;
    chip.p_axi____araddr.set<uint32_t>(address);
    chip.p_axi____arvalid.set<bool>(true);
    chip.p_axi____rready.set<bool>(true);
    int response = kTimeout;
    while (response == kTimeout && limit--) {
        bool address_taken = chip.p_axi____arready.curr.get<bool>();
        bool answered = chip.p_axi____rvalid.curr.get<bool>();
        if (answered) {
            response = chip.p_axi____rresp.curr.get<uint32_t>();
            *value = chip.p_axi____rdata.curr.get<uint32_t>();
        }
        simulation.tick();
        if (address_taken) chip.p_axi____arvalid.set<bool>(false);
    }
    chip.p_axi____rready.set<bool>(false);
    return response;
}

size_t hypercast_memory_count(void *handle) {
    return static_cast<Simulation *>(handle)->memories.size();
}

const char *hypercast_memory_name(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->memories[index].name.c_str();
}

size_t hypercast_memory_width(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->memories[index].item.width;
}

size_t hypercast_memory_depth(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->memories[index].item.depth;
}

uint32_t *hypercast_memory_data(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->memories[index].item.curr;
}

}  // extern "C"
