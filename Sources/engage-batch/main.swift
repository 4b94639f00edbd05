import BatchCommands
import CMalloc

// Long lines come and go in pieces of megabytes. Left to itself, glibc soon takes such pieces from its heap, which then only grows.
mallopt(M_MMAP_THRESHOLD, 1 << 20)
// What is needed for a device comes and goes with each. Left to itself, glibc hands every such piece back to the system, and asks for the
// same pages again: a fifth of a run's page faults remain where it keeps some.
mallopt(M_TRIM_THRESHOLD, 32 << 20)
engageBatch()
