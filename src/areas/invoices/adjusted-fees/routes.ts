import { z } from 'zod';
import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { FeeObject } from '../fees/schema.ts';
import { AdjustedFeeInput } from './schema.ts';

const write = {
  permission: 'invoice',
  tag: 'invoices',
  kind: 'command',
  answer: z.object({ fee: FeeObject.nullable() }),
  run: runsAsFlow,
} as const;
const path = '/invoices/:svc_id/adjusted_fees';

export const adjustedFeeOperations: Operation[] = [
  {
    ...write,
    name: 'createAdjustedFee',
    method: 'post',
    path,
    summary: 'Adjust a fee of a draft invoice',
    description: 'The draft is computed with it until it is finalized.',
    root: 'adjusted_fee',
    body: AdjustedFeeInput,
  },
  {
    ...write,
    name: 'previewAdjustedFee',
    method: 'post',
    path: `${path}/preview`,
    summary: 'Preview an adjusted fee of a draft invoice',
    root: 'adjusted_fee',
    body: AdjustedFeeInput,
    kind: 'read',
    computedBy: 'preview.run',
    isLogged: true,
    ignoresIdempotencyKey: true,
    onlyAnswers: true,
  },
  {
    ...write,
    name: 'destroyAdjustedFee',
    method: 'delete',
    path: `${path}/:fee_id`,
    summary: 'Take an adjustment of a fee back',
  },
];
