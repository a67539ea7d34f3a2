import type { Operation } from '../../../platform/operation.ts';
import { showAttention } from './reads.ts';
import { Attention } from './schema.ts';

export const attentionOperations: Operation[] = [
  {
    name: 'findAttention',
    method: 'get',
    path: '/attention',
    permission: null,
    tag: 'attention',
    summary: 'What a person should look at, of the kinds that the key may read',
    description: 'Each kind with its number, since when, and the list that shows it.',
    answer: Attention,
    kind: 'read',
    fresh: true,
    run: showAttention,
  },
];
