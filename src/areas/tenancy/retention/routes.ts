import type { Operation } from '../../../platform/operation.ts';
import { showRetention, updateRetention } from './commands.ts';
import { RetentionEnvelope, RetentionUpdate } from './schema.ts';

const common = { permission: 'retention', tag: 'retention', path: '/retention', answer: RetentionEnvelope } as const;

const update = {
  ...common,
  summary: 'Choose how long rows are kept',
  kind: 'command',
  root: 'retention',
  body: RetentionUpdate,
  run: updateRetention,
} as const;

export const retentionOperations: Operation[] = [
  {
    ...common,
    name: 'findRetention',
    method: 'get',
    summary: 'Retrieve how long rows are kept',
    kind: 'read',
    run: showRetention,
  },
  { ...update, name: 'updateRetention', method: 'put' },
  { ...update, name: 'patchRetention', method: 'patch', hidden: true },
];
