// SPDX-License-Identifier: BSD-2-Clause

// C interface to a compiled chip: a clock, an AXI4-Lite master, and a view of memories.
//
// The control unit is as CXXRTL wrote it. Cores are evaluated in groups, a vector having an element
// for each core of one. Their code comes from group_code.py, and chip.h, written by chip_header.py,
// has the wires. A core consists of parts. The outputs of all parts but `rest` are registers, so
// that evaluating `rest` and then the others, once, makes a clock cycle. A part whose inputs and
// registers are as they were when it was last evaluated would only do the same again, so it is left
// out: an engine without work costs next to nothing.

#include "includes.h"

#include "group.h"

#include "crew.h"

#ifdef HYPERCAST_BULK
#include "bulk_manager.h"
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
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

// A slice of at most 64 bits.
template <size_t Bits>
uint64_t bits(const cxxrtl::value<Bits> &value, size_t first, size_t width) {
    uint64_t found = 0;
    for (size_t done = 0; done < width;) {
        size_t chunk = (first + done) / 32, shift = (first + done) % 32;
        found |= uint64_t(value.data[chunk] >> shift) << done;
        done += 32 - shift;
    }
    return width < 64 ? found & ((uint64_t(1) << width) - 1) : found;
}

// Takes a new value; returns whether it differs.
template <class Value>
bool take(Value &input, const Value &value) {
    if (!memcmp(&input, &value, sizeof value)) return false;
    input = value;
    return true;
}

// A module of CXXRTL, and what of it has changed.
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

using Control = Part<hypercast_control::p_hypercast__control>;

}  // namespace

// Inputs of a core at a link.
enum LinkInput { kValid, kFlit, kCredit };

#include "chip.h"

namespace {

enum FaultKind : uint32_t { kFlip, kDrop, kStuckAt0, kStuckAt1, kHold };

constexpr uint32_t kAllParts = (uint64_t(1) << kParts) - 1;

// A group of cores, and what of it has changed.
class Cores {
   public:
    Group group{};
    uint32_t stale = kAllParts;  // parts of which an input or a register differs
    char *published[2];          // what others see, in even cycles and in odd ones

    Cores() {
        group.inputs = area(kInputsSize);
        group.shown = area(kShownSize);
        shown_before_ = area(kShownSize);
        for (auto &place : published) place = area(kPublishedSize);
        for (size_t part = 0; part < kParts; part++) {
            group.state[part] = area(kStateSize[part]);
            group.next[part] = area(kStateSize[part]);
            group.scratch[part] = area(kScratchSize[part]);
        }
        for (size_t i = 0; i < kMemories * kMembers; i++) {
            const auto &shape = kMemoryShapes[i / kMembers];
            contents_.emplace_back(shape.depth * ((shape.width + 31) / 32));
            group.memory[i] = contents_.back().data();
        }
        begin(&group);
    }

    // What is at the inputs in this cycle is known.
    void evaluate() {
        evaluated_ = 0;
        if (stale & 1) {
            std::swap(group.shown, shown_before_);
            evaluate(0);
            stale |= changes(kShownRanges, group.shown, shown_before_);
        }
        for (size_t part = 1; part < kParts; part++)
            if (stale >> part & 1) evaluate(part);
    }

    // Bytes that `sample` writes.
    static constexpr size_t kSampleSize = [] {
        size_t found = kInputsSize + kShownSize;
        for (size_t part = 0; part < kParts; part++) found += kStateSize[part] + kScratchSize[part];
        return found * kCount;
    }();

    // All that is in this cycle: inputs, what `rest` shows, then each part's registers and scratch.
    void sample(char *place) const {
        auto copy = [&](const char *from, size_t size) {
            std::memcpy(place, from, size * kCount);
            place += size * kCount;
        };
        copy(group.inputs, kInputsSize);
        copy(group.shown, kShownSize);
        for (size_t part = 0; part < kParts; part++) {
            copy(group.state[part], kStateSize[part]);
            copy(group.scratch[part], kScratchSize[part]);
        }
    }

    // The edge of the clock.
    void commit() {
        stale = wrote_;
        for (size_t part = 0; part < kParts; part++) {
            if (!(evaluated_ >> part & 1)) continue;
            std::swap(group.state[part], group.next[part]);
            stale |= changes(kStateRanges[part], group.state[part], group.next[part]);
        }
    }

