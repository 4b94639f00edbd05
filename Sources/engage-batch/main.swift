import BatchCommands
import CMalloc

// Long lines come and go in pieces of megabytes. Left to itself, glibc soon takes such pieces from its heap, which then only grows.
mallopt(M_MMAP_THRESHOLD, 1 << 20)
engageBatch()
