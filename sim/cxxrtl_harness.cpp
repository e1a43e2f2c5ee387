// C interface to a chip compiled by CXXRTL: a clock, an AXI4-Lite master, and a view of memories.

#include DESIGN

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Memory {
    std::string name;
    cxxrtl::debug_item item;
};

struct Simulation {
    cxxrtl_design::p_hypercast chip;
    std::vector<Memory> memories;

    void tick() {
        chip.p_clk.set<bool>(false);
        chip.step();
        chip.p_clk.set<bool>(true);
        chip.step();
    }
};

constexpr int kTimeout = -1;

}  // namespace

extern "C" {

void *hypercast_create() {
    auto simulation = std::make_unique<Simulation>();
    simulation->chip.p_rst.set<bool>(true);
    for (int i = 0; i < 4; i++) simulation->tick();
    simulation->chip.p_rst.set<bool>(false);
    simulation->tick();
    cxxrtl::debug_items items;
    simulation->chip.debug_info(&items, nullptr, "");
    for (auto &entry : items.table)
        for (auto &part : entry.second)
            if (part.type == cxxrtl::debug_item::MEMORY)
                simulation->memories.push_back({entry.first, part});
    return simulation.release();
}

void hypercast_destroy(void *handle) { delete static_cast<Simulation *>(handle); }

void hypercast_advance(void *handle, uint64_t cycles) {
    auto &simulation = *static_cast<Simulation *>(handle);
    while (cycles--) simulation.tick();
}

// Both return the AXI response code, or kTimeout after `limit` cycles.
int hypercast_write(void *handle, uint32_t address, uint32_t value, uint64_t limit) {
    auto &simulation = *static_cast<Simulation *>(handle);
    auto &chip = simulation.chip;
    chip.p_axi____awaddr.set<uint32_t>(address);
    chip.p_axi____awvalid.set<bool>(true);
    chip.p_axi____wdata.set<uint32_t>(value);
    chip.p_axi____wstrb.set<uint32_t>(0xF);
    chip.p_axi____wvalid.set<bool>(true);
    chip.p_axi____bready.set<bool>(true);
    int response = kTimeout;
    while (response == kTimeout && limit--) {
        // Outputs are registered: what they show now is what the coming edge sees.
        bool address_taken = chip.p_axi____awready.get<bool>();
        bool data_taken = chip.p_axi____wready.get<bool>();
        bool answered = chip.p_axi____bvalid.get<bool>();
        if (answered) response = chip.p_axi____bresp.get<uint32_t>();
        simulation.tick();
        if (address_taken) chip.p_axi____awvalid.set<bool>(false);
        if (data_taken) chip.p_axi____wvalid.set<bool>(false);
    }
    chip.p_axi____bready.set<bool>(false);
    return response;
}

int hypercast_read(void *handle, uint32_t address, uint32_t *value, uint64_t limit) {
    auto &simulation = *static_cast<Simulation *>(handle);
    auto &chip = simulation.chip;
    chip.p_axi____araddr.set<uint32_t>(address);
    chip.p_axi____arvalid.set<bool>(true);
    chip.p_axi____rready.set<bool>(true);
    int response = kTimeout;
    while (response == kTimeout && limit--) {
        bool address_taken = chip.p_axi____arready.get<bool>();
        bool answered = chip.p_axi____rvalid.get<bool>();
        if (answered) {
            response = chip.p_axi____rresp.get<uint32_t>();
            *value = chip.p_axi____rdata.get<uint32_t>();
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
