// SPDX-License-Identifier: BSD-2-Clause

// Threads that do the tasks of each cycle.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
inline void relax() { __builtin_ia32_pause(); }
#else
inline void relax() {}
#endif

// Whoever has time takes the next task; the caller takes all that nobody has begun. So it waits only
// for tasks that others are at, and a thread that the system does not let run delays nobody: where
// there are fewer processors than threads, the caller does the work alone.
template <class Work>
class Crew {
   public:
    // `work(task)` does a task; `threads` besides the caller's.
    Crew(size_t tasks, size_t threads, Work work) : tasks_(tasks), work_(work) {
        for (size_t i = 0; i < threads; i++) threads_.emplace_back([this, i] { live(i + 1); });
    }

    ~Crew() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            ended_ = true;
        }
        wake_.notify_all();
        for (auto &thread : threads_) thread.join();
    }

    // All tasks, once each; `first` is done here while others begin.
    template <class First>
    void run(First first) {
        uint64_t turn = turn_.load(std::memory_order_relaxed) + 1;
        turn_.store(turn, std::memory_order_seq_cst);
        if (sleepers_.load(std::memory_order_seq_cst) && turn % kCall == 1) {
            std::lock_guard<std::mutex> lock(mutex_);
            wake_.notify_all();
        }
        first();
        take(turn, 0);
        for (auto &task : tasks_)
            for (unsigned spins = 0; task.done.load(std::memory_order_acquire) != turn; spins++)
                if (spins < kSpins) relax();
                else std::this_thread::yield();
    }

   private:
    struct alignas(64) Task {
        std::atomic<uint64_t> begun{0}, done{0};
    };

    static constexpr unsigned kSpins = 400;      // some ten microseconds
    static constexpr unsigned kPatience = 4000;  // longer than most cycles take
    static constexpr uint64_t kCall = 64;  // turns from one call of those who sleep to the next

    void take(uint64_t turn, size_t first) {
        for (size_t i = 0; i < tasks_.size(); i++) {
            size_t index = (first + i) % tasks_.size();
            auto &task = tasks_[index];
            uint64_t before = turn - 1;
            if (task.begun.load(std::memory_order_relaxed) != before ||
                !task.begun.compare_exchange_strong(before, turn, std::memory_order_acquire))
                continue;
            work_(index);
            task.done.store(turn, std::memory_order_release);
        }
    }

    void live(size_t number) {
        uint64_t seen = 0;
        while (true) {
            unsigned spins = 0;
            uint64_t turn;
            while ((turn = turn_.load(std::memory_order_acquire)) == seen) {
                if (spins++ < kPatience) {
                    relax();
                    continue;
                }
                std::unique_lock<std::mutex> lock(mutex_);
                sleepers_.fetch_add(1, std::memory_order_seq_cst);
                wake_.wait(lock, [&] { return ended_ || turn_.load() != seen; });
                sleepers_.fetch_sub(1, std::memory_order_seq_cst);
                if (ended_) return;
                spins = 0;
            }
            seen = turn;
            take(turn, number);
        }
    }

    std::vector<Task> tasks_;
    Work work_;
    std::vector<std::thread> threads_;
    alignas(64) std::atomic<uint64_t> turn_{0};
    alignas(64) std::atomic<unsigned> sleepers_{0};
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ended_ = false;
};
