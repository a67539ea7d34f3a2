import type { Operation } from '../../../platform/operation.ts';
import { advanceTestClock, cancelTestClock, createTestClock, deleteTestClock, retryTestClock } from './commands.ts';
import { isAdvancing } from './queries.ts';
import { showTestClock, showTimeline } from './reads.ts';
import { ShownTestClock, TestClockEnvelope, TestClockInput, TimelineList, TimelineQuery } from './schema.ts';

const common = { permission: 'test_clock', tag: 'test_clock', answer: TestClockEnvelope } as const;
/** The commands lock the clock's row themselves. */
const write = { ...common, kind: 'command', exemptFromClock: true } as const;

export const testClockOperations: Operation[] = [
  {
    ...write,
    name: 'createTestClock',
    method: 'post',
    path: '/test_clock',
    summary: "Freeze a sandbox organization's time",
    description: 'From now on time stands still at `frozen_time`. Refused with 403 outside of sandboxes.',
    root: 'test_clock',
    body: TestClockInput,
    run: createTestClock,
  },
  {
    ...common,
    name: 'findTestClock',
    method: 'get',
    path: '/test_clock',
    summary: 'Retrieve the test clock and the progress of its advance',
    answer: ShownTestClock,
    kind: 'read',
    uncountedWhile: async (db, { organizationId, sandbox }) => sandbox && isAdvancing({ db, organizationId }),
    run: showTestClock,
  },
  {
    ...write,
    name: 'deleteTestClock',
    method: 'delete',
    path: '/test_clock',
    summary: 'Return to real time',
    run: deleteTestClock,
  },
  {
    ...write,
    name: 'advanceTestClock',
    method: 'post',
    path: '/test_clock/advance',
    summary: 'Let time pass, with everything that falls due in between',
    description:
      'Answered at once; poll the test clock until its `status` is `ready`. Until then writes are refused with 405.',
    root: 'test_clock',
    body: TestClockInput,
    run: advanceTestClock,
  },
  {
    ...write,
    name: 'retryTestClock',
    method: 'post',
    path: '/test_clock/retry',
    summary: 'Go on with the job that failed',
    bodyOptional: true,
    run: retryTestClock,
  },
  {
    ...write,
    name: 'cancelTestClock',
    method: 'post',
    path: '/test_clock/cancel',
    summary: 'Stop the advance after the instant in work',
    bodyOptional: true,
    run: cancelTestClock,
  },
  {
    name: 'findTestClockTimeline',
    method: 'get',
    path: '/test_clock/timeline',
    permission: 'test_clock',
    tag: 'test_clock',
    summary: 'List what happened under the test clock',
    kind: 'read',
    query: TimelineQuery,
    answer: TimelineList,
    run: showTimeline,
  },
];
