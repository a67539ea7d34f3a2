/** Path of the read of the probe (`probe-ingress.ts`). */
export const PROBE_OF_READS = '/bench_probe';
