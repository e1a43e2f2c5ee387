// SPDX-License-Identifier: BSD-2-Clause

// C interface to the network compiled by CXXRTL: messages in, deliveries out.
//
// network.h holds sizes, the flit's fields, and two functions: `find_ports` of a router, and
// `exchange`, which copies the links' outputs to inputs. Links are registers at both ends, so one
// exchange and one evaluation make a clock cycle. After an evaluation, outputs show what the
// clock edge saw; `commit` brings the next state.

#include "hypercast_router.h"
#include "watched.h"
#ifdef HYPERCAST_WATCHED
#include "cxxrtl/cxxrtl_vcd.h"
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace {

struct Field {
    size_t offset, width;
};

template <size_t Bits>
cxxrtl::value<Bits> &now(cxxrtl::value<Bits> &port) { return port; }
template <size_t Bits>
cxxrtl::value<Bits> &now(cxxrtl::wire<Bits> &port) { return port.curr; }

#include "network.h"

using Router = hypercast_router::p_hypercast__router;
using Bit = cxxrtl::value<1>;
using Flit = cxxrtl::value<kFlitWidth>;

constexpr uint64_t kNever = UINT64_MAX;
// Cycles the network is watched for surplus deliveries after the last that was due.
constexpr uint64_t kDrain = 64;

struct Ports {
    Bit *eject_valid[kEject], *eject_ready[kEject];
    Flit *eject_payload[kEject];
    // One more than there are, since there may be none.
    Bit *outgoing_valid[kDimensions + 1], *incoming_valid[kDimensions + 1];
    Flit *incoming_flit[kDimensions + 1];
    cxxrtl::value<kPlanes> *outgoing_credit[kDimensions + 1];
    cxxrtl::value<kDimensions + !kDimensions> *faults;
};

enum FaultKind : uint32_t { kFlip, kDrop, kStuckAt0, kStuckAt1, kHold };
enum Ending : int { kDone, kIdle, kAge, kTotal, kSurplus };

}  // namespace

extern "C" {

// A fault of the link that leaves `core` along `dimension`. Flip and drop hit the first flit from
// `cycle` on; a bit that is stuck stays so; hold loses all credits.
struct Fault {
    uint64_t cycle;
    uint32_t core, dimension, kind, bit;
};

struct Job {
    uint64_t messages;
    const uint64_t *created;  // first cycle in which each may be injected; in order per source
    const uint64_t *destinations;     // relative
    const uint8_t *source, *plane;
    uint64_t faults;
    const Fault *fault;
    uint64_t seed;
    uint64_t ready;  // of 2**32: how often an ejection port is ready
    uint64_t idle_limit, age_limit, cycle_limit;
    uint64_t waves_first, waves_last;     // cycles whose waveforms are recorded, of a watched network
    uint64_t waves_cores;                 // a bit for each core
    void (*waves)(const char *, size_t);  // takes the text of the VCD file, piece by piece
};

struct Delivery {
    uint64_t cycle;
    uint32_t message;  // UINT32_MAX if the flit is none that was sent
    uint16_t core, port;
};

struct Record {
    uint64_t *injected;    // cycle of each message, or kNever
    uint64_t capacity;     // of `delivery`
    Delivery *delivery;
    uint64_t *link_flits;  // by sending core and dimension
    uint64_t *faults;      // reported, by receiving core and dimension
    uint64_t deliveries, cycles, peak_queue;
};

}  // extern "C"

namespace {

uint64_t mix(uint64_t value) {  // SplitMix64
    value += 0x9E3779B97F4A7C15;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
}

// At most 64 bits of a flit.
void put(Flit &flit, Field field, uint64_t value) {
    for (size_t done = 0; done < field.width;) {
        size_t chunk = (field.offset + done) / 32, shift = (field.offset + done) % 32;
        size_t bits = std::min(32 - shift, field.width - done);
        uint64_t ones = (uint64_t(1) << bits) - 1;
        flit.data[chunk] &= ~uint32_t(ones << shift);
        flit.data[chunk] |= uint32_t((value >> done & ones) << shift);
        done += bits;
    }
}

uint64_t get(const Flit &flit, Field field) {
    uint64_t value = 0;
    for (size_t done = 0; done < field.width;) {
        size_t chunk = (field.offset + done) / 32, shift = (field.offset + done) % 32;
        size_t bits = std::min(32 - shift, field.width - done);
        value |= (flit.data[chunk] >> shift & ((uint64_t(1) << bits) - 1)) << done;
        done += bits;
    }
    return value;
}

#ifdef HYPERCAST_WATCHED
// Waveforms of routers, as VCD. Values are those at a cycle's end, before the clock's edge.
struct Waves {
    const Job &job;
    cxxrtl::debug_items items;
    cxxrtl::vcd_writer writer;

