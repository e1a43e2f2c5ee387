// C interface to a chip compiled by CXXRTL: a clock, an AXI4-Lite master, and a view of memories.
//
// The parts are as CXXRTL wrote them, and includes.h includes their headers. parts.h, written by
// parts_header.py, has the wires. The outputs of all parts but a core's `rest` are registers, so
// that evaluating `rest` and then the others, once, makes a clock cycle. A part whose inputs and
// registers are as they were when it was last evaluated would only do the same again, so it is
// left out: an engine without work costs next to nothing.

#include "includes.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

extern "C" {

// A fault of the link that leaves `core` along `dimension`. Flip and drop hit the first flit from
// `cycle` on; a bit that is stuck stays so; hold loses all credits.
struct Fault {
    uint64_t cycle;
    uint32_t core, dimension, kind, bit;
};

// What a recorder notes: the engines of core `source` that are busy from `cycle` on, or, from source
// kCores, an instruction issued, by its first 32 bits. Cycles count from the program's start.
struct Event {
    uint64_t cycle;
    uint32_t source, value;
};

}  // extern "C"

namespace {

template <size_t Bits>
const cxxrtl::value<Bits> &current(const cxxrtl::value<Bits> &value) { return value; }
template <size_t Bits>
const cxxrtl::value<Bits> &current(const cxxrtl::wire<Bits> &wire) { return wire.curr; }

// A part, and what of it has changed.
template <class Module>
struct Part {
    Module module;
    bool stale = true;      // an input or a register differs from what was last evaluated
    bool evaluated = true;  // in this cycle
    bool changed = true;    // a register or a memory, when this cycle began

    // A new value at an input.
    template <size_t Bits>
    void take(cxxrtl::value<Bits> &input, const cxxrtl::value<Bits> &value) {
        if (input == value) return;
        input = value;
        stale = true;
    }

    // Whatever may have happened from outside.
    void disturb() { stale = changed = true; }

    void evaluate() {
        evaluated = stale;
        if (!stale) return;
        module.p_clk.template set<bool>(true);
        module.prev_p_clk.template set<bool>(false);
        module.eval(nullptr);
    }

    void commit() { stale = changed = evaluated && module.commit(); }
};

// Inputs of a core at a link.
enum LinkInput { kValid, kFlit, kCredit };

#include "parts.h"

enum FaultKind : uint32_t { kFlip, kDrop, kStuckAt0, kStuckAt1, kHold };

struct Memory {
    std::string name;
    cxxrtl::debug_item item;
};

void evaluate(Core &core) {
    gather_rest(core);
    core.rest.evaluate();
    gather_others(core);
    core.visit_others([](auto &part) { part.evaluate(); });
}

void commit(Core &core) {
    core.rest.commit();
    core.visit_others([](auto &part) { part.commit(); });
}

// Writes down what the engines do in a program, and all counters whenever an instruction is issued.
class Recorder {
   public:
    std::vector<Event> events;
    std::vector<uint32_t> samples;  // instructions x cores x counters

    explicit Recorder(Chip &chip) : chip_(chip), counters_(kCores * kCounters) {}

    // To be called between any two cycles, when all that is seen are registers.
    void note(uint64_t cycle) {
        auto &control = chip_.control.module;
        if (control.p_clear.curr.get<bool>()) {
            start_ = cycle;
            busy_.fill(0);
            events.clear();
            samples.clear();
        }
        count(cycle - start_ >= kClearing);
        for (uint32_t i = 0; i < kCores; i++) {
            uint32_t now = busy(chip_.core[i]);
            if (now != busy_[i]) events.push_back({cycle - start_, i, now});
            busy_[i] = now;
        }
        if (!control.p_issue__valid.curr.get<bool>()) return;
        events.push_back({cycle - start_, kCores, control.p_issue.curr.data[0]});
        for (auto &counter : counters_) samples.push_back(counter.value);
    }

   private:
    // What a counter reads, and the bits of it that are in a register of their own.
    struct Counter {
        uint32_t value, low;
    };

