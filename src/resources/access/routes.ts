import type { Operation } from '../../platform/operation.ts';
import { checkAccess } from './check.ts';
import { AccessCheck, AccessEnvelope, AccessQuery, isFilled } from './schema.ts';

export const accessOperations: Operation[] = [
  {
    name: 'checkAccess',
    method: 'post',
    path: '/access/check',
    permission: 'access',
    tag: 'access',
    summary: 'Tell whether a customer may do something now',
    category: 'access',
    ignoresIdempotencyKey: true,
    root: 'access',
    query: AccessQuery,
    body: AccessCheck,
    answer: AccessEnvelope,
    kind: 'read',
    writesWhen: ({ body }: { body: AccessCheck }) => isFilled(body.hold),
    run: checkAccess,
  },
];
