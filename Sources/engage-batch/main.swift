import BatchCommands
import CMalloc

// Long lines need allocations of several megabytes. By default, glibc soon serves these from its heap, which
// then never shrinks.
mallopt(M_MMAP_THRESHOLD, 1 << 20)
// The memory for a device is freed once the device is processed. By default, glibc returns it to the system
// and then requests the same pages again; keeping some of them cuts a run's page faults to a fifth.
mallopt(M_TRIM_THRESHOLD, 32 << 20)
engageBatch()