   private:
    struct Free {
        void operator()(char *place) const { std::free(place); }
    };

    void evaluate(size_t part) {
        group.wrote = false;
        ::evaluate(group, part);
        evaluated_ |= 1u << part;
        wrote_ = (wrote_ & ~(1u << part)) | uint32_t(group.wrote) << part;
    }

    static uint32_t changes(const std::vector<Range> &ranges, const char *now, const char *before) {
        uint32_t found = 0;
        for (const auto &range : ranges)
            if ((found & range.readers) != range.readers &&
                memcmp(now + range.offset * kCount, before + range.offset * kCount,
                       range.size * kCount))
                found |= range.readers;
        return found;
    }

    char *area(size_t size) {
        size = (size * kCount + 127) / 128 * 128 + 128;
        areas_.emplace_back(static_cast<char *>(std::aligned_alloc(128, size)));
        if (!areas_.back()) throw std::bad_alloc();
        std::memset(areas_.back().get(), 0, size);
        return areas_.back().get();
    }

    std::vector<std::unique_ptr<char, Free>> areas_;
    std::vector<std::vector<uint32_t>> contents_;
    char *shown_before_;
    uint32_t evaluated_ = 0, wrote_ = 0;
};

struct Chip {
    Control control;
    std::array<Cores, kGroups> groups;
};

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
            uint32_t now = busy(chip_.groups[i / kMembers].published[cycle & 1], i % kMembers);
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
        for (size_t i = 0; i < kGroups; i++)
            visit_counters(&chip_.groups[i].group, [&](size_t index, size_t width, auto low) {
                for (size_t member = 0; member < kMembers; member++) {
                    auto &counter = counters_[(i * kMembers + member) * kCounters + index];
                    uint32_t mask = (uint64_t(1) << width) - 1, now = low[member];
                    if (cleared) counter.value += (now - counter.low) & mask;
                    else counter.value = 0;
                    counter.low = cleared ? now : 0;
                }
            });
    }

    Chip &chip_;
    std::vector<Counter> counters_;  // cores x counters; zero where a core has none
    std::array<uint32_t, kCores> busy_{};
    uint64_t start_ = 0;
};

// Notes everything at the end of some cycles, before the clock's edge.
struct Watch {
    uint64_t first, last;       // the cycles, but `last`
    bool of_program;            // whether they count from the start of a program
    uint32_t groups;            // which groups of cores
    uint64_t begin = 0;         // the cycle they count from
    bool begun = false;
    std::vector<uint64_t> cycles;
    std::vector<char> samples;  // cycles x bytes: the control unit, then the groups

    // A part of the control unit: pieces of 32 bits that are somewhere.
    struct Item {
        std::string name;
        size_t width;
        const uint32_t *data;
    };
    std::vector<Item> control;

    size_t size() const {
        size_t found = 0;
        for (const auto &item : control) found += (item.width + 31) / 32 * 4;
        for (uint32_t rest = groups; rest; rest &= rest - 1) found += Cores::kSampleSize;
        return found;
    }

    // Whether a cycle is noted; to be called before each.
    bool notes(uint64_t cycle, bool starts) {
        if (!of_program) begun = true;
        else if (starts && !begun) begun = true, begin = cycle;
        return begun && cycle - begin >= first && cycle - begin < last;
    }
};

struct Memory {
    std::string name;
    size_t width, depth;
    uint32_t *data;  // words, in chunks of 32 bits
};

class Simulation {
   public:
    Chip chip;
    std::vector<Memory> memories;
    std::unique_ptr<Recorder> recorder;
    std::unique_ptr<Watch> watch;
    std::vector<Fault> faults;
    uint64_t cycle = 0;

    // `threads` evaluate the cores.
    explicit Simulation(size_t threads)
        : crew_(kGroups, std::min(threads, kGroups) - 1, Work{this}) {
        for (size_t i = 0; i < kCores; i++)
            set_address(&chip.groups[i / kMembers].group, i % kMembers, i);
        for (auto &cores : chip.groups) publish(&cores.group, cores.published[0]);
        find_memories();
    }