    Waves(const Job &job, std::array<Router, kCores> &routers) : job(job) {
        if (!job.waves) return;
        writer.timescale(1, "ns");
        for (size_t core = 0; core < kCores; core++)
            if (job.waves_cores >> core & 1)
                routers[core].debug_info(&items, nullptr, "router_" + std::to_string(core) + " ");
        writer.add(items, [](const std::string &name, const cxxrtl::debug_item &) {
            auto last = name.substr(name.rfind(' ') + 1);
            return name.find('$') == std::string::npos && last != "clk" && last != "rst";
        });
    }

    void sample(uint64_t cycle) {
        if (!job.waves || cycle < job.waves_first || cycle >= job.waves_last) return;
        writer.sample(cycle);
        job.waves(writer.buffer.data(), writer.buffer.size());
        writer.buffer.clear();
    }
};
#else
struct Waves {
    Waves(const Job &, std::array<Router, kCores> &) {}
    void sample(uint64_t) {}
};
#endif

struct Simulation {
    const Job &job;
    Record &record;
    std::array<Router, kCores> routers;
    std::array<Ports, kCores> ports;
    std::array<std::vector<uint32_t>, kCores> queue;  // messages of each source
    std::array<size_t, kCores> next{}, created{};     // of the queue: to inject, to be created
    std::vector<uint64_t> pending;                    // relative destinations still to be served
    std::deque<uint32_t> flying;                      // injected, the oldest first
    std::vector<Fault> faults;
    uint64_t random, cycle = 0, moved = 0, due = 0, left;
    uint64_t cleared = kNever;  // when the last delivery that was due came
    Waves waves;

    Simulation(const Job &job, Record &record)
        : job(job), record(record), pending(job.destinations, job.destinations + job.messages),
          faults(job.fault, job.fault + job.faults), random(mix(job.seed)), left(job.messages),
          waves(job, routers) {
        for (uint32_t message = 0; message < job.messages; message++)
            queue[job.source[message]].push_back(message);
        for (size_t core = 0; core < kCores; core++) find_ports(routers[core], ports[core]);
        std::fill_n(record.injected, job.messages, kNever);
        std::fill_n(record.link_flits, kCores * kDimensions, 0);
        std::fill_n(record.faults, kCores * kDimensions, 0);
        record.deliveries = record.cycles = record.peak_queue = 0;
        reset(true);
        for (int i = 0; i < 4; i++) tick();
        reset(false);
    }

    void reset(bool active) {
        for (auto &router : routers) router.p_rst.template set<bool>(active);
    }

    void evaluate() {
        for (auto &router : routers) {
            router.p_clk.template set<bool>(true);
            router.prev_p_clk.template set<bool>(false);
            router.eval(nullptr);
        }
    }

    void commit() {
        for (auto &router : routers) router.commit();
    }

    void tick() {
        exchange(routers);
        evaluate();
        commit();
    }

    // The flit of a message; all bits but destinations, source and plane tell messages apart.
    Flit flit_of(uint32_t message, uint64_t destinations, uint64_t source) const {
        Flit flit{};
        uint64_t noise = mix(message);
        put(flit, kDestinations, destinations);
        put(flit, kSource, source);
        put(flit, kPlane, job.plane[message]);
        put(flit, kKind, noise % 3);
        put(flit, kDigit, noise >> 2);
        put(flit, kIndex, message);
        for (size_t done = 0; done < kPayload.width; done += 64)
            put(flit, {kPayload.offset + done, std::min<size_t>(64, kPayload.width - done)},
                done ? mix(noise + done) : noise << 32 | uint64_t(message) >> kIndex.width);
        return flit;
    }

    uint32_t message_of(const Flit &flit) const {
        size_t bits = std::min<size_t>(kPayload.width, 32);
        return uint32_t(get(flit, {kPayload.offset, bits}) << kIndex.width | get(flit, kIndex));
    }

