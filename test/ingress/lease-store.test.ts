import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { LeaseStore } from '../../src/ingress/lease-store.ts';
import { createLog } from '../../src/platform/log/log.ts';

/** A Redis that grants one chunk of three in this window, then goes away. */
function failingRedis(grants: number): Redis {
  let calls = 0;
  return {
    defineCommand() {},
    emit() {},
    async leaseTokens() {
      calls += 1;
      if (calls > grants) throw new Error('away');
      return [3, 3, 60_000, 1];
    },
  } as unknown as Redis;
}

test.each([0, 1])(
  'without Redis a process counts by itself up to the whole limit (after %i leases)',
  async (grants) => {
    const store = new LeaseStore({
      redis: failingRedis(grants),
      prefix: 't',
      processId: 'p',
      log: createLog({ level: 'silent', process: 'test' }),
    });
    const hits: number[] = [];
    for (let call = 0; call < 15; call += 1) hits.push((await store.increment('acme:10')).totalHits);
    expect(hits.filter((hit) => hit <= 10)).toHaveLength(10);
  },
);

// redis-cluster.md#limits-while-a-node-is-away
test.each([
  [1, 100],
  [2, 75],
  [5, 25],
])(
  'of %i processes one that counts by itself lets %i of 100 through, and asks no more in that second',
  async (processes, most) => {
    let calls = 0;
    const redis = {
      defineCommand() {},
      emit() {},
      async leaseTokens() {
        calls += 1;
        if (calls === 2) throw new Error('away');
        return [3, 3, 60_000, processes];
      },
    } as unknown as Redis;
    const log = createLog({ level: 'silent', process: 'test' });
    const store = new LeaseStore({ redis, prefix: 't', processId: 'p', log });
    const hits: number[] = [];
    for (let call = 0; call < 160; call += 1) hits.push((await store.increment('acme:100')).totalHits);
    expect(hits.filter((hit) => hit <= 100)).toHaveLength(most);
    // The second call failed; a new master would let the whole limit through once more.
    expect(calls).toBe(2);
  },
);
