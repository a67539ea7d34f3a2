import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import type { IncomingBatch, Verdict } from '../../../src/areas/usage/events/incoming-event.ts';
import { type BulkDeps, storeLines } from '../../../src/ingress/events-lane/bulk.ts';
import { linesOf } from '../../../src/ingress/events-lane/lines.ts';
import { refuse } from '../../../src/platform/refusal.ts';

const SENDER = {
  organization_id: 'o',
  sandbox: false,
  received_at: '2024-03-10T12:00:00.000000Z',
  user_agent: null,
  remote_address: null,
};
const line = (id: number) => `{"transaction_id":"t${id}","code":"c","external_subscription_id":"s"}\n`;

function lane(changes: Partial<BulkDeps> = {}) {
  const batches: IncomingBatch[] = [];
  const deps: BulkDeps = {
    async send(batch) {
      batches.push(batch);
      return batch.events.map((): Verdict => 0);
    },
    isFull: () => false,
    patienceMs: 100,
    mostLines: 10_000,
    mostProperties: 10_000_000,
    translate: (body) => body,
    readUsage: () => Promise.reject(new Error('no line holds usage')),
    ...changes,
  };
  return { deps, batches };
}

async function* bytesOf(...chunks: (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk as string);
}

describe('lines of a bulk request', () => {
  const read = async (most: number, ...chunks: (string | Buffer)[]) => {
    const lines = [];
    for await (const each of linesOf(bytesOf(...chunks), { mostBytes: most, mostLines: 100 }))
      lines.push([each.number, each.text]);
    return lines;
  };

  test('lines are put together from any chunks', async () => {
    const text = Buffer.from('ä\n\nb\r\n ü');
    const expected = [
      [1, 'ä'],
      [3, 'b\r'],
      [4, ' ü'],
    ];
    for (let cut = 0; cut <= text.length; cut += 1)
      expect(await read(10, text.subarray(0, cut), text.subarray(cut))).toEqual(expected);
    expect(await read(10, ...[...text].map((byte) => Buffer.from([byte])))).toEqual(expected);
  });

  test('lines are read up to their limit, blank ones included', async () => {
    const limits = { mostBytes: 10, mostLines: 3 };
    const numbers = async (...chunks: string[]) => {
      const found = [];
      for await (const { number } of linesOf(bytesOf(...chunks), limits)) found.push(number);
      return found;
    };
    expect(await numbers('a\n\nb\n')).toEqual([1, 3]);
    expect(await numbers('\n\n\nb')).toEqual([4]);
    expect(await numbers('\n\n\n\n')).toEqual([4]);
    expect(await numbers('\n\r\n', ' \n\n')).toEqual([4]);
  });

  test('of a body of newlines only the first lines are read, and other requests get their turn', async () => {
    let chunks = 0;
    async function* newlines(): AsyncGenerator<Buffer> {
      for (; chunks < 128; chunks += 1) yield Buffer.alloc(65_536, '\n');
    }
    let turns = 0;
    let isCounting = true;
    const countTurn = () => {
      turns += 1;
      if (isCounting) setImmediate(countTurn);
    };
    setImmediate(countTurn);
    const numbers = [];
    for await (const { number } of linesOf(newlines(), { mostBytes: 10, mostLines: 10_000 })) numbers.push(number);
    isCounting = false;
    expect(numbers).toEqual([10_001]);
    expect(chunks).toBe(0); // the first chunk was not even asked to be followed
    expect(turns).toBeGreaterThanOrEqual(19);
  });

  test('lines beyond the length limit are reported without their text', async () => {
    expect(await read(3, 'abc\nab', 'cd', 'ef\nx\nlong')).toEqual([
      [1, 'abc'],
      [2, null],
      [3, 'x'],
      [4, null],
    ]);
  });
});

describe('storing lines of a bulk request', () => {
  test('one chunk of lines is read ahead of the one being stored, never more', async () => {
    let given = 0;
    let stored = 0;
    let most = 0;
    const { deps } = lane({
      async send(batch) {
        await new Promise((resolve) => setImmediate(resolve));
        stored += batch.events.length;
        return batch.events.map((): Verdict => 0);
      },
    });
    async function* endless(): AsyncGenerator<Buffer> {
      for (; given < 10_000; given += 1) {
        most = Math.max(most, given - stored);
        yield Buffer.from(line(given));
      }
    }
    const report = await storeLines(deps, endless(), SENDER);
    expect(report.view()).toMatchObject({ lines: 10_000, stored: 10_000 });
    expect(most).toBeLessThanOrEqual(1000);
  });

  test('chunks of lines hold 500 events and are not atomic, and fewer when lines are long', async () => {
    const { deps, batches } = lane();
    await storeLines(deps, bytesOf(...Array.from({ length: 1100 }, (_, id) => line(id))), SENDER);
    expect(batches.map((batch) => [batch.atomic, batch.events.length])).toEqual([
      [false, 500],
      [false, 500],
      [false, 100],
    ]);
    batches.length = 0;
    const long = (id: number) => line(id).replace('}', `,"properties":{"x":"${'x'.repeat(60_000)}"}}`);
    await storeLines(deps, bytesOf(...Array.from({ length: 20 }, (_, id) => long(id))), SENDER);
    expect(batches.map((batch) => batch.events.length)).toEqual([9, 9, 2]);
  });

  test('canonical properties of lines have the limit of a body, and what was stored before it is reported', async () => {
    const { deps } = lane({ mostProperties: 100_000 });
    const heavy = (id: number) =>
      `{"transaction_id":"${id}","code":"c","properties":{${Array.from({ length: 90 }, (_, n) => `"p${n}":1e-300`)}}}\n`;
    await expect(storeLines(deps, bytesOf(heavy(1), heavy(2), heavy(3)), SENDER)).resolves.toBeDefined();
    await expect(storeLines(deps, bytesOf(...[1, 2, 3, 4].map(heavy)), SENDER)).rejects.toMatchObject({ status: 413 });
  });

  test('a bulk request waits a limited time for a full lane', async () => {
    let looks = 0;
    const patient = lane({ isFull: () => ++looks < 3 });
    expect((await storeLines(patient.deps, bytesOf(line(1)), SENDER)).view().stored).toBe(1);
    const stuck = lane({ isFull: () => true });
    await expect(storeLines(stuck.deps, bytesOf(line(1)), SENDER)).rejects.toMatchObject({
      status: 503,
      body: { bulk: { lines: 0 } },
    });
  });

  test('a refusal in the middle of a bulk request reports what was stored before', async () => {
    let sends = 0;
    const { deps } = lane({
      async send(batch) {
        sends += 1;
        if (sends === 2) throw refuse.writePending('r');
        return batch.events.map((): Verdict => 0);
      },
    });
    const sent = bytesOf(...Array.from({ length: 2000 }, (_, id) => line(id)));
    await expect(storeLines(deps, sent, SENDER)).rejects.toMatchObject({
      status: 504,
      body: { code: 'write_pending', bulk: { lines: 500, stored: 500 } },
    });
    expect(sends).toBe(2);
  });

  test('an advancing test clock refuses the bulk request', async () => {
    const e = { status: 405, body: { status: 405, error: 'Method Not Allowed', code: 'test_clock_advancing' } };
    const { deps } = lane({ send: async (batch) => batch.events.map((): Verdict => ({ e })) });
    await expect(storeLines(deps, bytesOf(line(1)), SENDER)).rejects.toMatchObject({
      status: 405,
      body: { code: 'test_clock_advancing', bulk: { lines: 0 } },
    });
  });
});
