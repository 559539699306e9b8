/**
 * Units of a graph (400 nodes of 64 cores and 8 GPUs) beyond which flux-sched's library gives fewer answers a second than a
 * kube-scheduler binds pods, which is 50 (docs/benchmarks.md). It visits every vertex, so twice the units take four times as long.
 */
export const LIBRARY_UNITS = 30_000;
