import { pino } from 'pino';
import { expect, test } from 'vitest';
import { FULL_LINES_A_MINUTE, leaveOutRepeated } from '../../../src/platform/log/repeated-lines.ts';

function logInto() {
  const lines: Record<string, unknown>[] = [];
  let atMs = 0;
  const hooks = { logMethod: leaveOutRepeated(() => atMs)! };
  const log = pino({ hooks }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const wait = (ms: number) => {
    atMs += ms;
  };
  return { log, lines, wait };
}
const failure = (message: string, code?: string) => Object.assign(new Error(message), { code });

test('of one repeated error a few lines a minute are written, and the next minute says how many were left out', () => {
  const { log, lines, wait } = logInto();
  for (let n = 0; n < 1000; n += 1)
    log.error({ requestId: `r${n}`, err: failure(`cannot execute INSERT ${n}`, '25006') }, 'request failed');
  expect(lines).toHaveLength(FULL_LINES_A_MINUTE);
  expect(lines[0]).toMatchObject({ requestId: 'r0', err: { message: 'cannot execute INSERT 0' } });
  wait(60_000);
  log.error({ requestId: 'later', err: failure('cannot execute INSERT 7', '25006') }, 'request failed');
  expect(lines.at(-1)).toMatchObject({ requestId: 'later', left_out: 1000 - FULL_LINES_A_MINUTE });
  wait(60_000);
  log.error({ err: failure('cannot execute INSERT 8', '25006') }, 'request failed');
  expect(lines.at(-1)).not.toHaveProperty('left_out');
});

test('other errors, other messages and info lines are always written', () => {
  const { log, lines } = logInto();
  for (let n = 0; n < 20; n += 1) log.error({ err: failure('full', '53100') }, 'request failed');
  const before = lines.length;
  log.error({ err: failure('closed', 'CONNECTION_CLOSED') }, 'request failed');
  log.error({ err: failure('full', '53100') }, 'job failed');
  log.child({ process: 'x' }).warn('queue connection trouble');
  for (let n = 0; n < 20; n += 1) log.info({ n }, 'invoice finalized');
  expect(lines).toHaveLength(before + 3 + 20);
});
