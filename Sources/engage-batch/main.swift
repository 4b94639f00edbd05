import BatchCommands
import CMalloc

// Long lines need memory in pieces of megabytes. By default, glibc soon takes such pieces from its heap, which then only grows.
mallopt(M_MMAP_THRESHOLD, 1 << 20)
// Memory for a device is freed after it. By default, glibc returns each such piece to the system and requests the same pages
// again; keeping some of it cuts a run's page faults to a fifth.
mallopt(M_TRIM_THRESHOLD, 32 << 20)
engageBatch()