    void inject_faults() {
        for (auto &fault : faults) {
            if (fault.cycle > cycle) continue;
            auto &far = ports[fault.core ^ 1u << fault.dimension];
            auto &valid = *far.incoming_valid[fault.dimension];
            auto &flit = *far.incoming_flit[fault.dimension];
            Field bit{fault.bit, 1};
            if (fault.kind == kHold) {
                *ports[fault.core].outgoing_credit[fault.dimension] = {};
            } else if (fault.kind == kStuckAt0 || fault.kind == kStuckAt1) {
                put(flit, bit, fault.kind == kStuckAt1);
            } else if (valid.template get<bool>()) {
                if (fault.kind == kDrop) valid.template set<bool>(false);
                else put(flit, bit, !get(flit, bit));
                fault.cycle = kNever;
            }
        }
    }

    bool offers(size_t core) const { return next[core] < created[core]; }

    void set_inputs() {
        for (size_t core = 0; core < kCores; core++) {
            const auto &own = queue[core];
            while (created[core] < own.size() && job.created[own[created[core]]] <= cycle)
                created[core]++;
            record.peak_queue = std::max<uint64_t>(record.peak_queue, created[core] - next[core]);
            auto &router = routers[core];
            router.p_frame.template set<uint32_t>(uint32_t(cycle / kFrameCycles % kFrames));
            router.p_inject____valid.template set<bool>(offers(core));
            if (offers(core)) {
                uint32_t message = own[next[core]];
                router.p_inject____payload = flit_of(message, job.destinations[message], 0);
            }
            for (auto *ready : ports[core].eject_ready) {
                bool high = cleared != kNever;
                if (!high) {
                    random = mix(random);
                    high = random >> 32 < job.ready;
                }
                ready->template set<bool>(high);
            }
        }
    }

    void deliver(const Flit &flit, size_t core, size_t port) {
        uint32_t message = message_of(flit);
        bool known = message < job.messages
            && flit == flit_of(message, 1, core ^ job.source[message]);
        if (record.deliveries < record.capacity)
            record.delivery[record.deliveries] =
                {cycle, known ? message : UINT32_MAX, uint16_t(core), uint16_t(port)};
        record.deliveries++;
        if (!known) return;
        uint64_t bit = uint64_t(1) << (core ^ job.source[message]);
        if (pending[message] & bit && record.injected[message] != kNever) due--;
        pending[message] &= ~bit;
    }

    void see_outputs() {
        for (size_t core = 0; core < kCores; core++) {
            auto &router = routers[core];
            if (offers(core) && router.p_inject____ready.template get<bool>()) {
                uint32_t message = queue[core][next[core]++];
                record.injected[message] = moved = cycle;
                due += __builtin_popcountll(pending[message]);
                flying.push_back(message);
                left--;
            }
            for (size_t port = 0; port < kEject; port++) {
                auto &one = ports[core];
                if (!one.eject_valid[port]->template get<bool>()
                    || !one.eject_ready[port]->template get<bool>()) continue;
                deliver(*one.eject_payload[port], core, port);
                moved = cycle;
            }
            for (size_t dimension = 0; dimension < kDimensions; dimension++) {
                size_t link = core * kDimensions + dimension;
                record.faults[link] += ports[core].faults->data[0] >> dimension & 1;
                if (!ports[core].outgoing_valid[dimension]->template get<bool>()) continue;
                record.link_flits[link]++;
                moved = cycle;
            }
        }
    }

    bool idle() {
        bool waiting = due;
        for (size_t core = 0; core < kCores; core++) waiting |= offers(core);
        if (!waiting) moved = cycle;
        return cycle - moved > job.idle_limit;
    }

    bool aged() {
        while (!flying.empty() && !pending[flying.front()]) flying.pop_front();
        return !flying.empty() && cycle - record.injected[flying.front()] > job.age_limit;
    }

    Ending run() {
        for (;; cycle++) {
            exchange(routers);
            inject_faults();
            set_inputs();
            evaluate();
            see_outputs();
            waves.sample(cycle);
            commit();
            if (cleared == kNever) {
                record.cycles = cycle + 1;
                if (!left && !due) cleared = cycle;
            }
            if (record.deliveries > record.capacity) return kSurplus;
            if (cleared != kNever && cycle - cleared == kDrain) return kDone;
            if (idle()) return kIdle;
            if (aged()) return kAge;
            if (cleared == kNever && cycle + 1 == job.cycle_limit) return kTotal;
        }
    }
};

}  // namespace

extern "C" int hypercast_network_run(const Job *job, Record *record) {
    int ending = std::make_unique<Simulation>(*job, *record)->run();
    record->deliveries = std::min(record->deliveries, record->capacity);
    return ending;
}