    // Cycles from the controller's `clear` until all counters are zero.
    static constexpr uint64_t kClearing = 2;

    // The low bits of a counter wrap less than once a cycle, so the rest follows from them.
    void count(bool cleared) {
        for (size_t i = 0; i < kCores; i++)
            visit_counters(chip_.core[i], [&](size_t index, auto &wire) {
                auto &counter = counters_[i * kCounters + index];
                uint32_t low = wire.curr.template get<uint32_t>();
                uint32_t mask = (uint64_t(1) << std::decay_t<decltype(wire)>::bits) - 1;
                if (cleared) counter.value += (low - counter.low) & mask;
                else counter.value = 0;
                counter.low = cleared ? low : 0;
            });
    }

    Chip &chip_;
    std::vector<Counter> counters_;  // cores x counters; zero where a core has none
    std::array<uint32_t, kCores> busy_{};
    uint64_t start_ = 0;
};

struct Simulation {
    Chip chip;
    std::unique_ptr<Recorder> recorder;
    std::vector<Memory> memories;
    std::vector<Fault> faults;
    uint64_t cycle = 0;

    // Makes what a core sees of a link wrong: its receiver, or for hold its sender.
    void strike(size_t index, Fault &fault) {
        bool hold = fault.kind == kHold, drop = fault.kind == kDrop;
        bool once = drop || fault.kind == kFlip, valid = false;
        size_t victim = hold ? fault.core : fault.core ^ 1u << fault.dimension;
        if (index != victim || cycle < fault.cycle) return;
        visit_link(chip.core[index], fault.dimension, [&](auto &, auto &input, LinkInput kind) {
            if (kind == kValid) valid = input.data[0];
        });
        if (once && !valid) return;
        LinkInput hit = hold ? kCredit : drop ? kValid : kFlit;
        visit_link(chip.core[index], fault.dimension, [&](auto &part, auto &input, LinkInput kind) {
            if (kind != hit) return;
            auto value = input;
            uint32_t bit = 1u << fault.bit % 32, &chunk = value.data[fault.bit / 32];
            if (hold || drop) chunk = 0;
            else if (fault.kind == kStuckAt0) chunk &= ~bit;
            else if (fault.kind == kStuckAt1) chunk |= bit;
            else chunk ^= bit;
            part.take(input, value);
        });
        if (once) fault.cycle = UINT64_MAX;
    }

    void tick() {
        if (recorder) recorder->note(cycle);
        gather_control(chip);
        chip.control.evaluate();
        for (size_t i = 0; i < kCores; i++) {
            gather_core(chip, i);
            for (auto &fault : faults) strike(i, fault);
            evaluate(chip.core[i]);
        }
        chip.control.commit();
        for (auto &core : chip.core) commit(core);
        // What a fault has changed at an input is to be set again.
        if (!faults.empty()) disturb();
        cycle++;
    }

    // The host may have written to memories and ports.
    void disturb() {
        chip.control.disturb();
        for (auto &core : chip.core) {
            core.rest.disturb();
            core.visit_others([](auto &part) { part.disturb(); });
        }
    }

    void advance(uint64_t cycles) {
        disturb();
        while (cycles--) tick();
    }

    void reset(bool active) {
        set_reset(chip, active);
        disturb();
    }

    template <class Module>
    void find_memories(Module &module, const std::string &prefix) {
        cxxrtl::debug_items items;
        module.debug_info(&items, nullptr, prefix);
        for (auto &entry : items.table)
            for (auto &item : entry.second)
                if (item.type == cxxrtl::debug_item::MEMORY)
                    memories.push_back({entry.first, item});
    }
};

constexpr int kTimeout = -1;

}  // namespace

