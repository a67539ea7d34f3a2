import { describe, test } from 'vitest';

/** Whether the run has a cluster (`TEST_REDIS=cluster`): what a test does to a single server cannot be done to it. */
const hasCluster = process.env.TEST_REDIS === 'cluster';

export const testOfOneRedis = test.skipIf(hasCluster);
export const describeOfOneRedis = describe.skipIf(hasCluster);
