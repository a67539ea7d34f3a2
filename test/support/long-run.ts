/**
 * How many of something a test plays or loads: fewer in every run, where a few prove the same of a change, and all of
 * them with LONG_TESTS=1, which is set before a release.
 */
export const inLongRun = (all: number, fewer: number): number => (process.env.LONG_TESTS === '1' ? all : fewer);