extern "C" {

// Resets the chip; memories stay as they are.
void hypercast_reset(void *handle, uint64_t cycles) {
    auto &simulation = *static_cast<Simulation *>(handle);
    simulation.reset(true);
    while (cycles--) simulation.tick();
    simulation.reset(false);
    simulation.tick();
}

void *hypercast_create() {
    auto simulation = std::make_unique<Simulation>();
    set_addresses(simulation->chip);
    hypercast_reset(simulation.get(), 4);
    simulation->find_memories(simulation->chip.control.module, "control ");
    for (size_t i = 0; i < kCores; i++) {
        auto &core = simulation->chip.core[i];
        auto find = [&](auto &part) {
            simulation->find_memories(part.module, "core_" + std::to_string(i) + " ");
        };
        find(core.rest);
        core.visit_others(find);
    }
    return simulation.release();
}

void hypercast_destroy(void *handle) { delete static_cast<Simulation *>(handle); }

void hypercast_advance(void *handle, uint64_t cycles) {
    static_cast<Simulation *>(handle)->advance(cycles);
}

// Both return the AXI response code, or kTimeout after `limit` cycles.
int hypercast_write(void *handle, uint32_t address, uint32_t value, uint64_t limit) {
    auto &simulation = *static_cast<Simulation *>(handle);
    auto &chip = simulation.chip.control.module;
    chip.p_axi____awaddr.set<uint32_t>(address);
    chip.p_axi____awvalid.set<bool>(true);
    chip.p_axi____wdata.set<uint32_t>(value);
    chip.p_axi____wstrb.set<uint32_t>(0xF);
    chip.p_axi____wvalid.set<bool>(true);
    chip.p_axi____bready.set<bool>(true);
    simulation.disturb();
    int response = kTimeout;
    while (response == kTimeout && limit--) {
        // Outputs are registered: what they show now is what the coming edge sees.
        bool address_taken = chip.p_axi____awready.curr.get<bool>();
        bool data_taken = chip.p_axi____wready.curr.get<bool>();
        bool answered = chip.p_axi____bvalid.curr.get<bool>();
        if (answered) response = chip.p_axi____bresp.curr.get<uint32_t>();
        simulation.tick();
        simulation.chip.control.disturb();
        if (address_taken) chip.p_axi____awvalid.set<bool>(false);
        if (data_taken) chip.p_axi____wvalid.set<bool>(false);
    }
    chip.p_axi____bready.set<bool>(false);
    return response;
}

int hypercast_read(void *handle, uint32_t address, uint32_t *value, uint64_t limit) {
    auto &simulation = *static_cast<Simulation *>(handle);
    auto &chip = simulation.chip.control.module;
    chip.p_axi____araddr.set<uint32_t>(address);
    chip.p_axi____arvalid.set<bool>(true);
    chip.p_axi____rready.set<bool>(true);
    simulation.disturb();
    int response = kTimeout;
    while (response == kTimeout && limit--) {
        bool address_taken = chip.p_axi____arready.curr.get<bool>();
        bool answered = chip.p_axi____rvalid.curr.get<bool>();
        if (answered) {
            response = chip.p_axi____rresp.curr.get<uint32_t>();
            *value = chip.p_axi____rdata.curr.get<uint32_t>();
        }
        simulation.tick();
        simulation.chip.control.disturb();
        if (address_taken) chip.p_axi____arvalid.set<bool>(false);
    }
    chip.p_axi____rready.set<bool>(false);
    return response;
}

// A fault; its cycle is counted from now.
void hypercast_fault(void *handle, const Fault *fault) {
    auto &simulation = *static_cast<Simulation *>(handle);
    simulation.faults.push_back(*fault);
    simulation.faults.back().cycle += simulation.cycle;
}

// Begins to record anew, or ends it and forgets what was recorded.
void hypercast_record(void *handle, bool on) {
    auto &simulation = *static_cast<Simulation *>(handle);
    simulation.recorder.reset(on ? new Recorder(simulation.chip) : nullptr);
}

size_t hypercast_event_count(void *handle) {
    return static_cast<Simulation *>(handle)->recorder->events.size();
}

const Event *hypercast_events(void *handle) {
    return static_cast<Simulation *>(handle)->recorder->events.data();
}

const uint32_t *hypercast_samples(void *handle) {
    return static_cast<Simulation *>(handle)->recorder->samples.data();
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
