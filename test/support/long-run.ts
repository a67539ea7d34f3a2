import { hash } from 'node:crypto';

/**
 * How many of something a test plays or loads: fewer in every run, where a few prove the same of a change, and all of
 * them with LONG_TESTS=1, which is set before a release.
 */
export const inLongRun = (all: number, fewer: number): number => (process.env.LONG_TESTS === '1' ? all : fewer);

/** Whether one of many plays is among the third that every run plays: by its name, so that it is always the same. */
export const isInEveryRun = (play: string): boolean =>
  Number.parseInt(hash('sha1', play).slice(0, 8), 16) % inLongRun(1, 3) === 0;
