import { expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log/log.ts';
import { FULL_LINES_A_MINUTE } from '../../../src/platform/log/repeated-lines.ts';

function logOfProcess() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'info', process: 'writes' }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

test('a process that fails with every request writes a few lines a minute', () => {
  const { log, lines } = logOfProcess();
  for (let n = 0; n < 1000; n += 1) log.error({ err: new Error('cannot execute INSERT') }, 'request failed');
  expect(lines).toHaveLength(FULL_LINES_A_MINUTE);
  expect(lines[0]).toMatchObject({ process: 'writes', err: { message: 'cannot execute INSERT' } });
});

test('of an error of the database it writes what is wrong, not the row', () => {
  const { log, lines } = logOfProcess();
  const facts = { code: '23514', constraint_name: 'notes_check' };
  log.error(
    { err: Object.assign(new Error('broken'), facts, { detail: 'Failing row contains (1, hush).' }) },
    'failed',
  );
  const taken = 'Key (code)=(a) already exists.';
  log.error({ err: Object.assign(new Error('taken'), { code: '23505', detail: taken }) }, 'failed');
  expect(lines).toMatchObject([{ err: { message: 'broken', ...facts } }, { err: { detail: taken } }]);
  expect(JSON.stringify(lines)).not.toContain('hush');
});