    void tick() {
        if (recorder) recorder->note(cycle);
        reset_cores();
        obey_ = chip.control.changed;
        sample_ = nullptr;
        if (watch && watch->notes(cycle, chip.control.module.p_clear.curr.get<bool>())) {
            watch->cycles.push_back(cycle - watch->begin);
            watch->samples.resize(watch->cycles.size() * watch->size());
            sample_ = &watch->samples.back() + 1 - watch->size();
        }
        crew_.run([this] {
            for (size_t i = 0; i < kCores; i++)
                answer(chip.control, i, chip.groups[i / kMembers].published[cycle & 1]);
            chip.control.evaluate();
            if (sample_) sample_control(sample_);
        });
        chip.control.commit();
        cycle++;
    }

    // The host may have written to memories and ports.
    void disturb() {
        chip.control.disturb();
        for (auto &cores : chip.groups) cores.stale = kAllParts;
    }

    void advance(uint64_t cycles) {
        disturb();
        while (cycles--) tick();
    }

    void reset(bool active) {
        chip.control.module.p_rst.set<bool>(active);
        disturb();
    }

   private:
    struct Work {
        Simulation *simulation;
        void operator()(size_t index) const { simulation->advance_group(index); }
    };

    // The cores are reset together with the control unit, or by it.
    void reset_cores() {
        auto &control = chip.control.module;
        bool active = control.p_rst.get<bool>() || control.p_reset.curr.get<bool>();
        if (active == resetting_) return;
        resetting_ = active;
        for (auto &cores : chip.groups) {
            set_reset(&cores.group, active);
            cores.stale = kAllParts;
        }
    }

    void find_memories() {
        cxxrtl::debug_items items;
        chip.control.module.debug_info(&items, nullptr, "control ");
        for (auto &entry : items.table)
            for (auto &item : entry.second)
                if (item.type == cxxrtl::debug_item::MEMORY)
                    memories.push_back({entry.first, item.width, item.depth, item.curr});
        for (size_t i = 0; i < kCores; i++)
            for (size_t j = 0; j < kMemories; j++) {
                const auto &shape = kMemoryShapes[j];
                memories.push_back({"core_" + std::to_string(i) + " " + shape.name, shape.width,
                                    shape.depth, chip.groups[i / kMembers].group.memory[
                                        j * kMembers + i % kMembers]});
            }
    }

    // A cycle of a group of cores; it reads what the others published in the cycle before.
    void advance_group(size_t index) {
        auto &cores = chip.groups[index];
        cores.stale |= receive(&cores.group, [&](size_t difference) {
            return chip.groups[index ^ difference].published[cycle & 1];
        });
        if (obey_) cores.stale |= obey(&cores.group, chip.control.module);
        for (auto &fault : faults) strike(index, fault);
        cores.evaluate();
        if (sample_ && watch->groups >> index & 1) {
            uint32_t before = watch->groups & ((uint32_t(1) << index) - 1);
            size_t place = watch->size();
            for (uint32_t rest = watch->groups & ~before; rest; rest &= rest - 1)
                place -= Cores::kSampleSize;
            cores.sample(sample_ + place);
        }
        cores.commit();
        publish(&cores.group, cores.published[~cycle & 1]);
    }

    // Makes what a core sees of a link wrong: its receiver, or for hold its sender. What was wrong
    // is taken again in the next cycle.
    void strike(size_t index, Fault &fault) {
        bool hold = fault.kind == kHold, drop = fault.kind == kDrop;
        bool once = drop || fault.kind == kFlip, valid = false;
        size_t victim = hold ? fault.core : fault.core ^ 1u << fault.dimension;
        if (index != victim / kMembers || cycle < fault.cycle) return;
        auto &cores = chip.groups[index];
        size_t member = victim % kMembers;
        auto visit = [&](auto visitor) { visit_link(&cores.group, fault.dimension, visitor); };
        visit([&](LinkInput kind, size_t, size_t, auto &input, uint32_t) {
            if (kind == kValid) valid = input[member];
        });
        if (once && !valid) return;
        LinkInput hit = hold ? kCredit : drop ? kValid : kFlit;
        visit([&](LinkInput kind, size_t first, size_t width, auto &input, uint32_t readers) {
            if (kind != hit) return;
            uint64_t value = input[member], bit = uint64_t(1) << (fault.bit - first) % 64;
            if (hold || drop) value = 0;
            else if (fault.bit < first || fault.bit >= first + width) return;
            else if (fault.kind == kStuckAt0) value &= ~bit;
            else if (fault.kind == kStuckAt1) value |= bit;
            else value ^= bit;
            if (value == input[member]) return;
            input[member] = value;
            cores.stale |= readers;
        });
        if (once) fault.cycle = UINT64_MAX;
    }

