import type { Gathering, Operation } from '../../../platform/operation.ts';
import { checkAccess } from './check-access.ts';
import { AccessCheck, AccessEnvelope, AccessQuery, isFilled } from './schema.ts';

/**
 * Checks with a hold lock the customer's wallets, so those of one subscription wait in line instead of for the lock.
 */
const oneAfterTheOther: Gathering = {
  keyOf: ({ body }: { body: AccessCheck }) => `access|${body.external_subscription_id}`,
  isAlone: () => true,
};

export const accessOperations: Operation[] = [
  {
    name: 'checkAccess',
    fresh: true,
    method: 'post',
    path: '/access/check',
    permission: 'access',
    tag: 'access',
    summary: 'Check whether a customer may do something now',
    description: 'One question for features, limits, credit and budgets. Nothing is changed.',
    category: 'access',
    ignoresIdempotencyKey: true,
    root: 'access',
    query: AccessQuery,
    body: AccessCheck,
    answer: AccessEnvelope,
    kind: 'read',
    writesWhen: ({ body }: { body: AccessCheck }) => isFilled(body.hold),
    gathers: oneAfterTheOther,
    run: checkAccess,
  },
];
