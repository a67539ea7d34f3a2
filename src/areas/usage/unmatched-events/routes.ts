import type { Operation } from '../../../platform/operation.ts';
import { healUnmatched, settleHeal, showHeal } from './commands.ts';
import { showUnmatched, showUnmatchedSummary } from './reads.ts';
import { HealCreate, HealEnvelope, UnmatchedList, UnmatchedListQuery, UnmatchedSummary } from './schema.ts';

const shared = { permission: 'event', tag: 'events' } as const;

export const unmatchedEventOperations: Operation[] = [
  {
    ...shared,
    name: 'findUnmatchedEvents',
    method: 'get',
    path: '/events/unmatched',
    summary: 'List usage events that no charge takes',
    kind: 'read',
    query: UnmatchedListQuery,
    answer: UnmatchedList,
    run: showUnmatched,
  },
  {
    ...shared,
    name: 'summarizeUnmatchedEvents',
    method: 'get',
    path: '/events/unmatched/summary',
    summary: 'Count usage events that no charge takes, by reason and code',
    kind: 'read',
    answer: UnmatchedSummary,
    run: showUnmatchedSummary,
  },
  {
    ...shared,
    name: 'healUnmatchedEvents',
    method: 'post',
    path: '/events/unmatched/heal',
    summary: 'Look at unmatched usage events again',
    description: 'Events that a charge takes by now are counted. Poll the run for its progress.',
    root: 'heal',
    bodyOptional: true,
    kind: 'command',
    body: HealCreate,
    answer: HealEnvelope,
    run: healUnmatched,
    settle: settleHeal,
  },
  {
    ...shared,
    name: 'findHeal',
    method: 'get',
    path: '/events/unmatched/heal/:heal_id',
    summary: 'Retrieve a run that looks at unmatched usage events again',
    kind: 'read',
    answer: HealEnvelope,
    run: showHeal,
  },
];