    void sample_control(char *place) const {
        for (const auto &item : watch->control) {
            size_t size = (item.width + 31) / 32 * 4;
            std::memcpy(place, item.data, size);
            place += size;
        }
    }

    bool resetting_ = false;  // whether the cores are in reset
    bool obey_ = true;        // whether the control unit's outputs changed
    char *sample_ = nullptr;  // where this cycle is noted, if it is
    Crew<Work> crew_;
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

// `threads` evaluate the cores.
void *hypercast_create(size_t threads) {
    auto simulation = std::make_unique<Simulation>(threads);
    hypercast_reset(simulation.get(), 4);
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

#ifdef HYPERCAST_BULK
// Transfers through the bulk port. Both return the worst AXI response code, or kTimeout after
// `limit` cycles in which nothing moved.
int hypercast_bulk_write(void *handle, uint64_t address, const uint8_t *data, uint64_t size,
                         uint64_t limit) {
    return bulk::write(*static_cast<Simulation *>(handle), address, data, size, limit);
}

int hypercast_bulk_read(void *handle, uint64_t address, uint8_t *data, uint64_t size,
                        uint64_t limit) {
    return bulk::read(*static_cast<Simulation *>(handle), address, data, size, limit);
}
#endif

// Cycles that were simulated.
uint64_t hypercast_cycle(void *handle) { return static_cast<Simulation *>(handle)->cycle; }

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

// Begins to note cycles `first` to `last` (but that), of groups of cores.
void hypercast_watch(void *handle, uint64_t first, uint64_t last, bool of_program,
                     uint32_t groups) {
    auto &simulation = *static_cast<Simulation *>(handle);
    simulation.watch.reset(new Watch{first, last, of_program, groups});
    cxxrtl::debug_items items;
    simulation.chip.control.module.debug_info(&items, nullptr, "");
    for (auto &entry : items.table)
        for (auto &item : entry.second)
            if (item.type != cxxrtl::debug_item::MEMORY && item.curr)
                simulation.watch->control.push_back({entry.first, item.width, item.curr});
}

size_t hypercast_watch_count(void *handle) {
    return static_cast<Simulation *>(handle)->watch->cycles.size();
}

const uint64_t *hypercast_watch_cycles(void *handle) {
    return static_cast<Simulation *>(handle)->watch->cycles.data();
}

size_t hypercast_watch_size(void *handle) {
    return static_cast<Simulation *>(handle)->watch->size();
}

const char *hypercast_watch_samples(void *handle) {
    return static_cast<Simulation *>(handle)->watch->samples.data();
}

// Forgets what was noted so far.
void hypercast_watch_clear(void *handle) {
    auto &watch = *static_cast<Simulation *>(handle)->watch;
    watch.cycles.clear();
    watch.samples.clear();
}

size_t hypercast_watch_control_count(void *handle) {
    return static_cast<Simulation *>(handle)->watch->control.size();
}

const char *hypercast_watch_control_name(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->watch->control[index].name.c_str();
}

size_t hypercast_watch_control_width(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->watch->control[index].width;
}

// Names of all that a core has, and where they are in a sample, as JSON.
const char *hypercast_signals() { return signals(); }

size_t hypercast_memory_count(void *handle) {
    return static_cast<Simulation *>(handle)->memories.size();
}

const char *hypercast_memory_name(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->memories[index].name.c_str();
}

size_t hypercast_memory_width(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->memories[index].width;
}

size_t hypercast_memory_depth(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->memories[index].depth;
}

uint32_t *hypercast_memory_data(void *handle, size_t index) {
    return static_cast<Simulation *>(handle)->memories[index].data;
}

}  // extern "C"
